package shell

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Screen is what a terminal shows at one moment.
type Screen struct {
	Lines         []string // all rows, without spaces at their ends
	Column, Row   int      // of the cursor, from 0
	Title         string
	Columns, Rows int // the size
}

// Text returns the lines, without empty ones at the end.
func (s Screen) Text() string { return strings.TrimRight(strings.Join(s.Lines, "\n"), "\n") }

// Keys lists the names of keys that Press knows.
const Keys = "enter, tab, shift-tab, esc, space, backspace, delete, insert, up, down, left, right, home, end, page-up, page-down, f1 to f12, ctrl- and alt- with a character or one of these"

// An Emulator makes of a terminal's output what it shows; package shell/screen has one. Its
// methods are called concurrently, and bound their time and memory for output of any kind.
type Emulator interface {
	// Write takes output.
	Write(p []byte)
	// Resize changes the size.
	Resize(columns, rows int)
	// State returns what the terminal shows.
	State() Screen
	// Key returns what a key of [Keys] sends at this moment; false for another name.
	Key(name string) (string, bool)
	// Close ends a Write in progress soon. The screen stays as it is.
	Close()
}

// HasTerminals reports whether there are terminals.
func (s *Shell) HasTerminals() bool { return s.terms != nil && s.o.Emulator != nil }

// StartTerminal is Start for a command on a terminal, or for an interactive shell if line
// is empty. What is written to it is typed there, and its output has the control sequences
// of an xterm; Screen is what they make. A terminal answers the questions of its
// programs, such as that for the cursor's place. It fails with codeinterp.ErrUnavailable
// where there are no terminals. opts may be nil; its Input, Signals, Resizes and MaxOutput
// are not used.
func (s *Shell) StartTerminal(ctx context.Context, line string, opts *codeinterp.TerminalOptions) (ID, error) {
	if !s.HasTerminals() {
		return "", fmt.Errorf("shell: %w: there are no terminals here", codeinterp.ErrUnavailable)
	}
	o, err := codeinterp.CheckTerminal(line, opts)
	if err != nil {
		return "", fmt.Errorf("shell: %w", err)
	}
	c := s.newCommand(line, o.Cwd)
	c.resizes = make(chan codeinterp.TerminalSize)
	c.screen = s.o.Emulator(o.Size.Columns, o.Size.Rows, func(b []byte) { c.in.offer(b) })
	id, err := s.start(ctx, c, &o.RunOptions, func(ctx context.Context) (codeinterp.Result, error) {
		// A terminal that was stopped shows nothing more.
		defer c.screen.Close()
		defer context.AfterFunc(ctx, c.screen.Close)()
		o.Signals, o.Resizes = c.signals, c.resizes
		return s.terms.RunTerminal(ctx, line, &o)
	})
	if err != nil {
		c.screen.Close()
	}
	return id, err
}

// terminal finds a command with a terminal.
func (s *Shell) terminal(ctx context.Context, id ID) (*command, error) {
	c, err := s.find(ctx, id)
	if err == nil && c.screen == nil {
		err = fmt.Errorf("shell: %w: the command has no terminal", codeinterp.ErrInvalid)
	}
	return c, err
}

// Screen returns what a terminal shows, or showed at its end.
func (s *Shell) Screen(ctx context.Context, id ID) (Screen, error) {
	c, err := s.terminal(ctx, id)
	if err != nil {
		return Screen{}, err
	}
	return c.screen.State(), nil
}

// Resize changes the size of a terminal, of which its programs are notified.
func (s *Shell) Resize(ctx context.Context, id ID, size codeinterp.TerminalSize) error {
	size, err := size.Check()
	if err != nil {
		return fmt.Errorf("shell: %w", err)
	}
	c, err := s.terminal(ctx, id)
	if err != nil {
		return err
	}
	select {
	case c.resizes <- size:
		c.screen.Resize(size.Columns, size.Rows)
		return nil
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Press types keys by their names, such as "ctrl-c", "up" or "f1"; see [Keys]. A name
// that is not known is codeinterp.ErrInvalid, and none of the keys is typed then.
func (s *Shell) Press(ctx context.Context, id ID, keys ...string) error {
	c, err := s.terminal(ctx, id)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range keys {
		sent, ok := c.screen.Key(name)
		if !ok {
			return fmt.Errorf("shell: %w: key %.30q; use %s", codeinterp.ErrInvalid, name, Keys)
		}
		b.WriteString(sent)
	}
	_, err = c.in.write(ctx, []byte(b.String()), false)
	return err
}

// An Event is a part of the output of a command in the background, or its end.
type Event struct {
	// Exit is nil for output; else it says how the command ended.
	Exit *Info

	Chunk // of output
}

// Events returns what a command has written from an offset on, and then what it writes,
// up to its end, which comes last. An error ends the events; after the end of ctx it is
// its cause.
func (s *Shell) Events(ctx context.Context, id ID, offset int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			chunk, err := s.Follow(ctx, id, &OutputOptions{Offset: offset})
			if err != nil {
				yield(Event{}, err)
				return
			}
			if (len(chunk.Data) > 0 || chunk.Missed > 0) && !yield(Event{Chunk: chunk}, nil) {
				return
			}
			if offset = chunk.Next; !chunk.End {
				continue
			}
			info, err := s.Wait(ctx, id)
			if err == nil {
				yield(Event{Exit: &info}, nil)
			} else {
				yield(Event{}, err)
			}
			return
		}
	}
}
