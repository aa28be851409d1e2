package typescript

// postfix parses what follows a primary expression: members, calls, templates
// and what TypeScript adds.
func (p *parser) postfix() {
	for {
		t := p.tok
		if t.kind == backquote {
			p.templateLiteral()
			continue
		}
		if t.kind != punct {
			return
		}
		switch t.text {
		case ".":
			p.next()
			p.memberName()
		case "?.":
			p.next()
			p.optionalChain()
		case "[":
			p.next()
			p.expr(0)
			p.expect("]")
		case "(":
			p.arguments()
		case "!":
			// On a new line it negates what follows.
			if t.nl {
				return
			}
			p.next()
			p.blank(t.start, t.end)
		case "++", "--":
			// On a new line it is the next statement's: ECMA-262, 12.10.1.
			if !t.nl {
				p.next()
			}
			return
		case "<", "<<":
			if !p.argsOfExpression() {
				return
			}
			p.blank(t.start, p.last)
		default:
			return
		}
	}
}

func (p *parser) memberName() {
	if p.tok.kind != word && p.tok.kind != private {
		p.unexpected()
	}
	p.next()
}

// optionalChain parses what follows ?. and is not one of postfix.
func (p *parser) optionalChain() {
	switch {
	case p.is("("), p.is("["), p.tok.kind == backquote:
	case p.is("<"), p.is("<<"):
		start := p.tok.start
		if !p.typeArgs() || !p.is("(") {
			p.unexpected()
		}
		p.blank(start, p.last)
	default:
		p.memberName()
	}
}

func (p *parser) arguments() {
	p.next()
	p.list(")", p.spreadable)
}

// spreadable parses an argument or an element, which may be spread.
func (p *parser) spreadable() {
	p.accept("...")
	p.assign(0)
}

func (p *parser) templateLiteral() {
	p.enter()
	for {
		done, ok := p.template()
		if !ok {
			p.unexpected()
		}
		p.next()
		if done {
			break
		}
		p.expr(0)
		if !p.is("}") {
			p.unexpected()
		}
	}
	p.leave()
}
