package typescript

import (
	"context"
	"slices"
)

// Words stand in a program for import in calls import(...), and, if the program is a
// module, for this where it is the module's own. Each is as long as what it replaces.
type Words struct{ Import, This string }

// Replace returns a JavaScript program with w in it, nil if nothing of it is replaced. It
// keeps about most bytes. The error is a *SyntaxError, also for the little of JavaScript
// that this parser takes for TypeScript, or ctx's. It may be called from any number of
// goroutines.
func Replace(ctx context.Context, source string, w Words, most int64) (*Program, error) {
	return rewritten(ctx, source, func(p *parser) { p.words, p.most = &w, most })
}

// dropThis takes the words for this back, in a program that is no module.
func (p *parser) dropThis() {
	if p.words != nil && !p.module {
		p.changes = slices.DeleteFunc(p.changes, func(c change) bool { return c.text == p.words.This })
	}
}
