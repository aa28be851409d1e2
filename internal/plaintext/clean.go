// Package plaintext turns the output of a program into text that a model or a
// terminal can show: without terminal control sequences and invisible characters,
// with U+FFFD for what is not UTF-8, and with the frames of a progress bar reduced to
// the last one.
package plaintext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
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

// frames cleans a line with carriage returns. A frame that the next one
// overwrites, as those of a progress bar do, is left out and counted; between
// others a carriage return ends a line, as it did on old computers.
func (c *Cleaner) frames(line []byte) {
	// Of CRLF the carriage return overwrites nothing.
	line = bytes.TrimRight(line, "\r")
	for {
		i := bytes.IndexByte(line, '\r')
		if i < 0 {
			c.frame(line)
			return
		}
		now, next := line[:i], bytes.TrimLeft(line[i:], "\r")
		end := bytes.IndexByte(next, '\r')
		if end < 0 {
			end = len(next)
		}
		switch {
		case len(now) == 0:
		case c.AllFrames || !overwrites(next[:end], now):
			c.frame(now)
			c.Emit(newline)
		default:
			c.Overwritten += int64(len(now))
		}
		line = next
	}
}

// overwrites reports whether a frame takes the place of the one before: it
// erases the line, is blank for as long, or says the same with other numbers.
func overwrites(next, before []byte) bool {
	if erases(next) {
		return true
	}
	shown := bytes.TrimRight(before, " ")
	if len(shown) == 0 || bytes.Equal(next, before) {
		return true
	}
	if blank := len(bytes.TrimRight(next, " ")) == 0; blank {
		return len(next) >= len(shown)
	}
	if !sameWords(next, before) {
		return false
	}
	// The rows of a table differ in numbers only, too.
	return progress(before) && progress(next) || !record(before) && !record(next)
}

// progress reports whether a frame has what progress bars are made of.
func progress(p []byte) bool { return bytes.ContainsAny(p, "%/|#[█▏▎▍▌▋▊▉━╸") }

// record reports whether a frame has separators, as a line of a table has.
func record(p []byte) bool { return bytes.ContainsAny(p, ",;\t") }

// erases reports whether a frame starts by erasing its line.
func erases(p []byte) bool {
	// Escape sequences before it, as of a color, do not count.
	for len(p) > 0 && p[0] == 0x1b {
		n, _ := ansi.Sequence(p)
		if n > 2 && p[1] == '[' && p[n-1] == 'K' {
			return true
		}
		p = p[n:]
	}
	return false
}

// sameWords reports whether two frames differ in numbers, signs and units only.
func sameWords(a, b []byte) bool {
	for {
		var v, w []byte
		v, a = nextWord(a)
		w, b = nextWord(b)
		if !bytes.Equal(v, w) {
			return false
		}
		if v == nil {
			return true
		}
	}
}

// nextWord returns the next word that is no unit, nil at the end, and the rest.
func nextWord(p []byte) (word, rest []byte) {
	for len(p) > 0 {
		if p[0] == 0x1b {
			n, _ := ansi.Sequence(p)
			p = p[n:]
			continue
		}
		n := 0
		for n < len(p) {
			r, size := utf8.DecodeRune(p[n:])
			if !unicode.IsLetter(r) {
				break
			}
			n += size
		}
		if n > 0 && !unit(p[:n]) {
			return p[:n], p[n:]
		}
		if n == 0 {
			_, n = utf8.DecodeRune(p)
		}
		p = p[n:]
	}
	return nil, nil
}

// unit reports whether a word is a unit of time or size, which progress bars
// change as they go.
func unit(w []byte) bool {
	switch string(w) {
	case "d", "h", "m", "s", "ms", "us", "ns", "it", "B", "b", "k", "K", "M", "G", "T", "kB", "KB", "MB", "GB", "TB",
		"KiB", "MiB", "GiB", "TiB", "min", "sec":
		return true
	}
	return false
}
