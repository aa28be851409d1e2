package typescript

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Stands are the names of what a script has in the place of what only modules have:
// import.meta, and a function that returns the module which is its first argument, if
// that exports the names which follow its specifier. Named may be empty.
type Stands struct{ Meta, Named string }

// A change replaces the source from start to end by text.
type change struct {
	start, end int
	text       string
}

// Script returns a JavaScript program with import and export declarations as a script
// with top-level await, nil if it has none and no import.meta. What is exported stays, and
// the names that are imported are constants. The error is a *SyntaxError, also for the
// little of JavaScript that this parser takes for TypeScript, or ctx's. It may be called
// from any number of goroutines.
func Script(ctx context.Context, source string, s Stands) (*Program, error) {
	return rewritten(ctx, source, func(p *parser) { p.stands = &s })
}

// rewritten returns a program with the changes that are noted by a parser as set sets it
// up, and none of its edits; nil where there are none.
func rewritten(ctx context.Context, source string, set func(*parser)) (*Program, error) {
	changed := false
	pr, err := translate(ctx, source, set, func(p *parser) {
		p.edits = p.edits[:0]
		p.dropThis()
		slices.SortStableFunc(p.changes, func(a, b change) int { return a.start - b.start })
		for _, c := range p.changes {
			p.replace(c.start, c.end, c.text)
		}
		changed = len(p.changes) > 0
	})
	if err != nil || !changed {
		return nil, err
	}
	return pr, nil
}

func (p *parser) change(start, end int, text string) {
	p.charge(32 + len(text))
	p.changes = append(p.changes, change{start, end, text})
}

// changeTop is change for a declaration at the top level of a module that becomes a script.
func (p *parser) changeTop(start, end int, text string) {
	if p.stands != nil && p.depth == 1 {
		p.change(start, end, text)
	}
}

// loads is the statement that loads a module.
func (p *parser) loads(from token) string {
	return "await import(" + p.src[from.start:from.end] + "); void 0;"
}

// nameless gives what export default declares without a name one.
func (p *parser) nameless(at int) { p.changeTop(at, at, " __default_"+strconv.Itoa(at)) }

// An importClause is what an import declaration binds.
type importClause struct {
	def, star string
	names     []specifier
}

// A specifier is an exported name of a module, which may be a string, and the name that
// it has here.
type specifier struct{ name, local string }

// script returns the declaration as a script has it.
func (im importClause) script(p *parser, from token) string {
	if im.def == "" && im.star == "" && im.names == nil {
		return p.loads(from)
	}
	module := "await import(" + p.src[from.start:from.end] + ")"
	if im.star != "" {
		text := "const " + im.star + " = " + module + ";"
		if im.def != "" {
			text += " const " + im.def + " = " + im.star + ".default;"
		}
		return text
	}
	if im.def != "" {
		im.names = append(im.names, specifier{"default", im.def})
	}
	var names []string
	exports := ""
	for _, s := range im.names {
		names = append(names, s.name+": "+s.local)
		exports += ", " + quoted(s.name)
	}
	if p.stands.Named != "" && exports != "" {
		module = p.stands.Named + "(" + module + ", " + p.src[from.start:from.end] + exports + ")"
	}
	return "const { " + strings.Join(names, ", ") + " } = " + module + ";"
}

func quoted(name string) string {
	if strings.HasPrefix(name, `"`) || strings.HasPrefix(name, "'") {
		return name
	}
	return `"` + name + `"`
}
