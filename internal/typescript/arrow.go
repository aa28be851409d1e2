package typescript

// paren parses parentheses: an expression, the arguments of something called
// async, or the parameters of an arrow function. What may stand in either is
// parsed alike, and what is erased is erased in either, so nothing is parsed
// twice.
func (p *parser) paren(w where, call bool) shape {
	p.enter()
	p.next()
	parameters := p.is(")") && !call
	p.list(")", func() {
		if p.parenElement(call) {
			parameters = true
		}
	})
	closing := p.last - 1
	p.leave()
	switch {
	case p.is("=>") && !p.tok.nl:
		p.next()
		return arrowHead
	// Only where a conditional's colon may follow can this one be something else.
	case p.is(":") && (parameters || w&noColon == 0):
		if !p.returnType(closing) {
			p.unexpected()
		}
		return arrowHead
	case p.is(":"):
		if p.arrowBeforeColon(closing) {
			return arrow
		}
	case parameters:
		p.unexpected()
	}
	return value
}

// parenElement parses one element, and reports whether only parameters can be
// like it.
func (p *parser) parenElement(call bool) (parameter bool) {
	parameter = p.accept("...") && !call
	p.assign(0)
	if p.is("?") {
		p.erase()
		parameter = true
	}
	if p.annotation() {
		parameter = true
	}
	if p.accept("=") {
		p.assign(0)
	}
	return parameter
}

// returnType erases an arrow function's return type and goes on to after the
// arrow. Where there is no arrow it returns false.
func (p *parser) returnType(closing int) bool {
	start := p.tok.start
	p.next()
	if !p.typ() || !p.is("=>") || p.tok.nl {
		return false
	}
	if end := p.last; firstLine(p.src[start:end]) == p.src[start:end] {
		p.blank(start, end)
	} else {
		// No line break may stand before an arrow: the parenthesis moves.
		p.blank(closing, closing+1)
		p.blank(start, end-1)
		p.replace(end-1, end, ")")
	}
	p.next()
	return true
}

// arrowBeforeColon parses an arrow function with a return type where a
// conditional's alternative may follow, as in "a ? (b): c => d : e". It is one
// only if such a colon does follow. Else nothing is parsed.
func (p *parser) arrowBeforeColon(closing int) bool {
	s := p.save()
	if p.returnType(closing) && p.try(p.bodyBeforeColon) {
		return true
	}
	p.restore(s)
	return false
}

func (p *parser) bodyBeforeColon() {
	if p.is("{") {
		p.block()
	} else {
		p.assign(noColon)
	}
	if !p.is(":") {
		p.unexpected()
	}
}
