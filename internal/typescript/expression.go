package typescript

// Where an expression stands.
type where uint8

const (
	noIn    where = 1 << iota // in the head of a for: in is no operator
	noColon                   // before a colon: none is a sure sign of a return type
)

// What an operand turned out to be.
type shape uint8

const (
	value     shape = iota
	arrowHead       // parameters and arrow: the function's body follows
	arrow           // an arrow function with its body
)

func (p *parser) expr(w where) {
	p.assign(w)
	for p.accept(",") {
		p.assign(w)
	}
}

// assign parses an expression without commas. Prefixes, operators of whatever
// precedence, the alternatives of conditionals and the bodies of arrow
// functions are a loop, so that chains of them take no stack.
func (p *parser) assign(w where) {
	p.enter()
	loosest := noOperator // operator of those since one looser than a comparison
	for {
		s := p.operand(w)
		if s == arrow {
			break
		}
		if s == arrowHead {
			if p.is("{") {
				p.block()
				break
			}
			loosest = noOperator
			continue
		}
		asserted := p.assertions()
		p.joinGreater()
		prec := p.tok.precedence()
		switch {
		case p.is("?"):
			if p.optional() {
				p.leave()
				return
			}
			p.next()
			p.assign(noColon)
			p.expect(":")
			loosest = noOperator
			continue
		case prec == noOperator, w&noIn != 0 && p.isWord("in"):
			p.leave()
			return
		}
		if asserted && loosest >= relational && (prec > loosest || prec == power) {
			p.fail(p.tok.start, "Put the expression before as or satisfies into parentheses: without types it would be another")
		}
		if prec < relational {
			loosest = noOperator
		} else if loosest == noOperator || prec < loosest {
			loosest = prec
		}
		p.next()
	}
	p.leave()
}

// optional reports whether the question mark at hand is that of a parameter.
func (p *parser) optional() bool {
	n := p.peek()
	return n.is(":") || n.is(",") || n.is(")") || n.is("=")
}

// assertions erases "as T" and "satisfies T".
func (p *parser) assertions() (any bool) {
	for (p.isWord("as") || p.isWord("satisfies")) && !p.tok.nl {
		any = true
		start := p.tok.start
		p.next()
		p.needType()
		if p.tok.nl && (p.is("(") || p.is("[") || p.tok.kind == backquote) {
			// The type ended the expression; without it this would continue it.
			p.replace(start, p.last, ";")
		} else {
			p.blank(start, p.last)
		}
	}
	return any
}

// operand parses prefix operators and what they apply to.
func (p *parser) operand(w where) shape {
	parens := 0
	for p.prefix(&parens) {
	}
	if p.isWord("yield") && p.yield() {
		return value
	}
	s := p.primary(w)
	if s == value {
		p.postfix()
	}
	for range parens {
		p.insert(p.last, ")")
	}
	return s
}

// prefix skips one prefix operator, and reports whether there was one. It
// counts the parentheses that it opened.
func (p *parser) prefix(parens *int) bool {
	switch p.tok.kind {
	case punct:
		switch p.tok.text {
		case "+", "-", "!", "~", "++", "--":
			p.next()
			return true
		case "<", "<<":
			p.angle(parens)
			return true
		}
	case word:
		switch p.tok.text {
		case "typeof", "void", "delete":
			p.next()
			return true
		case "await":
			if p.awaits() {
				p.next()
				return true
			}
		case "new":
			if !p.peek().is(".") {
				p.next()
				return true
			}
		}
	}
	return false
}

// awaits reports whether the await at hand is an operator.
func (p *parser) awaits() bool {
	n := p.peek()
	switch n.kind {
	case word:
		return n.text != "in" && n.text != "of" && n.text != "instanceof" && n.text != "as" && n.text != "satisfies"
	case punct:
		switch n.text {
		case "(", "[", "{", "+", "-", "!", "~", "++", "--", "/", "/=", "<", "<<", "@":
			return true
		}
		return false
	}
	return n.kind != eof && n.kind != bad
}

// yield parses yield up to its operand. It reports whether there is none.
func (p *parser) yield() bool {
	if n := p.peek(); n.is("=>") {
		return false // a parameter of that name
	}
	p.next()
	if p.accept("*") {
		return p.operandOfYield()
	}
	if p.tok.nl || p.tok.kind == eof || p.isWord("in") || p.isWord("of") {
		return true
	}
	if p.tok.kind == punct {
		switch p.tok.text {
		case "(", "[", "{", "+", "-", "!", "~", "++", "--", "/", "/=", "<", "<<", "@":
		default:
			return true
		}
	}
	return p.operandOfYield()
}

// operandOfYield parses it with all of its operators: nothing binds looser.
func (p *parser) operandOfYield() bool {
	p.assign(0)
	return true
}

// angle erases what stands between < and > before an operand: the type of an
// assertion or the parameters of an arrow function, for both go alike.
func (p *parser) angle(parens *int) {
	start := p.tok.start
	p.splitLess()
	p.next()
	p.list(">", func() {
		if p.isWord("const") && p.peek().kind == word {
			p.next()
		}
		p.needType()
		if p.accept("=") {
			p.needType()
		}
	})
	end := p.last
	broken := p.tok.nl || firstLine(p.src[start:end]) != p.src[start:end]
	switch {
	case broken && p.is("("):
		// A line break would end a return statement: the parenthesis moves.
		p.replace(start, end, "(")
		p.blank(p.tok.start, p.tok.end)
	case broken, p.is("{"), p.isWord("function"), p.isWord("class"):
		// Without the type, these would begin a block or a declaration.
		p.replace(start, end, "(")
		*parens++
	default:
		p.blank(start, end)
	}
}
