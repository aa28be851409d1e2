package typescript

import "context"

// A Guard is what is written around a for await loop: before and after its
// statement, labels included, and around what it iterates over, whose text Close gets.
// None of it may have line breaks.
type Guard struct {
	Before, Open, After string
	Close               func(of string) string
}

// GuardLoops returns a JavaScript program with g around each of its for await loops,
// nil where it has none. The error is a *SyntaxError, also for the little of
// JavaScript that this parser takes for TypeScript, or ctx's. It may be called from
// any number of goroutines.
func GuardLoops(ctx context.Context, source string, g Guard) (*Program, error) {
	return rewritten(ctx, source, func(p *parser) { p.guard = &g })
}

// guarded notes the guard of a loop that has ended, which iterates over what stands from
// open to end. Where loops end at one place, the inner one is noted first, and ends first.
func (p *parser) guarded(start, open, end int) {
	p.change(start, start, p.guard.Before)
	p.change(open, open, p.guard.Open)
	p.change(end, end, p.guard.Close(p.src[open:end]))
	p.change(p.last, p.last, p.guard.After)
}
