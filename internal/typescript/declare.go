package typescript

// typeDeclaration skips a declaration that is all types, and reports whether
// there was one.
func (p *parser) typeDeclaration() bool {
	n := p.peek()
	switch p.tok.text {
	case "interface":
		if n.kind != word || n.nl {
			return false
		}
		p.next()
		p.skipBody()
		return true
	case "type":
		// type in x and type instanceof x are expressions.
		if n.kind != word || n.nl || n.text == "in" || n.text == "instanceof" {
			return false
		}
		p.typeAlias()
		return true
	case "module":
		if n.kind != str || n.nl {
			return false
		}
		p.next()
		p.skipBody()
		return true
	case "global":
		if !n.is("{") {
			return false
		}
		p.skipBody()
		return true
	case "declare":
		if n.nl || !declares(n) {
			return false
		}
		p.next()
		p.ambient()
		return true
	}
	return false
}

// declares reports whether t may follow declare.
func declares(t token) bool {
	if t.kind != word {
		return false
	}
	switch t.text {
	case "var", "let", "const", "using", "await", "function", "async", "class", "abstract", "enum", "interface", "type",
		"namespace", "module", "global", "import", "export":
		return true
	}
	return false
}

func (p *parser) typeAlias() {
	p.next()
	p.next()
	if (p.is("<") || p.is("<<")) && !p.typeParams() {
		p.unexpected()
	}
	p.expect("=")
	p.needType()
	p.endStatement()
}

// ambient parses what follows declare. All of it is to be erased.
func (p *parser) ambient() {
	switch p.tok.text {
	case "type", "interface":
		if !p.typeDeclaration() {
			p.unexpected()
		}
	case "const":
		if p.peek().word("enum") {
			p.skipBody()
			return
		}
		fallthrough
	case "var", "let", "using", "await":
		p.variables(0, nil)
		p.endStatement()
	case "function":
		p.function(true)
	case "async":
		p.next()
		if !p.isWord("function") {
			p.unexpected()
		}
		p.function(true)
	case "import":
		p.importDeclaration()
	case "module":
		if name, body := p.peek2(); name.kind == str && !body.is("{") {
			p.next()
			p.next()
			p.endStatement()
			return
		}
		fallthrough
	default:
		p.skipBody()
	}
}

// skipBody skips to the braces of a declaration, past those in type arguments,
// and then these.
func (p *parser) skipBody() {
	angles := 0
	for {
		switch {
		case p.tok.kind == eof, p.tok.kind == bad, p.is(";"):
			p.unexpected()
		case p.tok.kind == backquote:
			if !p.typeTemplate() {
				p.unexpected()
			}
			continue
		case p.is("<"), p.is("<<"):
			angles += p.tok.end - p.tok.start
		case p.is(">"):
			angles--
		case p.is("{"), p.is("("), p.is("["):
			body := p.is("{") && angles <= 0
			if !p.balanced() {
				p.unexpected()
			}
			if body {
				return
			}
			continue
		}
		p.next()
	}
}
