package typescript

import (
	"strconv"
	"strings"
)

// namespace parses a namespace. Its body becomes a function, whose parameter is
// the object that exports go to. exports is that of the namespace around it, if
// that exports this one. A namespace that is not live is all types.
func (p *parser) namespace(exports string) (live bool) {
	start := p.tok.start
	p.next()
	path := p.namespacePath()
	if !p.is("{") {
		p.unexpected()
	}
	head := len(p.edits)
	p.replace(start, p.tok.end, "")
	p.barrier = len(p.edits)

	outer := surroundings{p.exports, p.live}
	p.scopes = append(p.scopes, nil)
	p.nested += len(path)
	p.exports, p.live = exportsVariable(p.nested), false
	p.next()
	for !p.is("}") {
		p.statement()
	}
	live = p.live
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.nested -= len(path)
	p.exports, p.live = outer.exports, outer.live
	// namespacePath went one deeper for each name.
	p.depth -= len(path)
	if live {
		p.declareOnce(start, path[0])
		before, after := p.namespaceText(path, exports)
		p.edits[head].text = p.text(before)
		p.replace(p.tok.start, p.tok.end, after)
	}
	p.next()
	return live
}

// declareOnce declares an enum or a namespace, which no other declaration may share its
// name with.
func (p *parser) declareOnce(at int, name string) {
	if p.declare(name) {
		p.fail(at, "Declarations of one name are not merged: "+name+" is declared already")
	}
}

// namespacePath parses a.b.c, which nests as deep as it is long.
func (p *parser) namespacePath() (path []string) {
	for {
		if p.tok.kind != word {
			p.unexpected()
		}
		p.enter()
		path = append(path, p.tok.text)
		p.next()
		if !p.accept(".") {
			return path
		}
	}
}

// exportsVariable is the parameter of a namespace's function. It is no
// namespace's name, for a namespace may export something of its own name.
func exportsVariable(nested int) string { return "$$" + strconv.Itoa(nested) }

// namespaceText returns what stands before and after the body of a namespace.
func (p *parser) namespaceText(path []string, exports string) (before, after string) {
	var head strings.Builder
	for i, name := range path {
		if i > 0 {
			exports = exportsVariable(p.nested + i)
			head.WriteString("let " + name + "; ")
		} else {
			head.WriteString(p.variable() + name + "; ")
		}
		head.WriteString("((" + exportsVariable(p.nested+i+1) + ") => { ")
		arg := name + " = {}"
		if exports != "" {
			arg = name + " = " + exports + "." + name + " = {}"
		}
		after = "})(" + arg + ");" + after
	}
	return head.String(), after
}

// exportFromNamespace parses what a namespace exports, from after export on.
func (p *parser) exportFromNamespace(e *export) (erased bool) {
	p.unexport(e)
	ns, n := p.exports, p.peek()
	switch p.tok.text {
	case "namespace", "module":
		if n.kind == word {
			return !p.namespace(ns)
		}
	case "import":
		return p.exportImport()
	case "class", "abstract":
		p.exportName(p.classDeclaration())
		return false
	case "function", "async":
		return p.exportFunction()
	case "enum":
		p.enum(ns)
		return false
	case "const":
		if n.word("enum") {
			p.blank(p.tok.start, p.tok.end)
			p.next()
			p.enum(ns)
			return false
		}
		p.exportVariables()
		return false
	case "var", "let":
		p.exportVariables()
		return false
	case "interface", "type", "declare":
		if p.typeDeclaration() {
			return true
		}
	}
	p.unexpected()
	return false
}

// exportName has a declaration that just ended assigned to the namespace.
func (p *parser) exportName(name string) {
	if name == "" {
		p.unexpected()
	}
	p.insert(p.last, " "+p.exports+"."+name+" = "+name+";")
}

func (p *parser) exportFunction() (erased bool) {
	p.acceptWord("async")
	name, second := p.peek2()
	if name.is("*") {
		name = second
	}
	if !p.isWord("function") || name.kind != word {
		p.unexpected()
	}
	if !p.function(true) {
		return true
	}
	p.exportName(name.text)
	return false
}

// exportVariables parses exported variables. Constants with plain names are
// assigned to the namespace as they are initialized; others can change, and
// patterns hold names anywhere, so accessors are defined for those.
func (p *parser) exportVariables() {
	constant, exports := p.isWord("const"), ""
	if constant {
		exports = p.exports
	}
	p.next()
	var names []string
	p.declarators(0, &names, exports)
	p.endStatement()
	if len(names) == 0 {
		return
	}
	p.charge(40 * len(names))
	var b strings.Builder
	b.WriteString("; for (const [$$k, $$g, $$s] of [")
	for _, name := range names {
		if constant {
		}
		b.WriteString(`["` + name + `", () => ` + name + ", ($$v) => { " + name + " = $$v; }], ")
	}
	b.WriteString("]) Object.defineProperty(" + p.exports + ", $$k, { enumerable: true, configurable: true, get: $$g, set: $$s });")
	p.insert(p.last, b.String())
}
