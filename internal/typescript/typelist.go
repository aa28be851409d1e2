package typescript

// typeList skips the types up to a closing bracket, which may be members of a
// tuple or parameters of a function. It reports whether they can be parameters,
// as the TypeScript compiler decides that: by what follows the first name or
// pattern.
func (p *parser) typeList(end string) (parameters, ok bool) {
	parameters = p.is(end)
	for first := true; !p.is(end); {
		if end == "]" && p.accept(",") {
			continue // a hole in a pattern
		}
		rest := p.accept("...")
		named := p.tok.kind == word && (!reserved(p.tok.text) || p.isWord("this")) || p.is("{") || p.is("[")
		if !p.typ() {
			return false, false
		}
		if first {
			parameters = rest || named && p.single &&
				(p.is(":") || p.is(",") || p.is("?") || p.is("=") || p.is(end))
			first = false
		}
		p.accept("?")
		if p.accept(":") {
			p.accept("...")
			if !p.typ() {
				return false, false
			}
			p.accept("?")
		}
		if !p.is(end) && !p.accept(",") {
			return false, false
		}
	}
	p.next()
	return parameters, true
}

// typeParams skips <T extends A = B, const U>.
func (p *parser) typeParams() bool {
	p.splitLess()
	p.next()
	for !p.is(">") {
		for p.isWord("const") || p.isWord("in") || p.isWord("out") {
			if p.peek().kind != word || p.peek().text == "extends" {
				break
			}
			p.next()
		}
		if p.tok.kind != word || !p.typ() {
			return false
		}
		if p.accept("=") && !p.typ() {
			return false
		}
		if !p.is(">") && !p.accept(",") {
			return false
		}
	}
	p.next()
	return true
}

// balanced skips from an opening bracket to after its closing one, without
// recursion. Between the brackets of types there are no regular expressions.
func (p *parser) balanced() bool {
	var open []byte
	for {
		switch p.tok.kind {
		case eof, bad:
			return false
		case backquote:
			done, ok := p.template()
			if !ok {
				return false
			}
			if !done {
				open = append(open, '`')
			}
		case punct:
			switch c := p.tok.text[0]; c {
			case '{', '(', '[':
				open = append(open, c)
			case '}', ')', ']':
				closed, ok := p.closes(open[len(open)-1], c)
				if !ok {
					return false
				}
				if closed {
					open = open[:len(open)-1]
				}
			}
		}
		p.next()
		if len(open) == 0 {
			return true
		}
	}
}

// closes reports whether the bracket c at hand ends what open began, which
// inside of a template it may not yet do.
func (p *parser) closes(open, c byte) (closed, ok bool) {
	switch open {
	case '`':
		if c != '}' {
			return false, false
		}
		return p.template()
	case '(':
		return true, c == ')'
	}
	return true, c == open+2
}

// blankTypeParams erases type parameters where there are any.
func (p *parser) blankTypeParams() { p.blankAngles(p.typeParams) }

// blankAngles erases what begins with < and is parsed so, where there is any.
func (p *parser) blankAngles(parse func() bool) {
	if !p.is("<") && !p.is("<<") {
		return
	}
	start := p.tok.start
	if !parse() {
		p.unexpected()
	}
	p.blank(start, p.last)
}

// annotation erases a type after a colon where there is one.
func (p *parser) annotation() bool {
	if !p.is(":") {
		return false
	}
	start := p.tok.start
	p.next()
	p.needType()
	p.blank(start, p.last)
	return true
}
