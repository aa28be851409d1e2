package typescript

// statement parses a statement.
func (p *parser) statement() {
	p.enter()
	if !p.erasedStatement() {
		p.live = true
	}
	p.leave()
}

// erasedStatement parses a statement and reports whether all of it was types.
func (p *parser) erasedStatement() bool {
	mark, start := p.mark(), p.tok.start
	first := start // with labels
	if p.label >= 0 {
		first, p.label = p.label, -1
	}
	p.noDecorators()
	switch {
	case p.accept(";"):
		return false
	case p.is("{"):
		p.block()
		return false
	case p.tok.kind == word:
		if p.controlStatement(first) {
			return false
		}
		if done, erased := p.declaration(); done {
			if erased {
				p.drop(mark, start)
			}
			return erased
		}
		if p.peek().is(":") && !reserved(p.tok.text) {
			p.next()
			p.next()
			p.label = first
			p.statement()
			return false
		}
	}
	p.expr(0)
	p.endStatement()
	return false
}

// noDecorators ends the parse at a decorator.
func (p *parser) noDecorators() {
	if p.is("@") {
		p.fail(p.tok.start, "Decorators are not supported")
	}
}

// endStatement parses a semicolon, or the lack of one.
func (p *parser) endStatement() {
	if !p.accept(";") && !p.is("}") && p.tok.kind != eof && !p.tok.nl {
		p.unexpected()
	}
}

// declaration parses a declaration, if there is one at hand, and reports
// whether all of it was types.
func (p *parser) declaration() (done, erased bool) {
	switch p.tok.text {
	case "var", "let", "const", "using", "await":
		if p.isWord("const") && p.peek().word("enum") {
			p.erase()
			p.enum()
			return true, false
		}
		if !p.declaresVariables() {
			return false, false
		}
		p.variables(0, nil)
		p.endStatement()
		return true, false
	case "function":
		return true, !p.function(true)
	case "async":
		if n := p.peek(); n.word("function") && !n.nl {
			p.next()
			return true, !p.function(true)
		}
	case "class":
		p.classDeclaration()
		return true, false
	case "abstract":
		if n := p.peek(); n.word("class") && !n.nl {
			p.classDeclaration()
			return true, false
		}
	case "enum":
		p.enum()
		return true, false
	case "import":
		if n := p.peek(); !n.is("(") && !n.is(".") {
			p.module = true
			return true, p.importDeclaration()
		}
	case "export":
		p.module = true
		return true, p.exportDeclaration()
	case "namespace", "module":
		if n := p.peek(); n.kind == word && !n.nl {
			p.namespace()
			return true, true
		}
		return p.typeDeclaration(), true
	case "interface", "type", "declare", "global":
		return p.typeDeclaration(), true
	}
	return false, false
}

func (p *parser) block() {
	s := p.enterBlock()
	p.expect("{")
	for !p.is("}") {
		p.statement()
	}
	p.leaveBlock(s)
}
