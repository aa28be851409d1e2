package typescript

// A class is what is gathered while one is parsed.
type class struct {
	name    string
	derived bool
	fields  int // the edit that declares its parameter properties
}

// classDeclaration parses a class from its keyword on, or from abstract.
func (p *parser) classDeclaration() {
	if p.isWord("abstract") {
		p.erase()
	}
	start := p.tok.start
	var c class
	p.class(&c)
	if c.name == "" {
		p.nameless(start + len("class"))
	} else {
		p.declare(c.name)
	}
}

// class parses a class from its keyword on.
func (p *parser) class(c *class) {
	p.enter()
	p.next()
	if p.tok.kind == word && p.tok.text != "extends" && !(p.isWord("implements") && p.peek().kind == word) {
		c.name = p.tok.text
		p.next()
	}
	p.blankTypeParams()
	if p.acceptWord("extends") {
		c.derived = true
		p.heritage()
	}
	if p.isWord("implements") {
		start := p.tok.start
		p.next()
		p.needType()
		for p.accept(",") {
			p.needType()
		}
		p.blank(start, p.last)
	}
	p.expect("{")
	c.fields = len(p.edits)
	// A place for the fields of parameter properties; the constructor comes later.
	p.replace(p.last, p.last, "")
	p.barrier = len(p.edits)
	p.owners++
	for !p.is("}") {
		if !p.accept(";") {
			p.member(c)
		}
	}
	p.owners--
	p.next()
	p.leave()
}

// heritage parses the expression after extends.
func (p *parser) heritage() {
	parens := 0
	for p.prefix(&parens) {
	}
	if p.primary(0) != value {
		p.unexpected()
	}
	p.sureArgs()
	for range parens {
		p.insert(p.last, ")")
	}
}

// sureArgs parses what follows an expression that cannot be compared: what
// postfix takes for a comparison are type arguments.
func (p *parser) sureArgs() {
	p.postfix()
	p.blankAngles(p.typeArgs)
}
