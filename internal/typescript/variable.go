package typescript

// declaresVariables reports whether var, let, const
// begins a declaration here.
func (p *parser) declaresVariables() bool {
	switch p.tok.text {
	case "var", "const":
		return p.tok.kind == word
	case "let":
		n := p.peek()
		return n.is("[") || n.is("{") || names(n) || n.word("of") || n.word("as") || n.word("satisfies")
	case "using":
		if n := p.peek(); !n.nl && names(n) {
			p.fail(p.tok.start, "The using declaration is not supported: write try and finally")
		}
	case "await":
		if using, name := p.peek2(); using.word("using") && !using.nl && !name.nl && names(name) {
			p.fail(p.tok.start, "The using declaration is not supported: write try and finally")
		}
	}
	return false
}

// names reports whether a variable after let may have the name: some
// words there continue an expression.
func names(t token) bool {
	if t.kind != word {
		return false
	}
	switch t.text {
	case "of", "as", "satisfies":
		return false
	}
	return !reserved(t.text)
}

// variables parses a declaration of variables from its keyword on. The names that it
// binds are added to names, unless that is nil.
func (p *parser) variables(w where, names *[]string) {
	p.next()
	for {
		p.binding(names)
		if p.is("!") && !p.tok.nl {
			p.erase()
		}
		p.annotation()
		if p.accept("=") {
			p.assign(w)
		}
		if !p.accept(",") {
			return
		}
	}
}

// binding parses a name or a pattern. What it binds is added to names.
func (p *parser) binding(names *[]string) {
	switch {
	case p.tok.kind == word && !reserved(p.tok.text):
		if names != nil {
			p.charge(len(p.tok.text) + 16)
			*names = append(*names, p.tok.text)
		}
		p.next()
	case p.is("["):
		p.enter()
		p.next()
		p.list("]", func() {
			if !p.is(",") { // or it is a hole
				p.accept("...")
				p.bindingElement(names)
			}
		})
		p.leave()
	case p.is("{"):
		p.enter()
		p.next()
		p.list("}", func() { p.bindingProperty(names) })
		p.leave()
	default:
		p.unexpected()
	}
}

func (p *parser) bindingElement(names *[]string) {
	p.binding(names)
	if p.accept("=") {
		p.assign(0)
	}
}

func (p *parser) bindingProperty(names *[]string) {
	if p.accept("...") {
		p.binding(names)
		return
	}
	if n := p.peek(); p.tok.kind == word && !n.is(":") {
		p.bindingElement(names)
		return
	}
	p.propertyName()
	p.expect(":")
	p.bindingElement(names)
}
