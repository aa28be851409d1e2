package typescript

import (
	"context"
	"strings"
)

// MarkLoops returns a JavaScript program in which the update of every for (let ...; ;)
// loop begins with an expression that does nothing,
//
//	!mark,!a,!b,!mark
//
// where a and b are the loop's variables. It returns nil if there are no such loops, and
// keeps about most bytes. The error is a *SyntaxError or ctx's. It may be called from any
// number of goroutines.
func MarkLoops(ctx context.Context, source, mark string, most int64) (*Program, error) {
	return rewritten(ctx, source, func(p *parser) { p.most, p.loopMark = most, "!"+mark })
}

// marked notes the mark of a loop with these variables, whose update, if it has one,
// follows.
func (p *parser) marked(names []string) {
	if len(names) == 0 {
		return
	}
	text := p.loopMark + ",!" + strings.Join(names, ",!") + "," + p.loopMark
	if !p.is(")") {
		text += ","
	}
	p.change(p.tok.start, p.tok.start, text)
}
