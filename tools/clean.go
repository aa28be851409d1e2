package tools

import (
	"bytes"
	"unicode/utf8"
)

// walk passes the cleaned form of a program's text to emit, in pieces: without
// terminal control sequences and invisible characters, with every line reduced
// to what a carriage return left of it, and with U+FFFD for what is not UTF-8.
// Lines are cleaned by themselves, so an unfinished sequence costs one line at
// most. The pieces are parts of raw or constants.
func walk(raw []byte, emit func([]byte)) {
	for len(raw) > 0 {
		i := special(raw)
		if i == len(raw) {
			emit(raw)
			return
		}
		start := bytes.LastIndexByte(raw[:i], '\n') + 1
		if start > 0 {
			emit(raw[:start])
		}
		raw = raw[start:]
		end := bytes.IndexByte(raw[i-start:], '\n')
		if end < 0 {
			walkLine(raw, emit)
			return
		}
		end += i - start
		walkLine(raw[:end], emit)
		emit(raw[end : end+1])
		raw = raw[end+1:]
	}
}

// special returns the index of the first byte that is not printable ASCII, tab
// or newline.
func special(p []byte) int {
	for i, c := range p {
		if !plainASCII[c] {
			return i
		}
	}
	return len(p)
}

// walkLine is walk for one line without its newline.
func walkLine(line []byte, emit func([]byte)) {
	line = lastFrame(line)
	plain := &plainASCII
	if utf8.Valid(line) {
		plain = &plainUTF8
	}
	start := 0
	flush := func(end int) {
		if end > start {
			emit(line[start:end])
		}
	}
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case plain[c]:
			i++
		case c == 0x1b:
			flush(i)
			i += escape(line[i:])
			start = i
		case c < utf8.RuneSelf:
			flush(i)
			i++
			start = i
		default:
			r, n := utf8.DecodeRune(line[i:])
			if bad := r == utf8.RuneError && n == 1; bad || invisible(r) {
				flush(i)
				if bad {
					emit(replacement)
				}
				start = i + n
			}
			i += n
		}
	}
	flush(len(line))
}

var replacement = []byte("\uFFFD")

// lastFrame returns what is left of a line after its carriage returns: the
// last frame of a progress bar.
func lastFrame(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
		return line[i+1:]
	}
	return line
}

// escape returns the length of the escape sequence at the start of p
// (ECMA-48): CSI up to its final byte; OSC, DCS, SOS, PM and APC up to their
// terminator; else the introducer, intermediate bytes and one more.
func escape(p []byte) int {
	if len(p) < 2 {
		return len(p)
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				return i + 1
			}
			if p[i] < 0x20 || p[i] > 0x7e {
				return i
			}
		}
		return len(p)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(p); i++ {
			if p[i] == 0x07 {
				return i + 1
			}
			if p[i] == 0x1b {
				if i+1 < len(p) && p[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return len(p)
	}
	i := 1
	for i < len(p) && p[i] >= 0x20 && p[i] <= 0x2f {
		i++
	}
	if i < len(p) && p[i] >= 0x30 && p[i] <= 0x7e {
		i++
	}
	return i
}

// plainASCII has the bytes that stay as they are; plainUTF8 those that do
// within valid UTF-8, which are all but the controls and the first bytes of the
// runes that invisible matches.
var plainASCII, plainUTF8 = func() (ascii, utf [256]bool) {
	for c := range 256 {
		ascii[c] = c >= 0x20 && c < 0x7f || c == '\n' || c == '\t'
		utf[c] = ascii[c] || c >= utf8.RuneSelf && c != 0xc2 && c != 0xe2 && c != 0xf3
	}
	return ascii, utf
}()

// invisible reports whether r is a C1 control, changes the direction of text,
// or is a tag: what can make a reader see something else than the model.
func invisible(r rune) bool {
	return r >= 0x80 && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r >= 0xe0000 && r <= 0xe007f
}

// measure returns the size and the newlines of the cleaned form of raw.
func measure(raw []byte) (size, lines int) {
	walk(raw, func(p []byte) {
		size += len(p)
		lines += countLines(p)
	})
	return size, lines
}

func countLines(p []byte) int { return bytes.Count(p, newline) }

var newline = []byte("\n")

// CleanText returns a program's text as a model sees it: without terminal
// control sequences and invisible characters, with every line reduced to what a
// carriage return left of it, and with U+FFFD for what is not UTF-8.
func CleanText(s string) string {
	raw := []byte(s)
	if special(raw) == len(raw) {
		return s
	}
	var b bytes.Buffer
	walk(raw, func(p []byte) { b.Write(p) })
	return b.String()
}
