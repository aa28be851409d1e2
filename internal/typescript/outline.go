package typescript

import (
	"context"
	"slices"
	"unsafe"
)

// assignedSize is what an assigned name takes beside its place in the list: in next,
// and of those who change what assigns to it.
const assignedSize = 64

// An Outline is what a program in JavaScript declares at its top level, and where it
// does what another may have to know of.
type Outline struct {
	// Complete tells that the program could be parsed, and declares no name twice that
	// can be declared once only. Else all is what stands before the fault.
	Complete bool
	Declared []Declaration
	// Hoisted are those by var and function within statements of the top level, which
	// are the program's all the same.
	Hoisted []Declaration
	// Imports are where import stands in calls import(...).
	Imports []int
	// This are where this stands that is the program's own. Module tells that the program
	// has import, export or import.meta, so that it is undefined.
	This   []int
	Module bool
	// Assigned are the plain names that are assigned to, in patterns too.
	Assigned []Name

	words   []mark       // that may be parameters of an arrow function still
	targets []mark       // that are assigned to if what they stand in is a pattern
	bound   []string     // what the statement at hand, of those at the top, declares
	began   outlineSizes // how far the lists went before that statement
}

// A mark is a word of the source.
type mark struct {
	start, end int32
	property   bool
}

// A Name is a word at its place in the source.
type Name struct {
	Text  string
	Start int
	// Property tells that it stands for a property and a variable, as in {a} = b.
	Property bool
	// Logical is the end of the operator &&=, ||= or ??= by which it is assigned to.
	Logical int
	// Within tells that the statement at the top level that an assigned name stands in
	// declares it too, other than at the top level.
	Within bool
}

// End returns the place behind it.
func (n Name) End() int { return n.Start + len(n.Text) }

// A Declaration is one of a program's own names.
type Declaration struct {
	Keyword Name     // var, let, const, class, function or import
	Names   []string // at least one
	Start   int      // of the name of a function
	End     int      // of variables and classes
	// Bare are the ends of the variables without an initializer, of Declared ones.
	Bare []int
	Head bool // in the head of a for
}

// Outlined returns the outline of a program, for which it keeps about as many bytes at
// most: one of a program that takes more is not complete. The error is ctx's.
func Outlined(ctx context.Context, source string, most int64) (*Outline, error) {
	var o *Outline
	for _, parse := range readings(source) {
		p := newParser(ctx, source)
		p.outline, p.most = &Outline{}, most
		err := p.parse(parse)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		o = p.outline
		o.next()
		o.words, o.targets, o.bound = nil, nil, nil
		if err == nil {
			o.Complete = !o.conflicts()
			break
		}
	}
	slices.Sort(o.Imports)
	o.Imports = slices.Compact(o.Imports)
	return o, nil
}

// conflicts reports whether a name is declared twice that let, const, class or import
// declares.
func (o *Outline) conflicts() bool {
	variable := make(map[string]bool, len(o.Declared))
	for _, d := range o.Declared {
		is := d.Keyword.Text == "var" || d.Keyword.Text == "function"
		for _, of := range d.Names {
			if was, again := variable[of]; again && !(was && is) {
				return true
			}
			variable[of] = is
		}
	}
	return slices.ContainsFunc(o.Hoisted, func(d Declaration) bool {
		return d.Keyword.Text == "var" && slices.ContainsFunc(d.Names, func(of string) bool {
			is, again := variable[of]
			return again && !is
		})
	})
}

// push appends to a list that the parse keeps, and charges what the list grows by.
// It is charged for good, as a guess that is taken back leaves the list as large.
func push[T any](p *parser, list []T, x T) []T {
	before := cap(list)
	list = append(list, x)
	if grown := cap(list) - before; grown > 0 {
		p.kept += grown * int(unsafe.Sizeof(x))
		p.charge(0)
	}
	return list
}

func (t token) mark() mark { return mark{start: int32(t.start), end: int32(t.end)} }

// top reports whether a declaration at hand is to be noted.
func (p *parser) top() bool { return p.outline != nil && p.depth == 1 }

func (p *parser) noteDeclaration(d Declaration) {
	if len(d.Names) == 0 {
		return // const {} = a
	}
	p.outline.Declared = push(p, p.outline.Declared, d)
}

// hoists reports whether what var declares here is the program's.
func (p *parser) hoists() bool { return p.outline != nil && p.functions == 0 }

func (p *parser) noteHoisted(d Declaration) {
	if len(d.Names) == 0 {
		return
	}
	p.outline.Hoisted = push(p, p.outline.Hoisted, d)
}

// next ends a statement of the top level.
func (o *Outline) next() {
	if o == nil {
		return
	}
	if assigned := o.Assigned[min(o.began.assigned, len(o.Assigned)):]; len(assigned) > 0 && len(o.bound) > 0 {
		within := map[string]int{}
		for _, n := range assigned {
			within[n.Text] = 0
		}
		o.count(within)
		for i := range assigned {
			assigned[i].Within = within[assigned[i].Text] > 0
		}
	}
	o.words, o.targets, o.bound = o.words[:0], o.targets[:0], o.bound[:0]
	o.began = o.save()
}

// count adds how often the statement at hand declares each of the names, other than
// at the top level.
func (o *Outline) count(names map[string]int) {
	add := func(name string, n int) {
		if was, asked := names[name]; asked {
			names[name] = was + n
		}
	}
	for _, name := range o.bound {
		add(name, 1)
	}
	for _, d := range o.Declared[min(o.began.declared, len(o.Declared)):] {
		for _, name := range d.Names {
			add(name, -1)
		}
	}
	for _, d := range o.Hoisted[min(o.began.hoisted, len(o.Hoisted)):] {
		for _, name := range d.Names {
			if d.Keyword.Text == "var" {
				add(name, -1)
			}
		}
	}
}

// noteBound notes a name that is declared, wherever that is.
func (p *parser) noteBound(name string) {
	if p.outline != nil {
		p.outline.bound = push(p, p.outline.bound, name)
	}
}

// noteWord notes a word that is a variable, or may turn out to be a parameter.
func (p *parser) noteWord(t token) {
	if p.outline != nil {
		p.outline.words = push(p, p.outline.words, t.mark())
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
		p.noteBound(p.src[w.start:w.end])
	}
	p.outline.words = p.outline.words[:from]
}

func (p *parser) noteAssigned(t token) {
	if p.outline != nil && t.kind == word {
		p.assigned(t.mark())
	}
}

func (p *parser) assigned(m mark) {
	p.charge(assignedSize)
	p.outline.Assigned = push(p, p.outline.Assigned, Name{Text: p.src[m.start:m.end], Start: int(m.start), Property: m.property})
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
		p.outline.targets = push(p, p.outline.targets, t.mark())
	}
}

// noteProperty notes the name of a property, which is a variable's too.
func (p *parser) noteProperty(t token) {
	if p.outline != nil && t.kind == word {
		m := t.mark()
		m.property = true
		p.outline.targets = push(p, p.outline.targets, m)
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
		for _, m := range o.targets[from:] {
			p.assigned(m)
		}
		o.targets = o.targets[:from]
	}
}

func (p *parser) noteImport(keyword token) {
	if p.outline != nil {
		p.outline.Imports = push(p, p.outline.Imports, keyword.start)
	}
}

func (p *parser) noteThis() {
	if p.outline != nil && p.owners == 0 {
		p.outline.This = push(p, p.outline.This, p.tok.start)
	}
}

func (p *parser) noteModule() {
	if p.outline != nil {
		p.outline.Module = true
	}
}

// outlineSizes is how far the lists of an outline go.
type outlineSizes struct {
	declared, hoisted, imports, this, assigned, words, targets int
	module                                                     bool
}

func (o *Outline) save() (s outlineSizes) {
	if o != nil {
		s = outlineSizes{len(o.Declared), len(o.Hoisted), len(o.Imports), len(o.This), len(o.Assigned), len(o.words), len(o.targets), o.Module}
	}
	return s
}

func (o *Outline) restore(s outlineSizes) {
	if o != nil {
		o.Declared, o.Imports, o.Assigned = o.Declared[:s.declared], o.Imports[:s.imports], o.Assigned[:s.assigned]
		o.Hoisted, o.This, o.Module = o.Hoisted[:s.hoisted], o.This[:s.this], s.module
		o.words = o.words[:min(s.words, len(o.words))]
		o.targets = o.targets[:min(s.targets, len(o.targets))]
	}
}
