package subprocess

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/internal/typescript"
)

// The driver's: constantName is a variable that throws as an assignment to a constant
// does, however it is used; keeping is a function that returns what another does, or
// undefined where that throws; assigningImport, behind the word, has a static import
// assign to variables.
const constantName, keeping, assigningImport = "__const", "__kept", "/*__set*/"

// Names are remembered up to so many of a context, and of this length.
const maxNames, maxName = 1 << 14, 256

// names are what the programs of a node process have declared. V8 lets a later
// program declare again by let what let or class did, and by var or function what
// these did, for which it keeps one place each: what is to be of another kind is
// made of the kind that it was.
type names map[string]declared

type declared struct {
	variable bool // by var or function, and not by let, class or import
	constant bool
	set      bool // a program that declares it has come to its end
}

// constants makes assignments to constants throw.
func (n names) constants(e *edits, o *typescript.Outline) {
	own := map[string]bool{}
	for _, d := range slices.Concat(o.Hoisted, o.Declared) {
		for _, of := range d.Names {
			own[of.Text] = constant(d)
		}
	}
	for _, a := range o.Assigned {
		is, declared := own[a.Text]
		if !(is || !declared && n[a.Text].constant) || o.Within(a) {
			continue
		}
		switch {
		case a.Logical > 0: // it may come to no assignment
			e.insert(a.Logical, " "+constantName+" =")
		case a.Property:
			e.insert(a.End(), ": "+a.Text+"["+constantName+"]")
		default:
			e.insert(a.End(), "["+constantName+"]")
		}
	}
}

// kinds reports whether names of a declaration were declared by var or function, and
// by anything else.
func (n names) kinds(d typescript.Declaration) (variable, other bool) {
	for _, of := range d.Names {
		if was, known := n[of.Text]; known {
			variable, other = variable || was.variable, other || !was.variable
		}
	}
	return variable, other
}

// full reports whether a declaration is none to be remembered.
func (n names) full(d typescript.Declaration) bool {
	return slices.ContainsFunc(d.Names, func(of typescript.Name) bool {
		_, known := n[of.Text]
		return !known && (len(n) >= maxNames || len(of.Text) > maxName)
	})
}

func constant(d typescript.Declaration) bool {
	return d.Keyword.Text == "const" && len(d.Bare) == 0 || d.Keyword.Text == "import"
}

// note remembers what a program has declared. One with a syntax error may not have
// come to that.
func (n names) note(p *program, syntaxError, done bool) {
	o := p.outline
	if n == nil || o == nil || !o.Complete {
		return
	}
	for _, name := range p.added {
		n[name] = declared{variable: true}
	}
	for _, d := range o.Declared {
		n.noteDeclaration(d, syntaxError, done)
	}
	for _, d := range o.Hoisted {
		if _, other := n.kinds(d); other && d.Keyword.Text == "function" {
			continue // V8 does not hoist it
		}
		n.noteDeclaration(d, syntaxError, false)
	}
}

func (n names) noteDeclaration(d typescript.Declaration, syntaxError, done bool) {
	if n.full(d) {
		return
	}
	variable, other := n.kinds(d)
	variable = variable || !other && (d.Keyword.Text == "var" || d.Keyword.Text == "function")
	for _, of := range d.Names {
		was, known := n[of.Text]
		if !known {
			was.variable = variable
		}
		if !syntaxError || known {
			was.constant = constant(d) && !syntaxError
		}
		was.set = was.set || done
		n[of.Text] = was
	}
}

// edits are made to a program, each at an offset.
type edits []edit

type edit struct {
	start, end int
	text       string
}

func (e *edits) insert(at int, text string) { *e = append(*e, edit{at, at, text}) }
func (e *edits) replace(word typescript.Name, text string) {
	*e = append(*e, edit{word.Start, word.End(), text})
}

func (e *edits) imports(o *typescript.Outline) {
	for _, at := range o.Imports {
		*e = append(*e, edit{at, at + len("import"), dynamicImport})
	}
}

func (e edits) apply(code string) string {
	if len(e) == 0 {
		return code
	}
	slices.SortStableFunc(e, func(a, b edit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	var b strings.Builder
	b.Grow(len(code))
	done := 0
	for _, x := range e {
		b.WriteString(code[done:x.start])
		b.WriteString(x.text)
		done = x.end
	}
	b.WriteString(code[done:])
	return b.String()
}
