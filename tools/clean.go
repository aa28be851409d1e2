package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/internal/ansi"
)

// A cleaner makes of a program's text what a model sees: without terminal
// control sequences and invisible characters, with U+FFFD for what is not
// UTF-8, and with the frames of a progress bar reduced to the last one. Lines
// are cleaned by themselves, so that an unfinished sequence costs one line at
// most. What is cleaned is passed to emit in pieces, which are only good until
// it returns.
type cleaner struct {
	emit      func([]byte)
	allFrames bool  // keeps the frames that were overwritten, as lines
	gone      int64 // bytes of frames that were overwritten
}

func (c *cleaner) walk(raw []byte) {
	for len(raw) > 0 {
		i := special(raw)
		if i == len(raw) {
			c.emit(raw)
			return
		}
		start := bytes.LastIndexByte(raw[:i], '\n') + 1
		if start > 0 {
			c.emit(raw[:start])
		}
		raw = raw[start:]
		end := bytes.IndexByte(raw[i-start:], '\n')
		if end < 0 {
			c.frames(raw)
			return
		}
		end += i - start
		c.frames(raw[:end])
		c.emit(raw[end : end+1])
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

// frame cleans a line, or what stands between two carriage returns of one.
func (c *cleaner) frame(p []byte) {
	plain := &plainASCII
	// Then most runes are let through without being decoded one by one.
	if utf8.Valid(p) {
		plain = &plainUTF8
	}
	start := 0
	flush := func(end int) {
		if end > start {
			c.emit(p[start:end])
		}
	}
	for i := 0; i < len(p); {
		b := p[i]
		switch {
		case plain[b]:
			i++
		case b == 0x1b:
			flush(i)
			n, finished := ansi.Sequence(p[i:])
			if i += n; !finished && n > 2 {
				c.emit(fmt.Appendf(nil, "[unfinished control sequence of %d bytes]", n))
			}
			start = i
		case b < utf8.RuneSelf:
			flush(i)
			i++
			start = i
		default:
			r, n := utf8.DecodeRune(p[i:])
			if bad := r == utf8.RuneError && n == 1; bad || ansi.Invisible(r) {
				flush(i)
				if bad {
					c.emit(replacement)
				}
				start = i + n
			}
			i += n
		}
	}
	flush(len(p))
}

var replacement = []byte("\uFFFD")

// plainASCII has the bytes that stay as they are; plainUTF8 those that do
// within valid UTF-8, which are all but the controls and the first bytes of the
// runes that ansi.Invisible matches.
var plainASCII, plainUTF8 = func() (ascii, utf [256]bool) {
	for c := range 256 {
		ascii[c] = c >= 0x20 && c < 0x7f || c == '\n' || c == '\t'
		utf[c] = ascii[c] || c >= utf8.RuneSelf && c != 0xc2 && c != 0xe2 && c != 0xf3
	}
	return ascii, utf
}()

// measure returns the size and the newlines of the cleaned form of raw, and
// how many bytes of frames are not in it.
func measure(raw []byte) (size, lines int, gone int64) {
	c := cleaner{emit: func(p []byte) {
		size += len(p)
		lines += countLines(p)
	}}
	c.walk(raw)
	return size, lines, c.gone
}

func countLines(p []byte) int { return bytes.Count(p, newline) }

var newline = []byte("\n")

// CleanText returns a program's text as a model sees it: without terminal
// control sequences and invisible characters, with U+FFFD for what is not
// UTF-8, and with the frames of a progress bar, which carriage returns separate,
// reduced to the last one. Other carriage returns end a line.
func CleanText(s string) string {
	raw := []byte(s)
	if special(raw) == len(raw) {
		return s
	}
	var b bytes.Buffer
	c := cleaner{emit: func(p []byte) { b.Write(p) }}
	c.walk(raw)
	return b.String()
}

// cleanLine is CleanText for what has to stand in one line.
func cleanLine(s string) string { return strings.ReplaceAll(CleanText(s), "\n", " ") }
