package plaintext

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/toolcell/toolcell/internal/ansi"
)

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
