// Package screen keeps what a terminal shows, within bounds of time and memory for output
// of any kind. It emulates an xterm for package shell:
//
//	sh, err := shell.New(ci, &shell.Options{Emulator: screen.New})
package screen

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"github.com/toolcell/toolcell/shell"
)

const (
	// slice is how much output is taken at once. It bounds what one cell holds, and how
	// long Close waits.
	slice = 1 << 10

	// maxCells is how many cells the control sequences of a slice may change.
	maxCells = 200_000

	// maxPending is how much plain text comes together before it is shown, so that most
	// of what scrolls off at once need not be.
	maxPending = 64 << 10

	// maxTitle is how much of a title is kept.
	maxTitle = 256

	// alternates are the modes of the alternate screen, the last of which also saves the
	// cursor, as saveCursor does.
	alternate1, alternate2, alternate3, saveCursor, sideMargins, noMode = 47, 1047, 1049, 1048, 69, 9999
)

// A Screen is the state of a terminal. Its methods are safe for concurrent use.
type Screen struct {
	reply  func([]byte) // takes what the terminal answers to the program
	closed atomic.Bool

	mu      sync.Mutex
	vt      *vt.Emulator
	pending []byte // plain text that is not shown yet
	title   string
	cursor  bool       // cursor keys are in application mode
	margins bool       // a part of the screen may scroll by itself
	main    *uv.Buffer // what the main screen shows, while it is not shown itself
}

// New returns an empty screen as an emulator for [shell.Options].
func New(columns, rows int, reply func([]byte)) shell.Emulator {
	return newScreen(columns, rows, reply)
}

func newScreen(columns, rows int, reply func([]byte)) *Screen {
	s := &Screen{reply: reply}
	s.reset(columns, rows)
	return s
}

// reset makes a new emulator. mu is held, or there is no other user yet.
func (s *Screen) reset(columns, rows int) {
	if s.vt != nil {
		s.vt.InputPipe().(io.Closer).Close()
	}
	e := vt.NewEmulator(columns, rows)
	s.vt, s.main = e, nil
	s.cursor, s.margins = false, false
	e.SetScrollbackSize(1)
	e.SetCallbacks(vt.Callbacks{
		Title:       func(t string) { s.title = strings.ToValidUTF8(t[:min(len(t), maxTitle)], "") },
		EnableMode:  func(m ansi.Mode) { s.cursor = s.cursor || m == ansi.ModeCursorKeys },
		DisableMode: func(m ansi.Mode) { s.cursor = s.cursor && m != ansi.ModeCursorKeys },
	})
	s.guard(e)
	go func() {
		b := make([]byte, 256)
		for {
			n, err := e.Read(b)
			if err != nil {
				return
			}
			s.reply(b[:n])
		}
	}()
}

// guard keeps an emulator within bounds. The handlers are called before its own ones, with
// mu held, and may change the parameters.
func (s *Screen) guard(e *vt.Emulator) {
	for _, c := range "@ABCDEFGHILMPSTXZ`abdefrs" {
		e.RegisterCsiHandler(int(c), func(p ansi.Params) bool {
			most := max(e.Width(), e.Height())
			for i, v := range p {
				if v.Param(0) > most {
					p[i] = ansi.Param(most)
				}
			}
			return false
		})
	}
	e.RegisterCsiHandler('r', func(p ansi.Params) bool {
		s.margins = len(p) > 0
		return false
	})
	e.RegisterEscHandler('c', func() bool {
		s.main, s.margins = nil, false
		return false
	})
	e.RegisterOscHandler(8, func([]byte) bool { return true }) // links: each cell would keep its own
	e.RegisterCsiHandler(ansi.Command('?', 0, 'h'), func(p ansi.Params) bool { return s.switchScreen(e, p, true) })
	e.RegisterCsiHandler(ansi.Command('?', 0, 'l'), func(p ansi.Params) bool { return s.switchScreen(e, p, false) })
}

// switchScreen does what the emulator would: its alternate screen keeps what scrolls off
// without a bound.
func (s *Screen) switchScreen(e *vt.Emulator, p ansi.Params, on bool) bool {
	for i, v := range p {
		switch v.Param(0) {
		case sideMargins:
			p[i] = noMode // with sides far off, each line takes as long as they are apart
			continue
		case alternate1, alternate2:
			p[i] = noMode
		case alternate3:
			p[i] = saveCursor
		default:
			continue
		}
		if on == (s.main != nil) {
			continue
		}
		if on {
			main := uv.NewScreenBuffer(e.Width(), e.Height())
			e.Draw(main, main.Bounds())
			s.main = main.Buffer
		}
		for y := range e.Height() {
			for x := range e.Width() {
				e.SetCell(x, y, nil)
			}
		}
		if !on {
			s.main.Draw(e, s.main.Bounds())
			s.main = nil
		}
	}
	return false
}

// Write shows output. It takes all of it, unless the screen is closed.
func (s *Screen) Write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending = append(s.pending, b...); plain(b) == len(b) && len(s.pending) <= maxPending {
		return
	}
	s.show(func() bool {
		s.mu.Unlock() // who looks at the screen does not wait for all of it
		s.mu.Lock()
		return !s.closed.Load()
	})
}

// show shows what is pending, while more, if not nil, returns true. mu is held.
func (s *Screen) show(more func() bool) {
	b := s.pending
	for s.pending = nil; len(b) > 0 && (more == nil || more()); {
		b = b[s.step(b):]
	}
}

// step shows the begin of b, and returns how much that was. mu is held.
func (s *Screen) step(b []byte) (n int) {
	n = cut(b, max(1, maxCells/(s.vt.Width()*s.vt.Height())))
	defer func() {
		if p := recover(); p != nil { // the emulator's fault: it begins anew
			s.reset(s.vt.Width(), s.vt.Height())
		}
	}()
	_, _ = s.vt.Write(b[:n])
	if !s.margins {
		n += scrolledOff(b[n:], s.vt.Height())
	}
	return n
}

// cut returns where a slice of b ends: before a character that joins no other, and after so
// many control sequences.
func cut(b []byte, sequences int) int {
	for n, c := range b[:min(len(b), slice)] {
		if c == '\x1b' || c == 0x9b && n > 0 && b[n-1] < 0x80 {
			if sequences--; sequences < 0 {
				return n
			}
		}
	}
	if len(b) <= slice {
		return len(b)
	}
	for n := slice; n > slice/2; n-- {
		if b[n] < 0x80 {
			return n
		}
	}
	return slice
}

// scrolledOff returns how much of b need not be shown: it is plain text, after which
// more lines come than there are rows.
func scrolledOff(b []byte, rows int) int {
	n := plain(b)
	for lines := 0; n >= 2; n-- {
		if b[n-1] == '\n' && b[n-2] == '\r' {
			if lines++; lines > rows+1 {
				return n
			}
		}
	}
	return 0
}

// plain returns how much of b is text without control sequences, in ASCII.
func plain(b []byte) (n int) {
	for n < len(b) && (b[n] >= ' ' && b[n] < 0x7f || b[n] == '\r' || b[n] == '\n' || b[n] == '\t') {
		n++
	}
	return n
}

// Resize changes the size.
func (s *Screen) Resize(columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(nil)
	s.vt.Resize(columns, rows)
}

// State implements shell.Emulator.
func (s *Screen) State() shell.Screen {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(nil)
	st := shell.Screen{Title: s.title, Columns: s.vt.Width(), Rows: s.vt.Height()}
	at := s.vt.CursorPosition()
	st.Column, st.Row = at.X, at.Y
	st.Lines = append(strings.Split(s.vt.String(), "\n"), make([]string, st.Rows)...)[:st.Rows]
	for y, line := range st.Lines {
		st.Lines[y] = strings.TrimRight(line, " ")
	}
	return st
}

// Close implements shell.Emulator.
func (s *Screen) Close() {
	s.closed.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vt.InputPipe().(io.Closer).Close()
}
