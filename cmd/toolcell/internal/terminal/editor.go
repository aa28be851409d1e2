package terminal

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// ErrAborted says that Ctrl-C dropped what was being typed.
var ErrAborted = errors.New("aborted")

// maxHistory is how many texts are kept.
const maxHistory = 1000

// An Editor reads texts of one or more lines from a terminal. A paste is inserted as it
// is and does not run by itself.
type Editor struct {
	Prompt, More string // before the first line and before each further one

	// Unfinished reports whether a text, whose cursor is at its end, continues on a
	// further line, and what that line begins with.
	Unfinished func(text string) (more bool, indent string)

	// Complete returns where the word before pos begins and what it could be.
	Complete func(text string, pos int) (start int, matches []string)

	History []string // oldest first

	file *os.File
	out  io.Writer
	in   *bufio.Reader
	text string
	pos  int // of the cursor, in bytes
	row  int // of the cursor, below the first row of the text

	at    int    // in the history; len(History) is the new text
	draft string // the new text
	find  string // what Ctrl-R looks for
}

// NewEditor returns an editor for a terminal.
func NewEditor(file *os.File, out io.Writer) *Editor { return &Editor{file: file, out: out} }

// Read returns the next text, without a newline at its end. The error is io.EOF for
// Ctrl-D, ErrAborted for Ctrl-C, or ctx's cause.
func (e *Editor) Read(ctx context.Context) (string, error) {
	state, err := term.MakeRaw(int(e.file.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(e.file.Fd()), state) }()
	source := NewReader(e.file)
	if source == nil {
		return "", errors.ErrUnsupported
	}
	defer source.Close()
	defer context.AfterFunc(ctx, func() { source.Close() })()
	e.in = bufio.NewReader(oneByte{source})
	e.text, e.pos, e.row, e.at, e.draft, e.find = "", 0, 0, len(e.History), "", ""
	e.write("\x1b[?2004h")
	defer e.write("\x1b[?2004l")
	for done := false; !done && err == nil; {
		e.draw()
		var k key
		if k, err = e.key(); err == nil {
			done, err = e.handle(k)
		}
	}
	e.pos = len(e.text)
	e.draw()
	e.write("\r\n")
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	}
	if n := len(e.History); strings.TrimSpace(e.text) != "" && (n == 0 || e.History[n-1] != e.text) {
		e.History = append(e.History, e.text)[max(0, n+1-maxHistory):]
	}
	return e.text, nil
}

func (e *Editor) write(text string) { _, _ = io.WriteString(e.out, text) }

// handle acts on a key, and reports whether the text is complete.
func (e *Editor) handle(k key) (done bool, err error) {
	if k.code != ctrl('r') {
		e.find = ""
	}
	switch k.code {
	case paste:
		e.insert(k.text)
	case ctrl('r'):
		e.search()
	case ctrl('c'):
		return true, ErrAborted
	case ctrl('d'):
		if e.text == "" {
			return true, io.EOF
		}
		e.remove(e.pos, e.right())
	case enter:
		return e.enter(), nil
	case '\t':
		e.complete()
	case up, down:
		e.vertical(k.code)
	case ctrl('l'):
		e.write("\x1b[H\x1b[2J")
		e.row = 0
	default:
		e.edit(k.code)
	}
	return false, nil
}

// edit moves the cursor or changes the text.
func (e *Editor) edit(code rune) {
	switch code {
	case left, ctrl('b'):
		e.pos = e.left()
	case right, ctrl('f'):
		e.pos = e.right()
	case home, ctrl('a'):
		e.pos = e.lineStart()
	case end, ctrl('e'):
		e.pos = e.lineEnd()
	case wordLeft:
		e.pos = e.wordStart()
	case wordRight:
		e.pos = e.wordEnd()
	case backspace, ctrl('h'):
		e.remove(e.left(), e.pos)
	case del:
		e.remove(e.pos, e.right())
	case ctrl('k'):
		e.remove(e.pos, e.lineEnd())
	case ctrl('u'):
		e.remove(e.lineStart(), e.pos)
	case ctrl('w'):
		e.remove(e.wordStart(), e.pos)
	default:
		if unicode.IsPrint(code) {
			e.insert(string(code))
		}
	}
}

// enter accepts the text, or goes on in the next line.
func (e *Editor) enter() (done bool) {
	more, indent := false, ""
	if e.Unfinished != nil {
		more, indent = e.Unfinished(e.text)
	}
	switch {
	case !more:
		return true
	case e.pos < len(e.text):
		indent = ""
	case strings.TrimSpace(e.text[e.lineStart():]) == "" && e.text != "": // a blank line: no trailing space
		e.remove(e.lineStart(), e.pos)
		if more, _ = e.Unfinished(e.text); !more {
			return true
		}
	}
	e.insert("\n" + indent)
	return false
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (e *Editor) insert(text string) {
	text = strings.ToValidUTF8(newlines.Replace(text), "?")
	e.text = e.text[:e.pos] + text + e.text[e.pos:]
	e.pos += len(text)
}

func (e *Editor) remove(from, to int) {
	e.text = e.text[:from] + e.text[to:]
	e.pos = from
}

// vertical moves the cursor by a line, or from the first or last one to another text of
// the history.
func (e *Editor) vertical(code rune) {
	start, stop := e.lineStart(), e.lineEnd()
	column := len([]rune(e.text[start:e.pos]))
	switch {
	case code == up && start > 0:
		e.pos = start - 1
		e.pos = e.lineStart()
	case code == down && stop < len(e.text):
		e.pos = stop + 1
	case code == up && e.at > 0:
		e.recall(e.at - 1)
		return
	case code == down && e.at < len(e.History):
		e.recall(e.at + 1)
		return
	default:
		return
	}
	for line := e.lineEnd(); column > 0 && e.pos < line; column-- {
		e.pos = e.right()
	}
}

// recall takes a whole text of the history, or what was typed before that.
func (e *Editor) recall(at int) {
	if e.at == len(e.History) {
		e.draft = e.text
	}
	if e.at, e.text = at, e.draft; at < len(e.History) {
		e.text = e.History[at]
	}
	e.pos = len(e.text)
}

// search takes the latest older text that contains what was typed.
func (e *Editor) search() {
	e.find = cmp.Or(e.find, e.text)
	for i := e.at - 1; i >= 0; i-- {
		if strings.Contains(e.History[i], e.find) {
			e.recall(i)
			return
		}
	}
}

// complete replaces the word before the cursor by what all matches begin with, and
// lists them if that is nothing new.
func (e *Editor) complete() {
	if e.Complete == nil {
		return
	}
	start, matches := e.Complete(e.text, e.pos)
	if len(matches) == 0 {
		return
	}
	common := []rune(matches[0])
	for _, m := range matches {
		for !strings.HasPrefix(m, string(common)) {
			common = common[:len(common)-1]
		}
	}
	word := e.text[start:e.pos]
	switch all := string(common); {
	case all != word && (len(all) >= len(word) || len(matches) == 1):
		e.remove(start, e.pos)
		e.insert(all)
	case len(matches) > 1:
		e.list(matches)
	}
}
