// Package screen shows the work of an agent on a terminal while it happens:
// what the model says, the calls it makes, and the output of its programs. In
// a pipe or a file it writes the same without colors.
//
// What programs write is cleaned of control sequences first, so that they
// cannot play with the terminal.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// A Screen writes to one terminal. It is safe for concurrent use.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	color bool
	col   bool   // the cursor is within a line
	open  string // what that line belongs to
	calls map[string]int
}

// New returns a Screen that writes to w, in color where w is a terminal and
// NO_COLOR is not set.
func New(w io.Writer) *Screen {
	return &Screen{w: w, color: isTerminal(w) && os.Getenv("NO_COLOR") == "", calls: map[string]int{}}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The colors.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	cyan   = "36"
)

func (s *Screen) paint(style, text string) string {
	if !s.color || text == "" || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// lines writes whole lines, each after a margin.
func (s *Screen) lines(margin, style, text string) {
	s.endLine()
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(s.w, "%s%s\n", margin, s.paint(style, strings.TrimRight(line, "\n")))
	}
}

// endLine ends a line that is not complete.
func (s *Screen) endLine() {
	if s.col {
		fmt.Fprintln(s.w)
	}
	s.col, s.open = false, ""
}

// part writes a piece of text that arrives bit by bit. Lines begin with the
// margin; a change of key begins a new line.
func (s *Screen) part(key, margin, style, text string) {
	if s.open != key {
		s.endLine()
	}
	for line := range strings.Lines(text) {
		if !s.col {
			io.WriteString(s.w, margin)
		}
		io.WriteString(s.w, s.paint(style, strings.TrimRight(line, "\n")))
		s.col, s.open = true, key
		if strings.HasSuffix(line, "\n") {
			fmt.Fprintln(s.w)
			s.col = false
		}
	}
}

// Title writes a headline.
func (s *Screen) Title(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines("", bold, text)
}

// Fact writes a name and what there is to say about it.
func (s *Screen) Fact(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines("  "+s.paint(dim, fmt.Sprintf("%-10s", name))+" ", "", text)
}

// Note writes a remark to the reader.
func (s *Screen) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines("  "+s.paint(yellow, "*")+" ", yellow, text)
}

// User writes what the user said.
func (s *Screen) User(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLine()
	fmt.Fprintln(s.w)
	margin := s.paint(bold+";"+cyan, "user  ")
	for line := range strings.Lines(text) {
		s.lines(margin, bold, line)
		margin = "      "
	}
}

// Model writes a part of what the model says.
func (s *Screen) Model(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.part("model", s.paint(bold+";"+green, "model "), "", plaintext.Clean(text))
}

// EndLine ends the line of a model that said all it had to say.
func (s *Screen) EndLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLine()
}

// Call writes a call that the model makes, and numbers it.
func (s *Screen) Call(id, name, args string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[id] = len(s.calls) + 1
	s.lines("  "+s.paint(blue, fmt.Sprintf("call %d", s.calls[id]))+" ", blue, plaintext.Clean(name))
	s.lines("         "+s.paint(dim, "> "), dim, argumentLines(args))
}

// Event writes a program's output while it runs. It is a subscriber of a
// workspace.
func (s *Screen) Event(e workspace.Event) {
	if e.Type != workspace.TypeOutput && e.Type != workspace.TypeLate {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	margin := fmt.Sprintf("  out %-3d", s.calls[e.CallID]) + s.paint(dim, "| ")
	key := e.CallID + e.Output.Kind.String()
	switch e.Output.Kind {
	case codeinterp.Stdout:
		s.part(key, margin, "", plaintext.Clean(e.Output.Text()))
	case codeinterp.Stderr:
		s.part(key, margin, red, plaintext.Clean(e.Output.Text()))
	case codeinterp.Display:
		s.display(margin, &e.Output)
	case codeinterp.Value:
		s.lines(margin+s.paint(dim, "= "), "", plaintext.Clean(e.Output.Text()))
	}
}

// Reply writes how a call ended.
func (s *Screen) Reply(r *tools.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	margin := fmt.Sprintf("  end %-3d", s.calls[r.CallID]) + s.paint(dim, "| ")
	switch {
	case r.Failure != nil:
		s.lines(margin, red, r.Text)
	case r.Result == nil:
		s.lines(margin, green, r.Text)
	case r.Result.OK():
		s.lines(margin, green, fmt.Sprintf("ok after %s", took(r)))
	case r.Result.Error != nil:
		s.lines(margin, red, fmt.Sprintf("%s after %s: %s", r.Result.Status, took(r), plaintext.Clean(r.Result.Error.Error())))
	default:
		s.lines(margin, red, fmt.Sprintf("%s after %s", r.Result.Status, took(r)))
	}
	if r.Result != nil && r.Result.CallbackErr != nil {
		s.lines(margin, dim, "not shown: "+plaintext.Clean(r.Result.CallbackErr.Error()))
	}
}
