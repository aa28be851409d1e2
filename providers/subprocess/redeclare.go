package subprocess

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/internal/typescript"
)

// constantVariable is the driver's property that throws as an assignment to a
// constant does.
const constantVariable = "[__const]"

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
}

// adapt returns the code of a program, so that it can declare again what programs
// before it have, and make its import(...) calls of the driver's. Constants are
// variables to V8, and assignments to them are made to throw.
func (n names) adapt(o *typescript.Outline, code string) string {
	var e edits
	e.imports(o)
	if n != nil && o.Complete {
		for _, d := range o.Declared {
			if !n.full(d) {
				n.adaptDeclaration(&e, d, code)
			}
		}
		n.constants(&e, o)
	}
	return e.apply(code)
}

func (n names) adaptDeclaration(e *edits, d typescript.Declaration, code string) {
	variable, other := n.kinds(d)
	word, of := d.Keyword, d.Names[0]
	switch {
	case word.Text == "const" && len(d.Bare) > 0:
		// It is an error, which V8 tells.
	case variable && other:
		// All there is of both kinds is an assignment.
		if d.End > 0 {
			e.replace(word, "void(")
			for _, at := range d.Bare {
				if word.Text == "let" {
					e.insert(at, " = void 0")
				}
			}
			e.insert(d.End, ")")
		}
	case word.Text == "const" && !variable:
		e.replace(word, "let  ")
	case word.Text == "const":
		e.replace(word, "var  ")
	case word.Text == "let" && variable:
		e.replace(word, "var")
	case word.Text == "var" && other:
		e.replace(word, "let")
	case word.Text == "class" && variable && !d.Default:
		e.insert(word.Start, "var "+of.Text+" = ")
		e.insert(d.End, ";")
	case word.Text == "function" && other && !directive(code):
		// It is called before its place too.
		*e = slices.Insert(*e, 0, edit{text: "let " + of.Text + " = Object.defineProperty($$" + of.Text + ", 'name', { value: '" + of.Text + "' }); "})
		e.insert(of.Start, "$$")
	}
}

// directive reports whether a program begins with what has to stay its beginning.
func directive(code string) bool {
	code = strings.TrimSpace(code)
	return code != "" && strings.ContainsRune("#\"'", rune(code[0]))
}

// constants makes assignments to constants throw.
func (n names) constants(e *edits, o *typescript.Outline) {
	own := map[string]bool{}
	for _, d := range o.Declared {
		for _, of := range d.Names {
			own[of.Text] = constant(d)
		}
	}
	for _, a := range o.Assigned {
		is, declared := own[a.Text]
		if (is || !declared && n[a.Text].constant) && !o.Within(a) {
			of := ""
			if a.Property {
				of = ": " + a.Text
			}
			e.insert(a.End(), of+constantVariable)
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
func (n names) note(o *typescript.Outline, syntaxError bool) {
	if n == nil || o == nil || !o.Complete {
		return
	}
	for _, d := range o.Declared {
		if n.full(d) {
			continue
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
			n[of.Text] = was
		}
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
