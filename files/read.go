package files

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/artifact"
)

// A Range says which part of a file to read. The zero value is all of it, as
// far as it fits.
type Range struct {
	// Line is the first line, from 1; zero means that Offset says where to
	// start. Lines is how many, zero for those that fit.
	Line, Lines int64

	// Offset is the first byte, from 0, and Bytes how many at most, zero for
	// those that fit. A text is not cut within a character.
	Offset, Bytes int64
}

func (r Range) check() error {
	if r.Line < 0 || r.Lines < 0 || r.Offset < 0 || r.Bytes < 0 || r.Line > 0 && r.Offset > 0 {
		return fmt.Errorf("%w: range %+v", codeinterp.ErrInvalid, r)
	}
	return nil
}

// A Page is a part of a file.
type Page struct {
	// Text is what was read: UTF-8, except for single invalid bytes. It is empty if
	// Binary.
	Text string

	// Binary says that the first 8 KiB of the file have NUL bytes or are not UTF-8.
	Binary bool

	Offset int64 // of the first byte of Text
	Line   int64 // of the first byte of Text, from 1
	Size   int64 // of the file, before the Filter

	// NextOffset and NextLine are where the next part starts, zero if there is
	// none. NextLine is zero too if the page ends within a line.
	NextOffset, NextLine int64
}

// sniffed is how much of a file decides whether it is text.
const sniffed = 8 << 10

// Read reads a part of a file.
func (s *Workdir) Read(ctx context.Context, p string, r Range) (Page, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	name, err := s.Name(p)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Page{}, err
	}
	info, err := s.fsys.Stat(name)
	if err != nil {
		return Page{}, err
	}
	c := cutter{Range: r, line: 1, most: int64(s.o.MaxRead)}
	if r.Bytes > 0 {
		c.most = min(c.most, r.Bytes)
	}
	if err := s.stream(ctx, name, c.take); err != nil {
		return Page{}, err
	}
	page := c.page()
	page.Size = info.Size()
	return page, nil
}

// A cutter cuts a range out of the pieces of a text.
type cutter struct {
	Range
	most int64 // bytes

	head     []byte // the first bytes of all
	at, line int64  // of the piece that comes next
	from     int64  // the first byte of text
	fromLine int64
	started  bool
	text     []byte
	ended    bool // the range is over, and there is more behind it
}

// take looks at the next piece, and reports whether it needs more.
func (c *cutter) take(b []byte) bool {
	if n := sniffed - len(c.head); n > 0 {
		c.head = append(c.head, b[:min(n, len(b))]...)
	}
	for len(b) > 0 && !c.ended {
		if !c.started {
			b = c.skip(b)
			continue
		}
		b = c.keep(b)
	}
	return !c.ended
}

// skip leaves out what is before the range, and returns the rest.
func (c *cutter) skip(b []byte) []byte {
	n, lines := 0, int64(0)
	switch {
	case c.Line > c.line:
		for n < len(b) && c.line+lines < c.Line {
			i := bytes.IndexByte(b[n:], '\n')
			if i < 0 {
				n = len(b)
				break
			}
			n, lines = n+i+1, lines+1
		}
	case c.Offset > c.at:
		n = int(min(c.Offset-c.at, int64(len(b))))
		lines = int64(bytes.Count(b[:n], []byte{'\n'}))
	}
	c.at, c.line = c.at+int64(n), c.line+lines
	if c.at >= c.Offset && c.line >= max(c.Line, 1) {
		c.started, c.from, c.fromLine = true, c.at, c.line
	}
	return b[n:]
}

// keep takes what is within the range, and returns the rest.
func (c *cutter) keep(b []byte) []byte {
	if c.Lines > 0 && c.line-c.fromLine >= c.Lines || int64(len(c.text)) >= c.most+utf8.UTFMax {
		c.ended = true
		return nil
	}
	// A few bytes more than a page has show whether a character ends with it.
	n := int(min(c.most+utf8.UTFMax-int64(len(c.text)), int64(len(b))))
	if i := bytes.IndexByte(b[:n], '\n'); i >= 0 {
		n = i + 1
		c.line++
	}
	c.text = append(c.text, b[:n]...)
	c.at += int64(n)
	return b[n:]
}

// page ends the page at a character, or better at a line where that is near.
func (c *cutter) page() Page {
	p := Page{Offset: c.from, Line: cmp.Or(c.fromLine, c.line), Binary: !artifact.IsText(c.head)}
	if !c.started {
		p.Offset = c.at
	}
	if p.Binary {
		return p
	}
	end := len(c.text)
	if int64(end) > c.most {
		c.ended = true
		end = cut(c.text, int(c.most))
		// At a line's end, unless the caller has asked for so many bytes or it would
		// cost half the page.
		if i := bytes.LastIndexByte(c.text[:end], '\n'); i >= end/2 && c.Bytes == 0 {
			end = i + 1
		}
	}
	text := c.text[:end]
	p.Text = string(text)
	if c.ended {
		p.NextOffset = p.Offset + int64(end)
		if end > 0 && text[end-1] == '\n' {
			p.NextLine = p.Line + int64(bytes.Count(text, []byte{'\n'}))
		}
	}
	return p
}

// cut returns where to end b within n bytes without parting a character, but
// not before the first.
func cut(b []byte, n int) int {
	end := n
	for end > 0 && n-end < utf8.UTFMax && !utf8.RuneStart(b[end]) {
		end--
	}
	if end == 0 || n-end == utf8.UTFMax {
		_, size := utf8.DecodeRune(b)
		return max(n, size)
	}
	return end
}
