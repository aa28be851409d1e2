package typescript

import (
	"context"
	"strings"
)

// A Program is a translated program.
type Program struct {
	// Code is JavaScript. It has the source's lines, and below them perhaps
	// functions that it needs.
	Code string
	Positions
}

// A parser erases what it parses. Where the source is no program it panics
// with a bailout, which Erase recovers.
type parser struct {
	ctx  context.Context
	src  string
	tok  token // the token at hand
	last int   // where the one before it ended

	edits   []edit
	barrier int // the edits before this one stay as they are

	steps, nextCheck int
	depth            int
	owners           int // around it that have a this of their own
	memory           int
	most             int64 // of memory

	guessing int  // type arguments that may be none are being parsed
	single   bool // the last type was one name, pattern or literal

	scopes []scope
	live   bool // a statement of the block at hand is more than types

	// What is looked for, to be changed: for await loops, for (let ...) loops, what only
	// modules have, or words.
	guard    *Guard
	loopMark string
	stands   *Stands
	words    *Words
	module   bool // the program has import, export or import.meta
	changes  []change
	label    int // where the labels of the statement that follows begin, -1 for none
}

// A scope holds the names of functions, classes and enums of a block.
type scope map[string]bool

// Erase translates a program. A program that is perhaps one object literal, as
// in a REPL, may be that. The error is a *SyntaxError or ctx's. It may be
// called from any number of goroutines.
func Erase(ctx context.Context, source string) (*Program, error) {
	return translate(ctx, source, func(*parser) {}, func(*parser) {})
}

// translate parses a program, which may also be one object literal, and makes its edits.
// set sets up a parser, and finish may change its edits.
func translate(ctx context.Context, source string, set, finish func(*parser)) (pr *Program, err error) {
	for _, parse := range readings(source) {
		p := newParser(ctx, source)
		set(p)
		err = p.parse(func(p *parser) {
			parse(p)
			finish(p)
			pr = &Program{Code: p.render(0, len(p.src), p.edits), Positions: p.positions()}
		})
		if err == nil {
			return pr, nil
		}
	}
	return nil, err
}

// readings are the ways to parse a program, in their order.
func readings(source string) []func(*parser) {
	if strings.HasPrefix(strings.TrimLeft(source, " \t\r\n\f\v\uFEFF"), "{") {
		return []func(*parser){(*parser).expressionProgram, (*parser).program}
	}
	return []func(*parser){(*parser).program}
}

func newParser(ctx context.Context, source string) *parser {
	return &parser{ctx: ctx, src: source, most: Memory(len(source)), label: -1}
}

// parse calls do, which may end by a bailout.
func (p *parser) parse(do func(*parser)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(bailout)
			if !ok {
				// A fault of ours is no error of the program.
				panic(r)
			}
			err = p.placed(b)
		}
	}()
	do(p)
	return nil
}

// expressionProgram parses a program that is one expression.
func (p *parser) expressionProgram() {
	p.next()
	p.scopes = append(p.scopes, nil)
	p.expr(0)
	if p.tok.kind != eof {
		p.unexpected()
	}
}

// program parses a script or a module.
func (p *parser) program() {
	if strings.HasPrefix(p.src, "#!") {
		p.tok.end = lineEnd(p.src, 0)
	}
	p.next()
	p.scopes = append(p.scopes, nil)
	for p.tok.kind != eof {
		p.statement()
	}
}

// A state is what a guess may have to go back to.
type state struct {
	tok                   token
	last                  int
	edits, barrier        int
	depth, memory, scopes int
	owners                int
	changes               int
	live                  bool
}

func (p *parser) save() state {
	s := state{p.tok, p.last, len(p.edits), p.barrier, p.depth, p.memory, len(p.scopes), p.owners, len(p.changes), p.live}
	// restore cuts the list here, so that no edit of before may grow meanwhile.
	p.barrier = s.edits
	return s
}

func (p *parser) restore(s state) {
	p.tok, p.last, p.edits, p.barrier = s.tok, s.last, p.edits[:s.edits], s.barrier
	p.depth, p.memory, p.scopes = s.depth, s.memory, p.scopes[:s.scopes]
	p.live = s.live
	p.owners = s.owners
	p.changes, p.label = p.changes[:s.changes], -1
}

// try parses something that may not be there. Where it is not, try returns
// false and has taken everything back. Exceeding a bound ends the parse.
func (p *parser) try(parse func()) (ok bool) {
	s := p.save()
	defer func() {
		if ok {
			return
		}
		r := recover()
		b, _ := r.(bailout)
		if e, _ := b.err.(*SyntaxError); e == nil || e.bound {
			panic(r)
		}
		p.restore(s)
	}()
	parse()
	return true
}
