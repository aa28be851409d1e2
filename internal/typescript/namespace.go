package typescript

import (
	"strconv"
	"strings"
)

// namespace parses a namespace. Its body becomes a function, whose parameter is
// the object that exports go to. exports is that of the namespace around it, if
// that exports this one. A namespace that is not live is all types, and of a
// known name there was a declaration before.
func (p *parser) namespace(exports string) (live, known bool) {
	start := p.tok.start
	p.next()
	path := p.namespacePath()
	if !p.is("{") {
		p.unexpected()
	}
	head := len(p.edits)
	p.replace(start, p.tok.end, "")
	p.barrier = len(p.edits)

	outer := surroundings{p.exports, p.live, p.inside}
	parts := p.enterSpaces(path, exports != "")
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
	p.exports, p.live, p.inside = outer.exports, outer.live, outer.inside
	// namespacePath went one deeper for each name.
	p.depth -= len(path)
	if live {
		known = p.declare(path[0])
		if exports == "" {
			p.charge(128)
			p.scopes[len(p.scopes)-1][path[0]] = parts[0].space
		}
		for i, name := range path {
			p.exported(parts[i].around, name)
		}
		before, after := p.namespaceText(path, exports, known, parts)
		p.edits[head].text = p.text(before)
		p.replace(p.tok.start, p.tok.end, after)
	}
	p.next()
	return live, known
}

// exportNamespace parses one after export. What was declared before is exported
// already.
func (p *parser) exportNamespace(e *export) (live bool) {
	live, known := p.namespace("")
	if known {
		p.unexport(e)
	}
	return live
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
func (p *parser) namespaceText(path []string, exports string, known bool, parts []part) (before, after string) {
	var head, tail strings.Builder
	ends := make([]string, 0, len(path))
	for i, name := range path {
		if i > 0 {
			exports = exportsVariable(p.nested + i)
		}
		if i > 0 {
			head.WriteString("let " + name + "; ")
		} else if !known {
			head.WriteString(p.variable() + name + "; ")
		}
		own := exportsVariable(p.nested + i + 1)
		names, end := reopen(own, parts[i].earlier)
		head.WriteString("((" + own + ") => { " + names)
		arg := name + " || (" + name + " = {})"
		if exports != "" {
			arg = name + " = " + exports + "." + name + " || (" + exports + "." + name + " = {})"
		}
		ends = append(ends, end+"})("+arg+");")
	}
	for i := len(ends) - 1; i >= 0; i-- {
		tail.WriteString(ends[i])
	}
	return head.String(), tail.String()
}

// exportFromNamespace parses what a namespace exports, from after export on.
func (p *parser) exportFromNamespace(e *export, decorators []string) (erased bool) {
	p.unexport(e)
	ns, n := p.exports, p.peek()
	if len(decorators) > 0 && !p.isWord("class") && !p.isWord("abstract") {
		p.unexpected()
	}
	switch p.tok.text {
	case "namespace", "module":
		if n.kind == word {
			live, _ := p.namespace(ns)
			return !live
		}
	case "import":
		return p.exportImport()
	case "class", "abstract":
		p.exportName(p.classDeclaration(decorators, nil))
		return false
	case "function", "async":
		return p.exportFunction()
	case "enum":
		p.exported(p.inside, n.text)
		p.enum(ns)
		return false
	case "const":
		if n.word("enum") {
			p.blank(p.tok.start, p.tok.end)
			p.next()
			p.exported(p.inside, p.peek().text)
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
	p.exported(p.inside, name)
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
			p.exported(p.inside, name)
		}
		b.WriteString(`["` + name + `", () => ` + name + ", ($$v) => { " + name + " = $$v; }], ")
	}
	b.WriteString("]) Object.defineProperty(" + p.exports + ", $$k, { enumerable: true, configurable: true, get: $$g, set: $$s });")
	p.insert(p.last, b.String())
}
