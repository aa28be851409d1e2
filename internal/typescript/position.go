package typescript

import (
	"sort"
	"strings"
)

// An insert is a text that stands in place of the source from start to end.
type insert struct {
	start, end int32
	text       string
}

// inserts returns the edits that may move what follows them on their line.
func (p *parser) inserts() []insert {
	var list []insert
	for _, e := range p.edits {
		if e.text > semicolon {
			list = append(list, insert{e.start, e.end, p.texts[e.text]})
		}
	}
	return list
}

// Moved reports whether some positions of Code are not those of the source.
func (pr *Program) Moved() bool { return len(pr.inserts) > 0 }

// Position returns the source's position of one in Code. Both count from 1,
// columns in UTF-16 code units. A column within inserted text becomes that of
// what the text stands for. Positions outside of the source stay as they are.
func (pr *Program) Position(line, column int) (int, int) {
	if len(pr.inserts) == 0 || line < 1 || column < 1 {
		return line, column
	}
	from := 0
	for range line - 1 {
		i := strings.IndexByte(pr.source[from:], '\n')
		if i < 0 {
			return line, column
		}
		from += i + 1
	}
	to := from + len(firstLine(pr.source[from:]))
	list := pr.inserts[sort.Search(len(pr.inserts), func(i int) bool { return int(pr.inserts[i].start) >= from }):]
	moved, at, original := 0, from, 0
	for _, in := range list {
		if int(in.start) > to {
			break
		}
		original += units(pr.source[at:in.start])
		at = int(in.start)
		if column-1 < original+moved {
			break
		}
		length := units(in.text)
		more := length - units(firstLine(pr.source[in.start:in.end]))
		// Blanks fill up what is shorter, so that nothing moves.
		if more <= 0 {
			continue
		}
		if column-1 < original+moved+length {
			return line, original + 1
		}
		moved += more
	}
	return line, column - moved
}

func firstLine(s string) string {
	if i := strings.IndexAny(s, "\n\r\u2028\u2029"); i >= 0 {
		return s[:i]
	}
	return s
}
