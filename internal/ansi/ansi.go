// Package ansi finds the control sequences of terminals in a program's text.
package ansi

import (
	"bytes"
	"strings"
)

// Sequence returns the length of the control sequence (ECMA-48) that p starts
// with; p[0] is ESC. CSI goes up to its final byte; OSC, DCS, SOS, PM and APC
// up to their terminator; others have intermediate bytes and one more. One that
// is not finished ends with its line, or before what breaks it off.
func Sequence(p []byte) (n int, finished bool) {
	// No further than the sequence is read: a line has as many as a program likes.
	if len(p) < 2 {
		return len(p), false
	}
	switch p[1] {
	case '[':
		return control(p)
	case ']', 'P', 'X', '^', '_':
		return text(p)
	}
	i := 1
	for i < len(p) && p[i] >= 0x20 && p[i] <= 0x2f {
		i++
	}
	if i < len(p) && p[i] >= 0x30 && p[i] <= 0x7e {
		return i + 1, true
	}
	return i, false
}

func control(p []byte) (n int, finished bool) {
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1, true
		case c < 0x20 || c > 0x7e:
			return i, false
		}
	}
	return len(p), false
}

func text(p []byte) (n int, finished bool) {
	for i := 2; i < len(p); i++ {
		switch {
		case p[i] == 0x07:
			return i + 1, true
		case p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\':
			return i + 2, true
		case p[i] == 0x1b, p[i] == '\n':
			return i, false
		}
	}
	return len(p), false
}

// Strip returns s without its control sequences.
func Strip(s string) string {
	i := strings.IndexByte(s, 0x1b)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for p := []byte(s); ; {
		b.Write(p[:i])
		n, _ := Sequence(p[i:])
		p = p[i+n:]
		if i = bytes.IndexByte(p, 0x1b); i < 0 {
			b.Write(p)
			return b.String()
		}
	}
}

// Invisible reports whether r is a C1 control, changes the direction of text,
// or is a tag: what can make a reader see something else than the model.
func Invisible(r rune) bool {
	return r >= 0x80 && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r >= 0xe0000 && r <= 0xe007f
}

// Plain returns s without control sequences, invisible characters, and controls
// but tabs and newlines.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if Invisible(r) || r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, Strip(s))
}
