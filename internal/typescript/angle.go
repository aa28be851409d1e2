package typescript

// typeArgs skips type arguments.
func (p *parser) typeArgs() bool {
	p.splitLess()
	p.next()
	for {
		if !p.typ() {
			return false
		}
		if p.is(">") {
			p.next()
			return true
		}
		if !p.accept(",") {
			return false
		}
	}
}

// argsOfExpression skips the type arguments of an expression, where the < at
// hand begins some. Else nothing is skipped.
func (p *parser) argsOfExpression() bool {
	if !p.mayBeArgs() {
		return false
	}
	tok, last, depth := p.tok, p.last, p.depth
	p.guessing++
	ok := p.typeArgs() && p.mayFollowArgs()
	p.guessing--
	if !ok {
		p.tok, p.last, p.depth = tok, last, depth
	}
	return ok
}

// mayBeArgs tells most comparisons in few steps.
func (p *parser) mayBeArgs() bool {
	tok, last := p.tok, p.last
	p.splitLess()
	n := p.peek()
	p.tok, p.last = tok, last
	switch n.kind {
	case word, str, number, backquote:
		return true
	case punct:
		switch n.text {
		case "(", "[", "{", "|", "&", "-", "<", "<<":
			return true
		}
	}
	return false
}

// mayFollowArgs reports whether the token at hand may follow an expression's
// type arguments, as the TypeScript compiler has it.
func (p *parser) mayFollowArgs() bool {
	if p.last < len(p.src) && (p.src[p.last] == '>' || p.src[p.last] == '=') {
		return false // >> or >=
	}
	t := p.tok
	switch {
	case t.is("("), t.kind == backquote:
		return true
	case t.is("<"), t.is("<<"), t.is(">"), t.is("+"), t.is("-"):
		return false
	case t.nl, t.kind == eof, t.precedence() > 0, t.word("as"), t.word("satisfies"):
		return true
	case t.kind == punct:
		return !t.is("[") && !t.is("{") && !t.is("!") && !t.is("~") && !t.is("++") && !t.is("--") && !t.is("@")
	}
	return false
}
