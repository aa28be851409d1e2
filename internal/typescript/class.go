package typescript

import "strings"

// A class is what is gathered while one is parsed.
type class struct {
	name       string
	expression bool
	derived    bool
	fields     int      // the edit that declares its parameter properties
	decorators []string // its own, and those of its constructor's parameters
	own        []string // calls of the helper for its members, as code
	static     []string
}

// classDeclaration parses a class from its keyword on, or from abstract. A
// decorated class is a variable; e, if any, then exports it by a list.
func (p *parser) classDeclaration(decorators []string, e *export) (name string) {
	if p.isWord("abstract") {
		p.blank(p.tok.start, p.tok.end)
		p.next()
	}
	head, start := p.mark(), p.tok.start
	// A place for what only the end of the class shows to be needed.
	p.replace(start, start, "")
	c := class{decorators: decorators}
	p.class(&c)
	if c.name != "" {
		p.declare(c.name)
		if p.top() {
			p.charge(16)
			p.noteDeclaration(Declaration{Keyword: Name{Text: "class", Start: start}, Names: []string{c.name}, End: p.last})
		}
	}
	after := strings.Join(append(c.own, c.static...), " ")
	if after != "" {
		after = " " + after
	}
	if len(c.decorators) > 0 {
		if c.name == "" && (e == nil || e.as == "") {
			p.fail(start, "A decorated class needs a name")
		}
		if c.name == "" {
			c.name = "$$default"
		}
		p.edits[head].text = p.text("let " + c.name + " = ")
		after = ";" + after + " " + c.name + " = $$decorate([" + strings.Join(c.decorators, ", ") + "], " + c.name + ");"
		if e != nil {
			p.unexport(e)
			after += " export { " + c.name + e.as + " };"
		}
	}
	p.insert(p.last, after)
	return c.name
}

func (p *parser) classExpression() {
	c := class{expression: true}
	p.class(&c)
}

// class parses a class from its keyword on.
func (p *parser) class(c *class) {
	p.enter()
	p.next()
	if p.tok.kind == word && p.tok.text != "extends" && !(p.isWord("implements") && p.peek().kind == word) {
		c.name = p.tok.text
		p.noteBound(c.name)
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
	for !p.is("}") {
		if !p.accept(";") {
			p.member(c)
		}
	}
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
	if !p.is("<") && !p.is("<<") {
		return
	}
	start := p.tok.start
	if !p.typeArgs() {
		p.unexpected()
	}
	p.blank(start, p.last)
}
