package typescript

// controlStatement parses a statement that controls others, and reports whether
// there was one. With its labels it begins at first.
func (p *parser) controlStatement(first int) bool {
	switch p.tok.text {
	case "if":
		p.conditional()
	case "for":
		p.forLoop(first)
	case "while", "with":
		p.next()
		p.condition()
		p.statement()
	case "do":
		p.doLoop()
	case "switch":
		p.switchStatement()
	case "try":
		p.tryStatement()
	case "return", "throw":
		p.next()
		if !p.tok.nl && !p.is(";") && !p.is("}") && p.tok.kind != eof {
			p.expr(0)
		}
		p.endStatement()
	case "break", "continue":
		p.next()
		if p.tok.kind == word && !p.tok.nl {
			p.next()
		}
		p.endStatement()
	case "debugger":
		p.next()
		p.endStatement()
	default:
		return false
	}
	return true
}

func (p *parser) condition() {
	p.expect("(")
	p.expr(0)
	p.expect(")")
}

// conditional parses if and else; a chain of else if is a loop.
func (p *parser) conditional() {
	for {
		p.next()
		p.condition()
		p.statement()
		if !p.acceptWord("else") {
			return
		}
		if !p.isWord("if") {
			p.statement()
			return
		}
	}
}

func (p *parser) doLoop() {
	p.next()
	p.statement()
	if !p.acceptWord("while") {
		p.unexpected()
	}
	p.condition()
	// Behind do ... while () none is needed, even on the same line: ECMA-262, 12.10.1.
	p.accept(";")
}

func (p *parser) forLoop(first int) {
	p.next()
	awaits := p.acceptWord("await")
	of, end := 0, 0
	var names []string
	p.expect("(")
	switch {
	case p.is(";"):
	case p.loopMark != "" && p.isWord("let") && p.declaresVariables():
		p.variables(noIn, &names)
	case p.declaresVariables():
		p.variables(noIn, nil)
	default:
		p.expr(noIn)
	}
	switch {
	case p.acceptWord("of"):
		// No comma expression here, unlike after in: ECMA-262, 14.7.5.
		of = p.tok.start
		p.assign(0)
		end = p.last
	case p.acceptWord("in"):
		p.expr(0)
	default:
		p.expect(";")
		if !p.is(";") {
			p.expr(0)
		}
		p.expect(";")
		p.marked(names)
		if !p.is(")") {
			p.expr(0)
		}
	}
	p.expect(")")
	p.statement()
	if awaits && of > 0 && p.guard != nil {
		p.guarded(first, of, end)
	}
}

func (p *parser) switchStatement() {
	p.next()
	p.condition()
	s := p.enterBlock()
	p.expect("{")
	for !p.is("}") {
		switch {
		case p.acceptWord("case"):
			p.assign(noColon)
			for p.accept(",") {
				p.assign(noColon)
			}
			p.expect(":")
		case p.isWord("default") && p.peek().is(":"):
			p.next()
			p.next()
		default:
			p.statement()
		}
	}
	p.leaveBlock(s)
}

func (p *parser) tryStatement() {
	p.next()
	p.block()
	if p.acceptWord("catch") {
		if p.accept("(") {
			p.binding(nil)
			p.annotation()
			p.expect(")")
		}
		p.block()
	}
	if p.acceptWord("finally") {
		p.block()
	}
}
