package typescript

import (
	"sort"
	"strings"
	"unsafe"
)

// A move is a text in Code, on one line, that moves what follows it there.
type move struct {
	line   int32 // from 1
	at     int32 // UTF-16 units of Code before it on its line
	length int32 // its own
	moved  int32 // by how many units what follows it is further right than in the source
}

// Positions maps positions of a program's Code to those of its source. They hold
// neither.
type Positions struct{ moves []move }

// Moved reports whether some positions of Code are not those of the source.
func (ps Positions) Moved() bool { return len(ps.moves) > 0 }

// Size returns how many bytes they take.
func (ps Positions) Size() int64 { return int64(cap(ps.moves)) * int64(unsafe.Sizeof(move{})) }

// Position returns the source's position of one in Code. Both count from 1,
// columns in UTF-16 code units. A column within inserted text becomes that of
// what the text stands for. Positions outside of the source stay as they are.
func (ps Positions) Position(line, column int) (int, int) {
	if line < 1 || column < 1 {
		return line, column
	}
	i := sort.Search(len(ps.moves), func(i int) bool {
		s := ps.moves[i]
		return int(s.line) > line || int(s.line) == line && int(s.at) >= column
	}) - 1
	if i < 0 || int(ps.moves[i].line) != line {
		return line, column
	}
	s, before := ps.moves[i], 0
	if i > 0 && ps.moves[i-1].line == s.line {
		before = int(ps.moves[i-1].moved)
	}
	if column <= int(s.at+s.length) {
		return line, int(s.at) - before + 1
	}
	return line, column - int(s.moved)
}

// positions finds what moved, in one pass: a program of megabytes asks for the
// positions of thousands of frames.
func (p *parser) positions() Positions {
	var list []move
	line := int32(1)
	at, original, moved := 0, 0, 0 // how far the source was counted, and units on the line
	ended := false                 // by another line break than \n, which positions go by
	for _, e := range p.edits {
		if e.text == "" || e.text == ";" {
			continue
		}
		between := p.src[at:e.start]
		if n := strings.Count(between, "\n"); n > 0 {
			line += int32(n)
			between = between[strings.LastIndexByte(between, '\n')+1:]
			original, moved, ended = 0, 0, false
		}
		at = int(e.start)
		original += units(between)
		if ended = ended || len(firstLine(between)) < len(between); ended {
			continue
		}
		// Blanks fill up what is shorter, so that nothing moves.
		length := units(e.text)
		if more := length - units(firstLine(p.src[e.start:e.end])); more > 0 {
			list = append(list, move{line, int32(original + moved), int32(length), int32(moved + more)})
			moved += more
		}
	}
	return Positions{list}
}

func firstLine(s string) string {
	if i := strings.IndexAny(s, "\n\r\u2028\u2029"); i >= 0 {
		return s[:i]
	}
	return s
}
