package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/outdir"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
)

// errAborted says that Ctrl-C dropped what was being typed.
var errAborted = errors.New("aborted")

// An editor reads programs from a terminal, line by line. What is pasted is a part of one
// program, and does not run by itself.
type editor struct {
	io.Writer
	in         *os.File
	prompt     string
	unfinished func(text string) bool // whether a program continues on a further line
	complete   func(text string, pos int) (start int, matches []string)
	history    history
	file       string // of the history; may be empty
	writable   outdir.Writable
}

// read returns the next program, without a newline at its end. The error is io.EOF for
// Ctrl-D, errAborted for Ctrl-C, or ctx's cause.
func (e *editor) read(ctx context.Context) (text string, err error) {
	fd := int(e.in.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, state) }()
	source := terminal.NewReader(e.in)
	if source == nil {
		return "", errors.ErrUnsupported
	}
	defer source.Close()
	defer context.AfterFunc(ctx, func() { source.Close() })()
	keys := &keys{Reader: source}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, e.Writer}, e.prompt)
	fit := func() { // to the terminal, which may have changed
		if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
			_ = t.SetSize(columns, rows)
		}
	}
	fit()
	t.History = &e.history
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if fit(); key != '\t' {
			return "", 0, false
		}
		return e.tab(t, text, line, pos)
	}
	t.SetBracketedPasteMode(true)
	defer t.SetBracketedPasteMode(false)
	for {
		line, err := t.ReadLine()
		text += e.history.unfold(line)
		pasted := errors.Is(err, term.ErrPasteIndicator)
		switch {
		case err != nil && !pasted:
			_, _ = io.WriteString(e.Writer, "\r\n")
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			} else if keys.last == ctrlC || text != "" {
				err = errAborted
			}
			return "", err
		case !pasted && !e.unfinished(text):
			e.history.keep(text)
			return text, nil
		}
		text += "\n"
		t.SetPrompt("... ")
	}
}

const ctrlC = 3

// keys are read one by one: what follows a program may be its input.
type keys struct {
	io.Reader
	last byte
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.Reader.Read(p[:min(1, len(p))])
	if n > 0 {
		k.last = p[0]
	}
	return n, err
}

// maxMatches is how many completions are listed.
const maxMatches = 100

// tab completes the word at pos of a line that follows text, or lists what it could be.
func (e *editor) tab(t *term.Terminal, text, line string, pos int) (completed string, end int, ok bool) {
	start, matches := e.complete(text+line, len(text)+pos)
	start -= len(text)
	matches = slices.DeleteFunc(slices.Clone(matches), func(m string) bool {
		return strings.ContainsFunc(m, func(c rune) bool { return !unicode.IsPrint(c) })
	})
	if len(matches) == 0 || start < 0 {
		return "", 0, false
	}
	common := []rune(matches[0])
	for _, m := range matches {
		for !strings.HasPrefix(m, string(common)) {
			common = common[:len(common)-1]
		}
	}
	word := line[start:pos]
	switch all := string(common); {
	case all != word && (len(all) >= len(word) || len(matches) == 1):
		return line[:start] + all + line[pos:], start + len(all), true
	case len(matches) > maxMatches:
		fmt.Fprintf(t, "%s  and %d more\n", strings.Join(matches[:maxMatches], "  "), len(matches)-maxMatches)
	case len(matches) > 1:
		fmt.Fprintln(t, strings.Join(matches, "  "))
	}
	return "", 0, false
}

// A history has the programs that were typed, for the up and down keys.
type history struct {
	list     []string // oldest first
	recalled bool     // the line being typed may have come from here
}

const (
	maxHistory = 1000
	fold       = "\u2424" // stands for a newline: a program is recalled as one line
)

// Len implements term.History.
func (h *history) Len() int { return len(h.list) }

// At implements term.History.
func (h *history) At(i int) string {
	h.recalled = true
	return strings.ReplaceAll(h.list[len(h.list)-1-i], "\n", fold)
}

// Add implements term.History. Lines are kept together, by keep.
func (h *history) Add(string) {}

// unfold returns the text of a line that was typed.
func (h *history) unfold(line string) string {
	if h.recalled {
		line = strings.ReplaceAll(line, fold, "\n")
	}
	h.recalled = false
	return line
}

// keep adds a program, unless it is that of before.
func (h *history) keep(text string) {
	if n := len(h.list); strings.TrimSpace(text) != "" && (n == 0 || h.list[n-1] != text) {
		h.list = append(h.list, text)[max(0, n+1-maxHistory):]
	}
}

// close writes the history.
func (e *editor) close() error {
	if e.file == "" {
		return nil
	}
	dir, err := e.writable.Open(filepath.Dir(e.file))
	if err != nil {
		return err
	}
	defer dir.Close()
	var b strings.Builder
	for _, text := range e.history.list {
		b.WriteString(escapeLines.Replace(text) + "\n")
	}
	return outdir.Write(dir, filepath.Base(e.file), []byte(b.String()), 0o600)
}
