package typescript

import (
	"context"
	"slices"
)

// An Outline is what a program in JavaScript declares at its top level, and where it
// does what another may have to know of.
type Outline struct {
	// Complete tells that the program could be parsed. Else all is what stands before
	// the fault.
	Complete bool
	Declared []Declaration
	// Hoisted are those by var and function within statements of the top level, which
	// are the program's all the same.
	Hoisted []Declaration
	// Imports are where import stands in calls import(...).
	Imports []int
	// Assigned are the plain names that are assigned to, in patterns too.
	Assigned []Name

	words     []Name        // that may be parameters of an arrow function still
	targets   []Name        // that are assigned to if what they stand in is a pattern
	statement int           // the number of the one at hand, of those at the top
	within    map[inner]int // declarations within those
}

// An inner is a name in a statement.
type inner struct {
	statement int
	name      string
}

// A Name is a word at its place in the source.
type Name struct {
	Text  string
	Start int
	// Property tells that it stands for a property and a variable, as in {a} = b.
	Property bool
	// Logical is the end of the operator &&=, ||= or ??= by which it is assigned to.
	Logical int

	statement int
}

// End returns the place behind it.
func (n Name) End() int { return n.Start + len(n.Text) }

// A Declaration is one of a program's own names.
type Declaration struct {
	Keyword Name   // var, let, const, class, function or import
	Names   []Name // at least one, those of variables without their places
	End     int    // of variables and classes
	// Bare are the ends of the variables without an initializer, of Declared ones.
	Bare []int
	Head bool // in the head of a for
	// Default tells that it is what the program exports by default.
	Default bool
}

// Outlined returns the outline of a program. The error is ctx's.
func Outlined(ctx context.Context, source string) (*Outline, error) {
	parses := []func(*parser){(*parser).program}
	if mayBeObject(source) {
		parses = []func(*parser){(*parser).expressionProgram, (*parser).program}
	}
	var o *Outline
	for _, parse := range parses {
		p := newParser(ctx, source)
		p.outline = &Outline{within: map[inner]int{}}
		err := p.parse(parse)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if o = p.outline; err == nil {
			o.Complete = true
			break
		}
	}
	slices.Sort(o.Imports)
	o.Imports = slices.Compact(o.Imports)
	return o, nil
}

// Within reports whether the statement that a name of Assigned stands in declares it
// too, other than at the top level.
func (o *Outline) Within(n Name) bool { return o.within[inner{n.statement, n.Text}] > 0 }

const nameSize = 40

// top reports whether a declaration at hand is to be noted.
func (p *parser) top() bool { return p.outline != nil && p.depth == 1 }

func (p *parser) noteDeclaration(d Declaration) {
	if len(d.Names) == 0 {
		return // const {} = a
	}
	p.charge(4*nameSize + nameSize*len(d.Names))
	for _, n := range d.Names {
		p.outline.within[p.inner(n.Text)]-- // noteBound has it
	}
	p.outline.Declared = append(p.outline.Declared, d)
}

// hoists reports whether what var declares here is the program's.
func (p *parser) hoists() bool { return p.outline != nil && p.functions == 0 }

func (p *parser) noteHoisted(d Declaration) {
	if len(d.Names) == 0 {
		return
	}
	p.charge(4*nameSize + nameSize*len(d.Names))
	if d.Keyword.Text == "var" {
		for _, n := range d.Names {
			p.outline.within[p.inner(n.Text)]--
		}
	}
	p.outline.Hoisted = append(p.outline.Hoisted, d)
}

func (p *parser) name(t token) Name {
	return Name{Text: t.text, Start: t.start, statement: p.outline.statement}
}

func (p *parser) inner(name string) inner { return inner{p.outline.statement, name} }

func (o *Outline) next() {
	if o != nil {
		o.statement++
		o.words, o.targets = o.words[:0], o.targets[:0]
	}
}

// noteBound notes a name that is declared, wherever that is.
func (p *parser) noteBound(name string) {
	if p.outline == nil {
		return
	}
	if _, known := p.outline.within[p.inner(name)]; !known {
		p.charge(2 * nameSize)
	}
	p.outline.within[p.inner(name)]++
}

// noteWord notes a word that is a variable, or may turn out to be a parameter.
func (p *parser) noteWord(t token) {
	if p.outline != nil {
		p.charge(nameSize)
		p.outline.words = append(p.outline.words, p.name(t))
	}
}

// wordsNow returns a place in the list of words for noteParameters.
func (p *parser) wordsNow() int {
	if p.outline == nil {
		return 0
	}
	return len(p.outline.words)
}

// noteParameters makes parameters of the words since the place.
func (p *parser) noteParameters(from int) {
	if p.outline == nil {
		return
	}
	for _, w := range p.outline.words[from:] {
		p.noteBound(w.Text)
	}
	p.outline.words = p.outline.words[:from]
}

func (p *parser) noteAssigned(t token) {
	if p.outline != nil && t.kind == word {
		p.charge(nameSize)
		p.outline.Assigned = append(p.outline.Assigned, p.name(t))
	}
}

// noteAssignment notes an assignment to t, whose operator is at hand.
func (p *parser) noteAssignment(t token) {
	p.noteAssigned(t)
	if p.outline == nil || t.kind != word {
		return
	}
	switch p.tok.text {
	case "&&=", "||=", "??=":
		p.outline.Assigned[len(p.outline.Assigned)-1].Logical = p.tok.end
	}
}

// noteTarget notes an element that began at start, if it is a plain name.
func (p *parser) noteTarget(start int) {
	if t := p.plain(); p.outline != nil && t.kind == word && t.start == start {
		p.charge(nameSize)
		p.outline.targets = append(p.outline.targets, p.name(t))
	}
}

// noteProperty notes the name of a property, which is a variable's too.
func (p *parser) noteProperty(t token) {
	if p.outline != nil && t.kind == word {
		p.charge(nameSize)
		n := p.name(t)
		n.Property = true
		p.outline.targets = append(p.outline.targets, n)
	}
}

// targetsNow returns a place in the list of targets for noteTargets.
func (p *parser) targetsNow() int {
	if p.outline == nil {
		return 0
	}
	return len(p.outline.targets)
}

// noteTargets makes the targets since the place those of a pattern, if that is what
// ended just now.
func (p *parser) noteTargets(from int) {
	if o := p.outline; o != nil && from < len(o.targets) && p.literal == p.last {
		p.charge(nameSize * (len(o.targets) - from))
		o.Assigned = append(o.Assigned, o.targets[from:]...)
		o.targets = o.targets[:from]
	}
}

func (p *parser) noteImport(keyword token) {
	if p.outline != nil {
		p.charge(8)
		p.outline.Imports = append(p.outline.Imports, keyword.start)
	}
}

// An outlined is how far the lists of an outline go.
type outlined struct{ declared, hoisted, imports, assigned, words, targets int }

func (o *Outline) save() (s outlined) {
	if o != nil {
		s = outlined{len(o.Declared), len(o.Hoisted), len(o.Imports), len(o.Assigned), len(o.words), len(o.targets)}
	}
	return s
}

func (o *Outline) restore(s outlined) {
	if o != nil {
		o.Declared, o.Imports, o.Assigned = o.Declared[:s.declared], o.Imports[:s.imports], o.Assigned[:s.assigned]
		o.Hoisted = o.Hoisted[:s.hoisted]
		o.words = o.words[:min(s.words, len(o.words))]
		o.targets = o.targets[:min(s.targets, len(o.targets))]
	}
}
