package typescript

import "strings"

// A member is what is gathered while one of a class is parsed.
type member struct {
	mark, start int
	static      bool
	absent      bool // abstract or declare: there is none in JavaScript
}

// member parses a member of a class.
func (p *parser) member(c *class) {
	p.enter()
	m := member{mark: p.mark(), start: p.tok.start}
	p.noDecorators()
	if p.modifiers(&m) {
		p.body() // static { ... }
		p.leave()
		return
	}
	p.accept("*")
	if p.indexSignature() {
		p.endStatement()
		p.drop(m.mark, m.start)
		p.leave()
		return
	}
	name := p.tok
	p.propertyName()
	optional := p.is("?") || p.is("!") && !p.tok.nl
	if optional {
		p.erase()
	}
	if p.is("(") || p.is("<") || p.is("<<") {
		p.method(c, &m, name)
	} else {
		p.field(&m, optional)
	}
	p.leave()
}

// separate has the edit at mark insert a semicolon: without what it erases, the
// member would continue the one before.
func (p *parser) separate(mark int) { p.edits[mark].text = ";" }

// modifiers parses what stands before a member's name and erases what is no
// JavaScript. It reports whether a static block follows.
func (p *parser) modifiers(m *member) (block bool) {
	for p.tok.kind == word {
		n := p.peek()
		if n.kind == eof || n.kind == bad || n.kind == punct && !n.is("[") && !n.is("*") && !n.is("{") {
			return false
		}
		if n.is("{") {
			if !p.isWord("static") {
				return false
			}
			p.next()
			return true
		}
		switch x := p.tok.text; x {
		case "public", "private", "protected", "abstract", "override", "readonly", "declare":
			if n.nl {
				return false
			}
			first := p.tok.start == m.start
			p.blank(p.tok.start, p.tok.end)
			if first {
				p.separate(m.mark)
			}
			m.absent = m.absent || x == "abstract" || x == "declare"
		case "static":
			m.static = true
		case "get", "set":
		case "accessor":
			if n.nl {
				return false
			}
			p.fail(p.tok.start, "The accessor keyword is not supported: write get and set")
		case "async":
			if n.nl {
				return false
			}
		default:
			return false
		}
		p.next()
	}
	return false
}

// indexSignature skips [key: string]: T, where it is that.
func (p *parser) indexSignature() bool {
	if !p.is("[") {
		return false
	}
	if name, colon := p.peek2(); name.kind != word || !colon.is(":") {
		return false
	}
	if !p.balanced() {
		p.unexpected()
	}
	p.accept("?")
	if p.accept(":") {
		p.needType()
	}
	return true
}

// method parses a method from its parameters on.
func (p *parser) method(c *class, m *member, name token) {
	constructor := name.word("constructor") && !m.static
	p.blankTypeParams()
	var properties []string
	p.parameters(&properties)
	p.annotation()
	if !p.is("{") || m.absent {
		if p.is("{") {
			p.body()
		} else {
			p.endStatement()
		}
		p.drop(m.mark, m.start)
		return
	}
	if !constructor {
		if len(properties) > 0 {
			p.fail(name.start, "Only a constructor has parameter properties")
		}
		p.body()
		return
	}
	p.constructorBody(properties, c.derived)
	if len(properties) > 0 {
		p.edits[c.fields].text = " " + strings.Join(properties, "; ") + ";"
		p.charge(len(p.edits[c.fields].text))
	}
}

// field parses a field from after its name on.
func (p *parser) field(m *member, optional bool) {
	if p.annotation() {
		optional = true
	}
	switch {
	case p.accept("="):
		p.assign(0)
	case optional && !p.is(";"):
		// The next member must not become part of a field named get or static.
		p.separate(len(p.edits) - 1)
	}
	p.endStatement()
	if m.absent {
		p.drop(m.mark, m.start)
		return
	}
}
