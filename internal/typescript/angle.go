package typescript

// typeArgs skips type arguments. While guessing it remembers what came of it,
// so that no < is looked at twice, however guesses nest.
func (p *parser) typeArgs() bool {
	p.splitLess()
	start := p.tok.start
	if p.guessing > 0 {
		if end, known := p.angles[int32(start)]; known {
			if end == 0 {
				return false
			}
			// next goes on from where the token at hand ends.
			p.tok = token{end: int(end)}
			p.next()
			return true
		}
		p.remember(start)
	}
	p.next()
	for {
		if !p.typ() {
			return false
		}
		if p.is(">") {
			break
		}
		if !p.accept(",") {
			return false
		}
	}
	if p.guessing > 0 {
		p.angles[int32(start)] = int32(p.tok.end)
	}
	p.next()
	return true
}

// remember notes a guess, as one that failed until it is known better.
func (p *parser) remember(start int) {
	if p.angles == nil {
		p.angles = make(map[int32]int32)
	}
	p.lastLess = max(p.lastLess, start)
	p.charge(16)
	p.angles[int32(start)] = 0
}

// argsOfExpression skips the type arguments of an expression, where the < at
// hand begins some. Else nothing is skipped.
func (p *parser) argsOfExpression() bool {
	if !p.mayBeArgs() {
		return false
	}
	if p.tok.start > p.lastLess {
		p.forget()
	}
	tok, last := p.tok, p.last
	p.guessing++
	ok := p.typeArgs() && p.mayFollowArgs()
	p.guessing--
	if !ok {
		p.tok, p.last = tok, last
	}
	return ok
}

// forget drops guesses that are not needed again. A large map is not
// cleared, for that takes as long as it once was large.
func (p *parser) forget() {
	if len(p.angles) > 64 {
		p.angles = nil
	}
	clear(p.angles)
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
