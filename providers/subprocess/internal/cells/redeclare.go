package cells

import (
	"cmp"
	"maps"
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

// Names are what the programs of a node process have declared. V8 lets a later
// program declare again by let what let or class did, and by var or function what
// these did, for which it keeps one place each: what is to be of another kind is
// made of the kind that it was.
type Names map[string]declaration

type declaration struct {
	variable bool // by var or function, and not by let, class or import
	constant bool
	set      bool // a program that declares it has come to its end
}

// constants makes assignments to constants throw.
func (n Names) constants(e *edits, o *typescript.Outline) {
	own := map[string]bool{}
	for _, d := range slices.Concat(o.Hoisted, o.Declared) {
		for _, of := range d.Names {
			own[of] = constant(d)
		}
	}
	for _, a := range o.Assigned {
		// What the program itself declares goes before what others did.
		is, declared := own[a.Text]
		if !(is || !declared && n[a.Text].constant) || a.Within {
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
func (n Names) kinds(d typescript.Declaration) (variable, other bool) {
	for _, of := range d.Names {
		if was, known := n[of]; known {
			variable, other = variable || was.variable, other || !was.variable
		}
	}
	return variable, other
}

// full reports whether a declaration is none to be remembered.
func (n Names) full(d typescript.Declaration) bool {
	more := 0
	return slices.ContainsFunc(d.Names, func(of string) bool {
		if _, known := n[of]; known {
			return false
		}
		more++
		return len(n)+more > maxNames || len(of) > maxName
	})
}

func constant(d typescript.Declaration) bool {
	return d.Keyword.Text == "const" && len(d.Bare) == 0 || d.Keyword.Text == "import"
}

// Note remembers what a program declares, which is at its end. One with a syntax error
// may not have come to that.
func (n Names) Note(declares Names, syntaxError, done bool) {
	if n == nil {
		return
	}
	for name, is := range declares {
		is.constant = is.constant && !syntaxError
		is.set = n[name].set || is.set && done
		n[name] = is
	}
}

// declares returns what a program declares once it has come to its end, of the names
// that are to be remembered: an outline may be many times as large.
func (n Names) declares(o *typescript.Outline, added []string) Names {
	if n == nil || !o.Complete {
		return nil
	}
	// A copy: what the program declares counts once it has come to its end.
	after, of := maps.Clone(n), Names{}
	for _, name := range added {
		after[name] = declaration{variable: true}
		of[strings.Clone(name)] = after[name]
	}
	for _, d := range o.Declared {
		after.declare(d, true, of)
	}
	for _, d := range o.Hoisted {
		if _, other := after.kinds(d); other && d.Keyword.Text == "function" {
			continue // V8 does not hoist it
		}
		after.declare(d, false, of)
	}
	return of
}

func (n Names) declare(d typescript.Declaration, set bool, noted Names) {
	if n.full(d) {
		return
	}
	variable, other := n.kinds(d)
	variable = variable || !other && (d.Keyword.Text == "var" || d.Keyword.Text == "function")
	for _, of := range d.Names {
		was, known := n[of]
		if !known {
			was.variable = variable
		}
		was.constant, was.set = constant(d), was.set || set
		n[of] = was
		noted[strings.Clone(of)] = was // and not the source with it
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
	if o.Module {
		for _, at := range o.This {
			*e = append(*e, edit{at, at + len("this"), noThis})
		}
	}
}

func (e edits) apply(code string) string {
	if len(e) == 0 {
		return code
	}
	// Stable: what goes to one place stays in the order in which it was given.
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
