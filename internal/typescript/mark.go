package typescript

import (
	"context"
	"slices"
	"strings"
)

// A head is that of a for loop that declares variables with let.
type head struct {
	at      int32 // of the update, or of the parenthesis where there is none
	updates bool
	names   []string
}

// MarkLoops returns a JavaScript program in which the update of every for (let ...; ;)
// loop begins with an expression that does nothing,
//
//	!mark,!a,!b,!mark
//
// where a and b are the loop's variables. It returns nil if there are no such loops, and
// keeps about most bytes. The error is a *SyntaxError or ctx's. It may be called from any
// number of goroutines.
func MarkLoops(ctx context.Context, source, mark string, most int64) (*Program, error) {
	return translateMoved(ctx, source, func(p *parser) { p.most, p.keepHeads = most, true }, func(p *parser) { p.markLoops("!" + mark) })
}

// note notes the head of a loop whose update follows.
func (h head) note(p *parser) {
	if len(h.names) > 0 {
		h.at, h.updates = int32(p.tok.start), !p.is(")")
		p.charge(32 + 16*len(h.names))
		p.heads = append(p.heads, h)
	}
}

func (p *parser) markLoops(mark string) {
	p.edits = p.edits[:0]
	slices.SortFunc(p.heads, func(a, b head) int { return int(a.at - b.at) })
	for _, h := range p.heads {
		text := mark + ",!" + strings.Join(h.names, ",!") + "," + mark
		if h.updates {
			text += ","
		}
		p.insert(int(h.at), text)
	}
}
