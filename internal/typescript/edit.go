package typescript

import "strings"

// An edit replaces the source from start to end by a text, and by blanks where
// the text is shorter.
type edit struct {
	start, end int32
	text       string
}

const editSize = 24

func (p *parser) replace(start, end int, s string) {
	p.charge(editSize + len(s))
	p.step(len(s) / 32)
	p.edits = append(p.edits, edit{int32(start), int32(end), s})
}

func (p *parser) insert(at int, s string) {
	if s != "" {
		p.replace(at, at, s)
	}
}

// blank erases the source from start to end.
func (p *parser) blank(start, end int) {
	if n := len(p.edits); n > p.barrier {
		if before := &p.edits[n-1]; int(before.end) == start && before.start < before.end {
			before.end = int32(end)
			return
		}
	}
	p.replace(start, end, "")
}

// erase erases the token at hand and goes on to the next.
func (p *parser) erase() {
	p.blank(p.tok.start, p.tok.end)
	p.next()
}

// mark returns a place in the list of edits to drop to.
func (p *parser) mark() int {
	p.barrier = len(p.edits)
	return p.barrier
}

// drop erases the source from start to the last token, whatever was edited
// there since the mark. It leaves a semicolon, so that what follows does not
// continue what stands before it.
func (p *parser) drop(mark, start int) {
	p.edits = append(p.edits[:mark], edit{int32(start), int32(p.last), ";"})
	p.barrier = len(p.edits)
}

// render returns the source from start to end with edits in it.
func (p *parser) render(start, end int, edits []edit) string {
	var b strings.Builder
	b.Grow(end - start + 64)
	at := start
	for _, e := range edits {
		// Edits that overlap are a fault of ours; they must not run as another program.
		if int(e.start) < at || int(e.end) > end {
			p.fail(int(e.start), "The program cannot be translated")
		}
		b.WriteString(p.src[at:e.start])
		b.WriteString(e.text)
		at = int(e.end)
		if e.start < e.end {
			endsLine := at == len(p.src) || p.src[at] == '\n' || p.src[at] == '\r'
			writeBlanks(&b, p.src[e.start:e.end], units(e.text), endsLine)
		}
	}
	b.WriteString(p.src[at:end])
	return b.String()
}

// writeBlanks writes what keeps the place of s: spaces, and its line breaks.
// The first columns are taken already. Spaces at the end of a line are left
// out, since engines take long over them.
func writeBlanks(b *strings.Builder, s string, taken int, endsLine bool) {
	pending := 0
	for _, r := range s {
		if lineBreak(r) {
			pending, taken = 0, 0
			b.WriteRune(r)
			continue
		}
		n := 1
		if r > 0xFFFF {
			n = 2
		}
		used := min(n, taken)
		taken -= used
		pending += n - used
	}
	if !endsLine {
		b.WriteString(strings.Repeat(" ", pending))
	}
}
