package typescript

// importDeclaration parses an import, and reports whether it was of types only.
func (p *parser) importDeclaration() (erased bool) {
	keyword := p.tok
	p.next()
	typesOnly := p.importsTypes()
	if typesOnly {
		p.next()
	}
	if p.tok.kind == word && p.peek().is("=") {
		if !typesOnly {
			p.replace(keyword.start, keyword.end, "const")
		}
		p.next()
		p.next()
		p.expr(0)
		p.endStatement()
		return typesOnly
	}
	var im importClause
	for p.tok.kind != str {
		switch {
		case p.is("{"):
			im.names = p.specifiers()
		case p.accept("*"):
			if !p.acceptWord("as") {
				p.unexpected()
			}
			im.star = p.tok.text
			p.moduleName()
		case p.isWord("from") && p.peek().kind == str, p.is(","):
			p.next()
		case p.tok.kind == word && im.def == "":
			im.def = p.tok.text
			if p.next(); !p.is(",") && !p.isWord("from") {
				p.unexpected()
			}
		default:
			p.unexpected()
		}
	}
	module := p.tok
	p.from()
	if p.stands != nil {
		p.changeTop(keyword.start, p.last, im.script(p, module))
	}
	return typesOnly
}

// importsTypes reports whether type, at hand, is no name but says that the
// import is of types.
func (p *parser) importsTypes() bool {
	n := p.peek()
	return p.isWord("type") && (n.is("{") || n.is("*") || n.kind == word && n.text != "from")
}

// from parses the module's name, the attributes and the end of an import or
// export.
func (p *parser) from() {
	if p.tok.kind != str {
		p.unexpected()
	}
	p.next()
	// assert is a name as well, and begins the next statement on a new line.
	if p.isWord("with") || p.isWord("assert") && !p.tok.nl {
		p.next()
		p.object()
	}
	p.endStatement()
}

// specifiers parses { a, b as c, type d } and erases the types among them.
func (p *parser) specifiers() []specifier {
	names := []specifier{}
	p.next()
	for !p.is("}") {
		start, typeOnly := p.tok.start, p.specifiesType()
		if typeOnly {
			p.next()
		}
		name := p.tok
		p.moduleName()
		local := name
		if p.acceptWord("as") {
			local = p.tok
			p.moduleName()
		}
		p.charge(64)
		names = append(names, specifier{p.src[name.start:name.end], p.src[local.start:local.end]})
		if !p.is("}") {
			p.expect(",")
		}
		if typeOnly {
			p.blank(start, p.last)
		}
	}
	p.next()
	return names
}

func (p *parser) moduleName() {
	if p.tok.kind != word && p.tok.kind != str {
		p.unexpected()
	}
	p.next()
}

// specifiesType reports whether type, at hand, is no name, as it is in { type as b }.
func (p *parser) specifiesType() bool {
	n := p.peek()
	return p.isWord("type") && (n.kind == str || n.kind == word && n.text != "as")
}
