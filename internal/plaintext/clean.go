// Package plaintext turns the output of a program into text that a model or a
// terminal can show: without terminal control sequences and invisible characters,
// with U+FFFD for what is not UTF-8, and with the frames of a progress bar reduced to
// the last one.
package plaintext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/internal/ansi"
)

// A Cleaner cleans text line by line, so that an unfinished control sequence costs
// one line at most.
type Cleaner struct {
	// Emit receives the clean text in pieces, which are valid until it returns.
	Emit func([]byte)

	// AllFrames keeps frames that were overwritten, as lines.
	AllFrames bool

	// Overwritten counts the bytes of frames that were overwritten.
	Overwritten int64
}

// Clean passes the clean form of raw to Emit.
func (c *Cleaner) Clean(raw []byte) {
	for len(raw) > 0 {
		i := special(raw)
		if i == len(raw) {
			c.Emit(raw)
			return
		}
		start := bytes.LastIndexByte(raw[:i], '\n') + 1
		if start > 0 {
			c.Emit(raw[:start])
		}
		raw = raw[start:]
		end := bytes.IndexByte(raw[i-start:], '\n')
		if end < 0 {
			c.frames(raw)
			return
		}
		end += i - start
		c.frames(raw[:end])
		c.Emit(raw[end : end+1])
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
func (c *Cleaner) frame(p []byte) {
	plain := &plainASCII
	// Then most runes are let through without being decoded one by one.
	if utf8.Valid(p) {
		plain = &plainUTF8
	}
	start := 0
	flush := func(end int) {
		if end > start {
			c.Emit(p[start:end])
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
				c.Emit(fmt.Appendf(nil, "[unfinished control sequence of %d bytes]", n))
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
					c.Emit(replacement)
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

var newline = []byte("\n")

// Clean returns the clean form of a program's text. A carriage return that does not
// separate frames ends a line.
func Clean(s string) string {
	raw := []byte(s)
	if special(raw) == len(raw) {
		return s
	}
	var b bytes.Buffer
	c := Cleaner{Emit: func(p []byte) { b.Write(p) }}
	c.Clean(raw)
	return b.String()
}

// Line is Clean for what has to stand in one line.
func Line(s string) string { return strings.ReplaceAll(Clean(s), "\n", " ") }
