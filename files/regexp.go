package files

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"regexp/syntax"
)

// maxSteps is how many states times bytes are searched without a look at ctx,
// which takes tenths of a second at most.
const maxSteps = 1 << 22

// A search finds an expression in lines. Its time is that of the expression's size
// times the line's, for which some thousand bytes of expression suffice to take
// minutes, so that it can end before.
type search struct {
	re     *regexp.Regexp
	states int
}

func newSearch(re *regexp.Regexp) *search {
	s := &search{re: re, states: 1}
	// What regexp has compiled compiles.
	if parsed, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		if p, err := syntax.Compile(parsed.Simplify()); err == nil {
			s.states = len(p.Inst)
		}
	}
	return s
}

// find returns where the first match begins and ends. What it returns once ctx is
// done means nothing.
func (s *search) find(ctx context.Context, line []byte) []int {
	if s.states*len(line) <= maxSteps {
		return s.re.FindIndex(line)
	}
	return s.re.FindReaderIndex(&ending{ctx, bytes.NewReader(line)})
}

// An ending is a text that ends with ctx.
type ending struct {
	ctx context.Context
	*bytes.Reader
}

func (e *ending) ReadRune() (rune, int, error) {
	if e.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return e.Reader.ReadRune()
}
