package typescript

// exportDeclaration parses an export, and reports whether it was of types only.
func (p *parser) exportDeclaration() (erased bool) {
	start := p.tok.start
	p.next()
	p.noDecorators()
	n := p.peek()
	switch {
	case p.isWord("default"):
		return p.exportDefault(start)
	case p.is("="):
		p.replace(start, p.tok.end, "module.exports =")
		p.next()
		p.expr(0)
		p.endStatement()
		return false
	case p.is("*"), p.is("{"):
		p.exportList(start)
		return false
	case p.isWord("type") && (n.is("{") || n.is("*")):
		p.next()
		p.exportList(start)
		return true
	}
	done, erased := false, false
	if p.tok.kind == word && !p.isWord("export") {
		p.changeTop(start, p.tok.start, "")
		done, erased = p.declaration()
	}
	if !done {
		p.unexpected()
	}
	return erased
}

// exportList parses * from "a", or { a, b as c } perhaps with a from.
func (p *parser) exportList(start int) {
	if p.accept("*") {
		if p.acceptWord("as") {
			p.moduleName()
		}
	} else {
		p.specifiers()
		if !p.isWord("from") {
			p.endStatement()
			p.changeTop(start, p.last, ";")
			return
		}
	}
	if !p.acceptWord("from") {
		p.unexpected()
	}
	module := p.tok
	p.from()
	p.changeTop(start, p.last, p.loads(module))
}

func (p *parser) exportDefault(start int) (erased bool) {
	p.next()
	p.noDecorators()
	n, at := p.peek(), p.tok.start
	switch {
	case p.isWord("class"), p.isWord("abstract") && n.word("class") && !n.nl:
		p.changeTop(start, at, ";")
		p.classDeclaration()
		return false
	case p.isWord("interface") && n.kind == word && !n.nl:
		return p.typeDeclaration()
	case p.isWord("function"), p.isWord("async") && n.word("function") && !n.nl:
		p.acceptWord("async")
		p.changeTop(start, at, ";")
		return !p.function(true)
	}
	p.changeTop(start, at, ";0,")
	p.assign(0)
	p.endStatement()
	return false
}
