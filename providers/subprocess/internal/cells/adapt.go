package cells

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolcell/toolcell/internal/typescript"
)

// An adaptation is of one program.
type adaptation struct {
	Names
	edits
	code   string
	there  map[string]bool // what can be assigned to, whatever the program declares
	added  []string        // what is to be declared by var
	firsts []string        // what comes before all else, the last one first
	begins bool            // the program begins with what has to stay its beginning
}

// adapt returns the code of a program, so that it can declare again what programs
// before it have, and make its import(...) calls of the driver's. Constants are
// variables to V8, and assignments to them are made to throw. The code declares
// what was added by var, however the program does.
func (n Names) adapt(o *typescript.Outline, code string) (adapted string, added []string) {
	a := adaptation{Names: n, code: code, there: map[string]bool{}, begins: directive(code)}
	a.imports(o)
	if n != nil && o.Complete {
		a.declarations(o)
		n.constants(&a.edits, o)
		if len(a.added) > 0 {
			a.insert(len(code), "\nvar "+strings.Join(a.added, ", ")+";")
		}
		if len(a.firsts) > 0 {
			slices.Reverse(a.firsts)
			a.edits = slices.Insert(a.edits, 0, edit{text: strings.Join(a.firsts, "")})
		}
	}
	return a.apply(code), a.added
}

// declarations adapts them, those first that are to be there before others.
func (a *adaptation) declarations(o *typescript.Outline) {
	var others []typescript.Declaration
	for _, d := range o.Declared {
		switch {
		case a.full(d):
		case d.Keyword.Text == "function":
			a.function(d.Names[0], d.Start)
		default:
			others = append(others, d)
		}
	}
	for _, d := range o.Hoisted {
		if d.Keyword.Text == "var" && !a.full(d) {
			a.hoisted(d)
		}
	}
	for _, d := range others {
		a.declaration(d)
	}
}

// function turns a function into a variable, which can be called before its place too.
func (a *adaptation) function(of string, start int) {
	if was, known := a.Names[of]; !known || was.variable || a.begins {
		return
	}
	// V8 refuses a function where a let was: the function gets another name, and the
	// variable holds it before anything runs. Its name for traces stays.
	if !a.there[of] {
		a.first("let " + of + " = Object.defineProperty($$" + of + ", 'name', { value: '" + of + "' }); ")
	}
	a.there[of] = true
	a.insert(start, "$$")
}

// hoisted adapts a var within a statement, where no let can stand in for it.
func (a *adaptation) hoisted(d typescript.Declaration) {
	_, other := a.kinds(d)
	switch {
	case !other:
	case !d.Head:
		a.assign(d)
	case d.Names[0] != "async": // for (async of ...) is none
		a.provide(d)
		a.replace(d.Keyword, "   ")
	}
}

func (a *adaptation) declaration(d typescript.Declaration) {
	variable, other := a.kinds(d)
	// let is for what nothing else of the program declares, or uses before.
	unset := a.begins && !slices.ContainsFunc(d.Names, func(of string) bool { return a.there[of] || a.Names[of].set })
	word := d.Keyword
	switch {
	case word.Text == "const" && len(d.Bare) > 0:
		// It is an error, which V8 tells.
	case word.Text == "import" && variable:
		a.provide(d)
		a.insert(word.End(), assigningImport)
	case variable && other, word.Text == "var" && other && !unset:
		a.assign(d)
	case word.Text == "const" && !variable:
		// As long as the word was, so that columns stay.
		a.replace(word, "let  ")
	case word.Text == "const":
		a.replace(word, "var  ")
	case word.Text == "let" && variable:
		a.replace(word, "var")
		a.clear(d)
	case word.Text == "var" && other:
		a.replace(word, "let")
		a.keep(d)
	case word.Text == "class" && variable:
		a.insert(word.Start, "var "+d.Names[0]+" = ")
		// A declaration ends by itself, an expression does not.
		a.insert(d.End, ";")
	}
}

// assign makes assignments of a declaration, which are all there is of variables of
// both kinds, and within statements. What they are in has no value, as a declaration
// has none, and needs no semicolon before it.
func (a *adaptation) assign(d typescript.Declaration) {
	if d.End == 0 {
		return
	}
	a.provide(d)
	word := d.Keyword
	if strings.HasPrefix(a.code[word.End():], " ") {
		word.Text += " "
	}
	a.replace(word, "var[]=[")
	if word.Text = d.Keyword.Text; word.Text == "let" {
		a.clear(d)
	}
	a.insert(d.End, "]")
}

// provide sees to it that the names of a declaration can be assigned to.
func (a *adaptation) provide(d typescript.Declaration) {
	for _, of := range d.Names {
		was, known := a.Names[of]
		switch {
		case a.there[of]:
		case !known:
			a.added = append(a.added, of)
		case !was.variable && !was.set && !a.begins:
			a.first("let " + of + kept(of) + "; ")
		}
		a.there[of] = true
	}
}

// clear sets the variables without an initializer.
func (a *adaptation) clear(d typescript.Declaration) {
	for _, at := range d.Bare {
		a.insert(at, " = void 0")
	}
}

// keep has the variables without an initializer keep their values, as var does.
func (a *adaptation) keep(d typescript.Declaration) {
	for _, of := range d.Names {
		a.there[of] = true
	}
	for _, at := range d.Bare {
		// A search among all names, for each, would take the host seconds.
		name := a.code[len(strings.TrimRightFunc(a.code[:at], inName)):at]
		if _, known := a.Names[name]; known {
			a.insert(at, kept(name))
		}
	}
}

func inName(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || r >= 0x80 && !unicode.IsSpace(r) && r != '\ufeff'
}

// kept initializes a variable with what it has.
func kept(name string) string { return " = " + keeping + "(() => " + name + ")" }

// first inserts text before all else.
func (a *adaptation) first(text string) { a.firsts = append(a.firsts, text) }

// directive reports whether a program begins with what has to stay its beginning.
func directive(code string) bool {
	code = strings.TrimSpace(code)
	return code != "" && strings.ContainsRune("#\"'", rune(code[0]))
}
