// Package screen shows the work of an agent while it happens: what the model says, the
// calls it makes, and the output of its programs, cleaned of control sequences.
package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// A Screen writes to one terminal. It is safe for concurrent use.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	open  string // the margin of the line that has no end yet
	calls map[string]int
}

// New returns a Screen that writes to w.
func New(w io.Writer) *Screen { return &Screen{w: w, calls: map[string]int{}} }

// write writes a part of a text, each of its lines after a margin. A part with another
// margin than the one before begins a new line.
func (s *Screen) write(margin, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != "" && s.open != margin {
		fmt.Fprintln(s.w)
		s.open = ""
	}
	for line := range strings.Lines(text) {
		if s.open == "" {
			io.WriteString(s.w, margin)
		}
		io.WriteString(s.w, line)
		if s.open = margin; strings.HasSuffix(line, "\n") {
			s.open = ""
		}
	}
}

// lines writes whole lines.
func (s *Screen) lines(margin, text string) { s.write(margin, strings.TrimRight(text, "\n")+"\n") }

// Title writes a headline.
func (s *Screen) Title(text string) { s.lines("", text) }

// Fact writes a name and what there is to say about it.
func (s *Screen) Fact(name, text string) { s.lines(fmt.Sprintf("  %-10s ", name), text) }

// Note writes a remark to the reader.
func (s *Screen) Note(text string) { s.lines("  * ", text) }

// User writes what the user said.
func (s *Screen) User(text string) { s.lines("", "\nuser  "+text) }

// Model writes a part of what the model says, EndLine ends it.
func (s *Screen) Model(text string) { s.write("model ", plaintext.Clean(text)) }

// EndLine ends the line of a model that said all it had to say.
func (s *Screen) EndLine() { s.write("end", "") }

// margin returns that of lines about a call.
func (s *Screen) margin(what, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("  %s %-*d| ", what, 6-len(what), s.calls[id])
}

// maxCode is how much of a call's arguments is shown.
const maxCode = 1000

// Call writes a call that the model makes, and numbers it.
func (s *Screen) Call(id, name, args string) {
	s.mu.Lock()
	s.calls[id] = len(s.calls) + 1
	s.mu.Unlock()
	var all map[string]any
	if json.Unmarshal([]byte(args), &all) == nil {
		code, _ := all["code"].(string)
		delete(all, "code")
		rest, _ := json.Marshal(all)
		args = string(rest) + "\n" + code
	}
	s.lines(s.margin("call", id), plaintext.Clean(name+" "+shorten.Head(args, maxCode)))
}

// Event writes a program's output while it runs. It is a subscriber of a
// workspace.
func (s *Screen) Event(e workspace.Event) {
	if e.Type != workspace.TypeOutput && e.Type != workspace.TypeLate {
		return
	}
	o := &e.Output
	switch text := plaintext.Clean(o.Text()); o.Kind {
	case codeinterp.Stdout:
		s.write(s.margin("out", e.CallID), text)
	case codeinterp.Stderr:
		s.write(s.margin("err", e.CallID), text)
	case codeinterp.Display:
		for _, rep := range o.Bundle {
			s.lines(s.margin("out", e.CallID), fmt.Sprintf("display: %s, %d bytes", plaintext.Clean(rep.MIME), len(rep.Data)))
		}
	case codeinterp.Value:
		s.lines(s.margin("out", e.CallID)+"= ", text)
	}
}

// Reply writes how a call ended.
func (s *Screen) Reply(r *tools.Answer) {
	text := r.Text
	if res := r.Result; res != nil {
		text = fmt.Sprintf("%s after %s", res.Status, res.Duration.Round(10*time.Microsecond))
		if res.Error != nil {
			text += ": " + plaintext.Clean(res.Error.Error())
		}
	}
	s.lines(s.margin("end", r.CallID), text)
}
