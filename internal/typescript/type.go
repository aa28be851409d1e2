package typescript

// Types are skipped: nothing in here makes edits. A function that returns false
// found no type, or not all of one, and left the token at hand that does not
// belong. Since only a type's end matters, precedence does not: all that
// follows an operator is one loop.

// needType skips a type that must be there.
func (p *parser) needType() {
	if !p.typ() {
		p.unexpected()
	}
}

// typ skips a type.
func (p *parser) typ() bool {
	if p.guessing > 0 && p.depth >= MaxDepth {
		return false // an expression may nest less
	}
	p.enter()
	ok := p.typeChain()
	p.leave()
	return ok
}

func (p *parser) typeChain() bool {
	extending := 0 // conditional types whose question mark is still to come
	for parts := 1; ; parts++ {
		start := p.tok.start
		infer, ok := p.typeOperators()
		if !ok {
			return false
		}
		single := p.tok.start == start
		function, ok := p.typeOperand(&single)
		if !ok {
			return false
		}
		if function {
			continue
		}
		if !p.typeIndexes(&single) {
			return false
		}
		switch {
		case p.is("|"), p.is("&"), p.isWord("is") && !p.tok.nl:
			p.next()
		case p.isWord("extends") && !p.tok.nl:
			// Of "A extends infer B extends C ? D : E" the question mark is A's.
			if !infer || extending == 0 {
				extending++
			}
			p.next()
		case p.is("?") && extending > 0 && !closesElement(p.peek()):
			extending--
			p.next()
			if !p.typ() || !p.accept(":") {
				return false
			}
		default:
			p.single = single && parts == 1
			return true
		}
	}
}

// closesElement reports whether t follows the question mark of an optional
// element.
func closesElement(t token) bool { return t.is("]") || t.is(")") || t.is(",") }

// typeOperators skips what stands before an operand. It reports whether that
// ends with infer.
func (p *parser) typeOperators() (infer, ok bool) {
	for {
		switch {
		case p.is("|"), p.is("&"), p.is("-"):
			p.next()
		case p.is("<"), p.is("<<"):
			if !p.typeParams() || !p.is("(") {
				return false, false
			}
		case p.tok.kind == word && p.typeOperator():
			infer = p.isWord("infer")
			p.next()
		default:
			return infer, true
		}
	}
}

// typeOperator reports whether the word at hand is an operator of types, and no
// name.
func (p *parser) typeOperator() bool {
	switch p.tok.text {
	case "keyof", "readonly":
		n := p.peek()
		return n.kind == word && n.text != "extends" && n.text != "is" || n.kind == str || n.kind == number ||
			n.kind == backquote || n.is("(") || n.is("[") || n.is("{")
	case "infer", "typeof", "unique":
		n := p.peek()
		return n.kind == word && n.text != "extends" && n.text != "is"
	case "asserts":
		n := p.peek()
		return n.kind == word && !n.nl && n.text != "extends" && n.text != "is"
	case "abstract":
		return p.peek().word("new")
	case "new":
		n := p.peek()
		return n.is("(") || n.is("<") || n.is("<<")
	}
	return false
}

// typeOperand skips a name, a literal or something in brackets. Of a function
// type it skips the parameters and the arrow, and reports that.
func (p *parser) typeOperand(single *bool) (function, ok bool) {
	switch p.tok.kind {
	case word:
		name := p.tok.end
		ok = p.typeName()
		*single = *single && p.last == name
		return false, ok
	case number, str:
		p.next()
		return false, true
	case backquote:
		return false, p.typeTemplate()
	}
	switch {
	case p.is("("):
		p.next()
		parameters, ok := p.typeList(")")
		*single = false
		return ok && parameters && p.accept("=>"), ok
	case p.is("["):
		p.next()
		_, ok := p.typeList("]")
		return false, ok
	case p.is("{"):
		return false, p.balanced()
	}
	return false, false
}

// typeIndexes skips what stands behind an operand. A ! is JSDoc's, which the
// TypeScript compiler parses everywhere, to complain of it: what is a type for it
// and what a comparison depends on that.
func (p *parser) typeIndexes(single *bool) bool {
	// On a new line it begins the next member.
	for (p.is("[") || p.is("!")) && !p.tok.nl {
		*single = false
		if p.accept("!") {
			continue
		}
		p.next()
		if p.accept("]") {
			continue
		}
		if !p.typ() || !p.accept("]") {
			return false
		}
	}
	return true
}

// typeName skips a name such as a.b<c> or import("a").b.
func (p *parser) typeName() bool {
	t := p.tok
	p.next()
	if t.text == "import" && p.is("(") && !p.balanced() {
		return false
	}
	for p.accept(".") {
		if p.tok.kind != word && p.tok.kind != private {
			return false
		}
		p.next()
	}
	if (p.is("<") || p.is("<<")) && !p.tok.nl && !plainType(t.text) {
		return p.typeArgs()
	}
	return true
}

// plainType reports whether a type of this name takes no arguments: what
// follows "x as number <" is a comparison.
func plainType(name string) bool {
	switch name {
	case "any", "unknown", "never", "number", "string", "boolean", "bigint", "symbol", "object", "null", "undefined",
		"void", "true", "false", "const", "this":
		return true
	}
	return false
}

func (p *parser) typeTemplate() bool {
	for {
		done, ok := p.template()
		if !ok {
			return false
		}
		p.next()
		if done {
			return true
		}
		if !p.typ() || !p.is("}") {
			return false
		}
	}
}
