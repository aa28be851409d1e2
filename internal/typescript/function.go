package typescript

import "strings"

// function parses a function from its keyword on. Of a declaration without a
// body, which is an overload, it returns false.
func (p *parser) function(declaration bool) bool {
	p.next()
	p.accept("*")
	if declaration && p.tok.kind != word {
		p.nameless(p.last)
	}
	if p.tok.kind == word {
		if declaration {
			p.declare(p.tok.text)
		}
		p.next()
	}
	p.blankTypeParams()
	p.parameters(nil)
	p.annotation()
	if !p.is("{") {
		if !declaration {
			p.unexpected()
		}
		p.endStatement()
		return false
	}
	p.body()
	return true
}

// parameters parses a list of parameters. The names of parameter properties are added to
// properties, which is nil where they are no method's.
func (p *parser) parameters(properties *[]string) {
	p.enter()
	p.owners++
	p.expect("(")
	if p.isWord("this") {
		p.thisParameter()
	}
	p.list(")", func() { p.parameter(properties) })
	p.owners--
	p.leave()
}

// thisParameter erases the type of this, with the comma that follows.
func (p *parser) thisParameter() {
	start := p.tok.start
	p.next()
	if p.accept(":") {
		p.needType()
	}
	if !p.is(")") {
		p.expect(",")
	}
	p.blank(start, p.last)
}

func (p *parser) parameter(properties *[]string) {
	p.noDecorators()
	property := p.parameterModifiers()
	p.accept("...")
	if property && properties != nil && p.tok.kind == word {
		*properties = append(*properties, p.tok.text)
	} else if property {
		p.fail(p.tok.start, "A parameter property must be a name in a constructor")
	}
	p.binding(nil)
	if p.is("?") {
		p.erase()
	}
	p.annotation()
	if p.accept("=") {
		p.assign(0)
	}
}

// parameterModifiers erases public, readonly and the like, and reports whether
// there was one.
func (p *parser) parameterModifiers() (property bool) {
	for p.tok.kind == word {
		switch p.tok.text {
		case "public", "private", "protected", "readonly", "override":
		default:
			return property
		}
		if n := p.peek(); n.kind != word && !n.is("{") && !n.is("[") {
			return property
		}
		property = true
		p.erase()
	}
	return property
}

// body parses the body of a function; that of an arrow function, which has the this around
// it, is a block.
func (p *parser) body() {
	p.owners++
	p.block()
	p.owners--
}

// constructorBody parses the body of a constructor and assigns its parameter
// properties: first of all, or in a derived class after super has been called.
func (p *parser) constructorBody(properties []string, derived bool) {
	if len(properties) == 0 {
		p.body()
		return
	}
	s := p.enterBlock()
	p.owners++
	start := p.tok.start
	p.expect("{")
	var b strings.Builder
	for _, name := range properties {
		b.WriteString(" this." + name + " = " + name + ";")
	}
	assigned := false
	for p.tok.kind == str {
		p.statement() // a directive
	}
	if !derived {
		p.insert(p.last, b.String())
		assigned = true
	}
	for !p.is("}") {
		super := p.isWord("super") && p.peek().is("(")
		p.statement()
		if super && !assigned {
			p.insert(p.last, ";"+b.String())
			assigned = true
		}
	}
	if !assigned {
		p.fail(start, "A constructor with parameter properties must call super in a statement of its own")
	}
	p.owners--
	p.leaveBlock(s)
}

// enterBlock returns what leaveBlock restores: whether the statements around the block
// are more than types.
func (p *parser) enterBlock() (live bool) {
	p.enter()
	p.scopes = append(p.scopes, nil)
	return p.live
}

// leaveBlock goes on from the closing brace.
func (p *parser) leaveBlock(live bool) {
	p.next()
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.live = live
	p.leave()
}

// declare notes the name of a function, class or enum, and reports
// whether the block had one of that name already.
func (p *parser) declare(name string) (known bool) {
	s := &p.scopes[len(p.scopes)-1]
	if *s == nil {
		*s = scope{}
	}
	if known = (*s)[name]; !known {
		p.charge(32)
		(*s)[name] = true
	}
	return known
}
