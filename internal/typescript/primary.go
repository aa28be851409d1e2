package typescript

// primary parses a primary expression, or an arrow function's head.
func (p *parser) primary(w where) shape {
	switch p.tok.kind {
	case number, str:
		p.next()
		return value
	case backquote:
		p.templateLiteral()
		return value
	case private:
		p.next()
		if !p.isWord("in") {
			p.unexpected()
		}
		return value
	case word:
		return p.wordExpression(w)
	case punct:
		switch p.tok.text {
		case "(":
			return p.paren(w, false)
		case "[":
			p.array()
			return value
		case "{":
			p.object()
			return value
		case "/", "/=":
			p.regexp()
			p.next()
			return value
		case "@":
			p.noDecorators()
		}
	}
	p.unexpected()
	return value
}

func (p *parser) wordExpression(w where) shape {
	switch p.tok.text {
	case "function":
		p.function(false)
		return value
	case "class":
		p.class(&class{})
		return value
	case "async":
		if s, ok := p.async(w); ok {
			return s
		}
	case "import":
		keyword := p.tok
		p.next()
		if p.accept(".") {
			p.module = true
			if p.stands != nil && p.isWord("meta") {
				p.change(keyword.start, p.tok.end, p.stands.Meta)
			}
			p.memberName() // import.meta, import.defer(...)
		} else if !p.is("(") {
			p.unexpected()
		} else if p.words != nil {
			p.change(keyword.start, keyword.end, p.words.Import)
		}
		return value
	case "new":
		p.next()
		p.expect(".")
		p.memberName()
		return value
	case "this":
		if p.words != nil && p.owners == 0 {
			p.change(p.tok.start, p.tok.end, p.words.This)
		}
		p.next()
		return value
	case "super", "null", "true", "false":
		p.next()
		return value
	}
	if reserved(p.tok.text) {
		p.unexpected()
	}
	p.next()
	if p.is("=>") && !p.tok.nl {
		p.next()
		return arrowHead
	}
	return value
}

// async parses what begins with async, unless that is a name.
func (p *parser) async(w where) (s shape, ok bool) {
	first, second := p.peek2()
	switch {
	case first.nl:
	case first.word("function"):
		p.next()
		p.function(false)
		return value, true
	case first.kind == word && second.is("=>") && !second.nl:
		p.next()
		p.next()
		p.next()
		return arrowHead, true
	case first.is("("):
		p.next()
		return p.paren(w, true), true
	case first.is("<"), first.is("<<"):
		return p.asyncGeneric(w)
	}
	return value, false
}

// asyncGeneric parses async<T>(...), a call or an arrow function.
func (p *parser) asyncGeneric(w where) (s shape, ok bool) {
	tok, last := p.tok, p.last
	p.next()
	start := p.tok.start
	less := p.tok
	p.guessing++
	ok = p.typeParams()
	p.guessing--
	if !ok {
		p.tok, p.last = less, tok.end
		ok = p.argsOfExpression()
	}
	if !ok || !p.is("(") {
		p.tok, p.last = tok, last
		return value, false
	}
	if p.tok.nl || firstLine(p.src[start:p.last]) != p.src[start:p.last] {
		// No line break may stand between async and the parenthesis.
		p.replace(start, p.last, "(")
		p.blank(p.tok.start, p.tok.end)
	} else {
		p.blank(start, p.last)
	}
	return p.paren(w, true), true
}

func (p *parser) array() {
	p.enter()
	p.next()
	p.list("]", func() {
		if !p.is(",") { // or it is a hole
			p.spreadable()
		}
	})
	p.leave()
}

// object parses an object literal, which may turn out to be a pattern.
func (p *parser) object() {
	p.enter()
	p.expect("{")
	p.list("}", func() {
		if p.is("...") {
			p.spreadable()
		} else {
			p.property()
		}
	})
	p.leave()
}

func (p *parser) property() {
	for p.isWord("async") || p.isWord("get") || p.isWord("set") {
		if n := p.peek(); n.kind == eof || n.kind == punct && !n.is("[") && !n.is("*") {
			break
		}
		p.next()
	}
	p.accept("*")
	p.propertyName()
	switch {
	case p.is("("), p.is("<"), p.is("<<"):
		p.blankTypeParams()
		p.parameters(nil)
		p.annotation()
		if !p.is("{") {
			p.unexpected()
		}
		p.body()
	case p.accept(":"), p.accept("="): // {a = 1} may be a pattern
		p.assign(0)
	}
}

func (p *parser) propertyName() {
	switch {
	case p.tok.kind == word, p.tok.kind == number, p.tok.kind == str, p.tok.kind == private:
		p.next()
	case p.is("["):
		p.next()
		p.assign(0)
		p.expect("]")
	default:
		p.unexpected()
	}
}
