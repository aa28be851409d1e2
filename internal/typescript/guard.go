package typescript

import (
	"context"
	"slices"
)

// A Guard is what is written around a for await loop: before and after its
// statement, labels included, and around what it iterates over, whose text Close gets.
// None of it may have line breaks.
type Guard struct {
	Before, Open, After string
	Close               func(of string) string
}

// A loop is where a for await loop is, and what it iterates over.
type loop struct{ start, open, close, end int32 }

const loopSize = 16

// GuardLoops returns a JavaScript program with g around each of its for await loops,
// nil where it has none. The error is a *SyntaxError, also for the little of
// JavaScript that this parser takes for TypeScript, or ctx's. It may be called from
// any number of goroutines.
func GuardLoops(ctx context.Context, source string, g Guard) (*Program, error) {
	return translateMoved(ctx, source, func(p *parser) { p.keepLoops = true }, func(p *parser) { p.guard(g) })
}

// loop notes a loop that has ended.
func (p *parser) loop(l loop) {
	if p.keepLoops {
		p.charge(loopSize)
		l.end = int32(p.last)
		p.loops = append(p.loops, l)
	}
}

// guard replaces the edits by those of g. Where loops end at one place, the inner one,
// which is noted first, ends first.
func (p *parser) guard(g Guard) {
	p.edits = p.edits[:0]
	for _, l := range p.loops {
		p.insert(int(l.start), g.Before)
		p.insert(int(l.open), g.Open)
		p.insert(int(l.close), g.Close(p.src[l.open:l.close]))
		p.insert(int(l.end), g.After)
	}
	slices.SortStableFunc(p.edits, func(a, b edit) int { return int(a.start - b.start) })
}
