package screen

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
)

func show(t *testing.T, columns, rows int, parts ...string) *Screen {
	t.Helper()
	s := newScreen(columns, rows, func([]byte) {})
	t.Cleanup(s.Close)
	for _, p := range parts {
		s.Write([]byte(p))
	}
	return s
}

// TestState: a screen has the text, the cursor and the title of a terminal.
func TestState(t *testing.T) {
	for _, tt := range []struct {
		name, out, text string
		column, row     int
	}{
		{"lines", "a\r\nbc", "a\nbc", 2, 1},
		{"wrap", "0123456789ab", "0123456789\nab", 2, 1},
		{"move", "\x1b[2;3Hx\x1b[1;1Hy", "y\n  x", 1, 0},
		{"erase", "abc\x1b[2Dx\x1b[K", "ax", 2, 0},
		{"wide", "世界x", "世界x", 5, 0},
		{"joined", "e\u0301x", "e\u0301x", 2, 0},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5", 1, 3},
		{"alternate", "main\x1b[?1049hother\x1b[2;2H\x1b[?1049l!", "main!", 5, 0},
		{"in alternate", "main\x1b[?1049h\x1b[Hother", "other", 5, 0},
		{"wide alternate", "世\r\nb\x1b[?47h\x1b[2J\x1b[?47l", "世\nb", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, parts := range [][]string{{tt.out}, strings.Split(tt.out, "")} {
				if len(parts) > 1 && tt.name == "joined" {
					continue // each Write ends a character
				}
				st := show(t, 10, 4, parts...).State()
				if st.Text() != tt.text || st.Column != tt.column || st.Row != tt.row {
					t.Errorf("%q at %d, %d; want %q at %d, %d", st.Text(), st.Column, st.Row, tt.text, tt.column, tt.row)
				}
			}
		})
	}
	st := show(t, 10, 4, "\x1b]2;name\x07\x1b[?25l").State()
	if st.Title != "name" || len(st.Lines) != 4 {
		t.Errorf("got %+v", st)
	}
}

// TestScrolledOff: text that scrolls off is passed over, and what is shown is the same.
func TestScrolledOff(t *testing.T) {
	var long strings.Builder
	for i := range 20_000 {
		long.WriteString(strings.Repeat("x", i%37))
		long.WriteString("\tend\r\n")
	}
	for _, before := range []string{"", "ab\x1b]2;", "\x1b[2;3r\x1b[2;1H", "\x1b[3", "\x1b7\x1b[?1049h"} {
		whole, slow := show(t, 20, 5, before+long.String()), show(t, 20, 5, before)
		for b := []byte(long.String()); len(b) > 0; {
			n := min(len(b), 40) // too short to pass over any
			slow.Write(b[:n])
			b = b[n:]
		}
		if a, b := whole.State(), slow.State(); a.Text() != b.Text() || a.Column != b.Column || a.Row != b.Row {
			t.Errorf("after %q: %q, want %q", before, a.Text(), b.Text())
		}
	}
}

// TestBounds: no output takes more than a bounded time and memory for each byte.
func TestBounds(t *testing.T) {
	var hostile []string
	for _, c := range "@ABCDEFGHIJKLMPSTXZ`abcdefghlmnqrst" {
		hostile = append(hostile, "\x1b[2147483647;2147483647"+string(c)+"a", "\x1b[?2147483647"+string(c), "\x1b["+strings.Repeat("99999;", 50)+string(c))
	}
	hostile = append(hostile, "a"+strings.Repeat("\u0301", 5000), "\x1b]8;;"+strings.Repeat("u", 5000)+"\x07x", "\x1bP"+strings.Repeat("q", 5000),
		"\x1b]2;"+strings.Repeat("t", 5000)+"\x07", "\x1b[6n", "\x1b[c", "\x1b#8", "\x1bM", "\x1bD", strings.Repeat("y", 200)+"\r\n", "\x1b[?1049h", "\x1b[?1049l", "\x1b[2J", "\x1bc", "世")
	for _, alt := range []string{"", "\x1b[?1049h"} {
		for _, h := range hostile {
			s := show(t, 80, 24, alt)
			in := bytes.Repeat([]byte(h), 1+4<<10/len(h))
			start := time.Now()
			for range 4 {
				s.Write(in)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("16 KiB of %.20q took %v", h, took)
			}
		}
	}
	s := show(t, 80, 24, "\x1b[?1049h")
	line := []byte(strings.Repeat("é", 80) + "\x1b[m\r\n")
	grown := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := grown()
	for range 12_000 {
		s.Write(line)
	}
	if more := grown() - before; more > 4<<20 {
		t.Errorf("lines that scrolled off take %d KiB", more>>10)
	}
	runtime.KeepAlive(s)
}

// TestLook: a look at a large screen does not wait for all that a program has written.
func TestLook(t *testing.T) {
	s := show(t, 500, 200)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Write(bytes.Repeat([]byte("\x1b[?47h\x1b[?47l"), 4<<10))
	}()
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	s.State()
	s.Resize(400, 200)
	s.Close()
	<-done
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestReplies: the terminal answers the program's questions.
func TestReplies(t *testing.T) {
	got := make(chan string, 1)
	s := newScreen(80, 24, func(b []byte) { got <- string(b) })
	defer s.Close()
	s.Write([]byte("ab\x1b[6n"))
	if r := <-got; r != "\x1b[1;3R" {
		t.Errorf("got %q", r)
	}
}

// TestKey: keys send what xterm sends, also in the mode that a program sets.
func TestKey(t *testing.T) {
	s := show(t, 80, 24)
	for _, tt := range [][2]string{
		{"enter", "\r"}, {"up", "\x1b[A"}, {"f1", "\x1bOP"}, {"f5", "\x1b[15~"}, {"f12", "\x1b[24~"}, {"ctrl-c", "\x03"},
		{"alt-x", "\x1bx"}, {"ctrl-left", "\x1b[1;5D"}, {"ctrl-space", "\x00"}, {"shift-tab", "\x1b[Z"}, {"alt-enter", "\x1b\r"}, {"ctrl-[", "\x1b"},
	} {
		if sent, ok := s.Key(tt[0]); !ok || sent != tt[1] {
			t.Errorf("%s sends %q, %v; want %q", tt[0], sent, ok, tt[1])
		}
	}
	for _, name := range []string{"", "f", "f13", "f0", "ctrl-", "ctrl-A", "alt-", "return", "ctrl-aa"} {
		if sent, ok := s.Key(name); ok {
			t.Errorf("%q sends %q", name, sent)
		}
	}
	s.Write([]byte("\x1b[?1h"))
	if sent, _ := s.Key("down"); sent != "\x1bOB" {
		t.Errorf("in application mode down sends %q", sent)
	}
}

// FuzzWrite: no output makes a screen fail, and its lines fit.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{"a\x1b[5;5Hb", "\x1b[?1049h世\x1b[3r\x1b[?1049l", "\x1b]8;;x\x07\x1b[9;9;9S", "\x1b[?69h\x1b[2;3s\x1bM", "\xf0\x9f\x91\xa8\u200d", "\x1b(0qqq\x0e\x0f\x1bN"} {
		f.Add([]byte(seed), 10, 4)
	}
	f.Fuzz(func(t *testing.T, b []byte, columns, rows int) {
		columns, rows = 1+(columns&0xff), 1+(rows&0x3f)
		s := newScreen(columns, rows, func([]byte) {})
		defer s.Close()
		s.Write(b)
		s.Resize(1+columns/2, 2*rows)
		s.Write(b)
		st := s.State()
		if len(st.Lines) != 2*rows || st.Column < 0 || st.Column > st.Columns || st.Row < 0 || st.Row >= st.Rows {
			t.Errorf("%d lines, cursor %d, %d of %d, %d", len(st.Lines), st.Column, st.Row, st.Columns, st.Rows)
		}
		s.Key("up")
	})
}
