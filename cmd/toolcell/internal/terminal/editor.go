package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
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

	file  *os.File
	out   io.Writer
	in    *oneByte
	text  []rune
	pos   int
	row   int // of the cursor, below the first row of the text
	at    int // in the history; len(History) is the new text
	draft []rune
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
	e.in = &oneByte{source} // what is typed ahead is left to the program
	e.text, e.pos, e.row, e.at, e.draft, e.find = nil, 0, 0, len(e.History), nil, ""
	_, _ = io.WriteString(e.out, "\x1b[?2004h")
	defer func() { _, _ = io.WriteString(e.out, "\x1b[?2004l") }()
	e.draw()
	for {
		key, err := e.key()
		if err == nil {
			var done bool
			if done, err = e.handle(key); !done && err == nil {
				continue
			}
		}
		e.pos = len(e.text)
		e.draw()
		_, _ = io.WriteString(e.out, "\r\n")
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil:
			return "", err
		}
		e.remember(string(e.text))
		return string(e.text), nil
	}
}

func (e *Editor) remember(text string) {
	if strings.TrimSpace(text) == "" || len(e.History) > 0 && e.History[len(e.History)-1] == text {
		return
	}
	e.History = append(e.History, text)
	e.History = e.History[max(0, len(e.History)-maxHistory):]
}

// handle acts on a key, and reports whether the text is complete.
func (e *Editor) handle(key key) (done bool, err error) {
	if key.code != ctrl('r') {
		e.find = ""
	}
	switch key.code {
	case paste:
		e.insert(key.text)
	case ctrl('c'):
		return true, ErrAborted
	case ctrl('d'):
		if len(e.text) == 0 {
			return true, io.EOF
		}
		e.remove(e.pos, e.pos+1)
	case enter:
		return e.enter(), nil
	case '\t':
		e.complete()
	case up, down:
		e.vertical(key.code)
	case ctrl('r'):
		e.search()
	case ctrl('l'):
		_, _ = io.WriteString(e.out, "\x1b[H\x1b[2J")
		e.row = 0
	default:
		e.edit(key)
	}
	e.draw()
	return false, nil
}

// edit moves the cursor or changes the text.
func (e *Editor) edit(key key) {
	switch key.code {
	case left, ctrl('b'):
		e.pos = max(0, e.pos-1)
	case right, ctrl('f'):
		e.pos = min(len(e.text), e.pos+1)
	case home, ctrl('a'):
		e.pos = e.lineStart()
	case end, ctrl('e'):
		e.pos = e.lineEnd()
	case wordLeft:
		e.pos = e.wordStart()
	case wordRight:
		e.pos = e.wordEnd()
	case backspace, ctrl('h'):
		e.remove(e.pos-1, e.pos)
	case del:
		e.remove(e.pos, e.pos+1)
	case ctrl('k'):
		e.remove(e.pos, e.lineEnd())
	case ctrl('u'):
		e.remove(e.lineStart(), e.pos)
	case ctrl('w'):
		e.remove(e.wordStart(), e.pos)
	default:
		if unicode.IsPrint(key.code) {
			e.insert(string(key.code))
		}
	}
}

// enter accepts the text, or goes on in the next line.
func (e *Editor) enter() (done bool) {
	more, indent := false, ""
	if e.Unfinished != nil {
		more, indent = e.Unfinished(string(e.text))
	}
	switch {
	case !more:
		return true
	case e.pos < len(e.text):
		indent = ""
	case strings.TrimSpace(string(e.text[e.lineStart():])) == "" && len(e.text) > 0: // a blank line: no trailing space
		e.remove(e.lineStart(), e.pos)
		if more, _ = e.Unfinished(string(e.text)); !more {
			return true
		}
	}
	e.insert("\n" + indent)
	e.draw()
	return false
}

func (e *Editor) insert(text string) {
	add := []rune(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	e.text = slices.Insert(e.text, e.pos, add...)
	e.pos += len(add)
}

func (e *Editor) remove(from, to int) {
	from, to = max(0, from), min(len(e.text), to)
	if from < to {
		e.text = slices.Delete(e.text, from, to)
		e.pos = from
	}
}

func (e *Editor) lineStart() int {
	i := e.pos
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *Editor) lineEnd() int {
	i := e.pos
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (e *Editor) wordStart() int {
	i := e.pos
	for i > 0 && !inWord(e.text[i-1]) {
		i--
	}
	for i > 0 && inWord(e.text[i-1]) {
		i--
	}
	return i
}

func (e *Editor) wordEnd() int {
	i := e.pos
	for i < len(e.text) && !inWord(e.text[i]) {
		i++
	}
	for i < len(e.text) && inWord(e.text[i]) {
		i++
	}
	return i
}

// vertical moves the cursor by a line, or from the first or last one to another text of
// the history.
func (e *Editor) vertical(code rune) {
	start, stop := e.lineStart(), e.lineEnd()
	column := e.pos - start
	switch {
	case code == up && start > 0:
		e.pos = start - 1
		e.pos = min(e.lineStart()+column, start-1)
	case code == down && stop < len(e.text):
		e.pos = stop + 1
		e.pos = min(e.pos+column, e.lineEnd())
	case code == up && e.at > 0:
		e.recall(e.at - 1)
	case code == down && e.at < len(e.History):
		e.recall(e.at + 1)
	}
}

// recall takes a whole text of the history.
func (e *Editor) recall(at int) {
	if e.at == len(e.History) {
		e.draft = e.text
	}
	if e.at = at; at == len(e.History) {
		e.text = e.draft
	} else {
		e.text = []rune(e.History[at])
	}
	e.pos = len(e.text)
}

// search takes the latest older text that contains what was typed.
func (e *Editor) search() {
	if e.find == "" {
		e.find = string(e.text)
	}
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
	before := string(e.text[:e.pos])
	start, matches := e.Complete(string(e.text), len(before))
	if len(matches) == 0 {
		return
	}
	common := matches[0]
	for _, m := range matches {
		for !strings.HasPrefix(m, common) {
			common = string([]rune(common)[:len([]rune(common))-1])
		}
	}
	if word := before[start:]; common != word && (len(common) >= len(word) || len(matches) == 1) {
		from := len([]rune(before[:start]))
		e.remove(from, e.pos)
		e.pos = from
		e.insert(common)
		return
	}
	if len(matches) > 1 {
		e.list(matches)
	}
}
