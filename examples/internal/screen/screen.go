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
	"time"

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
	open  string // what the line belongs to that has no end yet
	calls map[string]int
}

// New returns a Screen that writes to w, in color where w is a terminal and
// NO_COLOR is not set.
func New(w io.Writer) *Screen {
	s := &Screen{w: w, calls: map[string]int{}}
	if f, ok := w.(*os.File); ok && os.Getenv("NO_COLOR") == "" {
		info, err := f.Stat()
		s.color = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return s
}

// The colors.
const (
	plain  = ""
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
)

// write writes a part of a text, each of its lines after a margin. A part with another
// key than the one before begins a new line.
func (s *Screen) write(key, margin, color, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != "" && s.open != key {
		fmt.Fprintln(s.w)
		s.open = ""
	}
	for line := range strings.Lines(text) {
		if s.open == "" {
			io.WriteString(s.w, margin)
		}
		line, ended := strings.CutSuffix(line, "\n")
		if s.color && color != plain && line != "" {
			line = "\x1b[" + color + "m" + line + "\x1b[0m"
		}
		io.WriteString(s.w, line)
		if s.open = key; ended {
			fmt.Fprintln(s.w)
			s.open = ""
		}
	}
}

// lines writes whole lines.
func (s *Screen) lines(margin, color, text string) {
	s.write("lines", margin, color, strings.TrimRight(text, "\n")+"\n")
}

// Title writes a headline.
func (s *Screen) Title(text string) { s.lines("", bold, text) }

// Fact writes a name and what there is to say about it.
func (s *Screen) Fact(name, text string) { s.lines(fmt.Sprintf("  %-10s ", name), plain, text) }

// Note writes a remark to the reader.
func (s *Screen) Note(text string) { s.lines("  * ", yellow, text) }

// User writes what the user said.
func (s *Screen) User(text string) {
	s.lines("", plain, "\nuser  "+strings.ReplaceAll(text, "\n", "\n      "))
}

// Model writes a part of what the model says, EndLine ends it.
func (s *Screen) Model(text string) { s.write("model", "model ", green, plaintext.Clean(text)) }

// EndLine ends the line of a model that said all it had to say.
func (s *Screen) EndLine() { s.write("end", "", plain, "") }

// Call writes a call that the model makes, and numbers it.
func (s *Screen) Call(id, name, args string) {
	s.mu.Lock()
	s.calls[id] = len(s.calls) + 1
	s.mu.Unlock()
	s.lines("  "+s.number("call", id)+" ", blue, plaintext.Clean(name))
	s.lines("         > ", plain, argumentLines(args))
}

// number returns what a line belongs to, and the number of the call.
func (s *Screen) number(what, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s %-*d", what, 6-len(what), s.calls[id])
}

// Event writes a program's output while it runs. It is a subscriber of a
// workspace.
func (s *Screen) Event(e workspace.Event) {
	if e.Type != workspace.TypeOutput && e.Type != workspace.TypeLate {
		return
	}
	margin, o := "  "+s.number("out", e.CallID)+"| ", &e.Output
	switch text := plaintext.Clean(o.Text()); o.Kind {
	case codeinterp.Stdout:
		s.write(e.CallID+"stdout", margin, plain, text)
	case codeinterp.Stderr:
		s.write(e.CallID+"stderr", margin, red, text)
	case codeinterp.Display:
		for _, rep := range o.Bundle {
			s.lines(margin, plain, fmt.Sprintf("display: %s, %d bytes", plaintext.Clean(rep.MIME), len(rep.Data)))
		}
	case codeinterp.Value:
		s.lines(margin+"= ", plain, text)
	}
}

// Reply writes how a call ended.
func (s *Screen) Reply(r *tools.Answer) {
	margin, color, text := "  "+s.number("end", r.CallID)+"| ", green, r.Text
	if res := r.Result; res != nil {
		text = fmt.Sprintf("%s after %s", res.Status, res.Duration.Round(10*time.Microsecond))
		if res.Error != nil {
			text += ": " + plaintext.Clean(res.Error.Error())
		}
	}
	if r.Failure != nil || r.Result != nil && !r.Result.OK() {
		color = red
	}
	s.lines(margin, color, text)
}
