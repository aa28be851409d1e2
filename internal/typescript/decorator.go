package typescript

import (
	"strconv"
	"strings"
)

// decorateHelper applies the decorators d, the last one first, to a class t, or
// to its member k. The descriptor s is null for methods and accessors, undefined
// for fields.
const decorateHelper = `function $$decorate(d, t, k, s) { ` +
	`const member = arguments.length > 2; let r = member ? s === null ? Object.getOwnPropertyDescriptor(t, k) : s : t; ` +
	`for (const f of d.reverse()) r = (member ? f(t, k, r) : f(r)) || r; ` +
	`if (member && r) Object.defineProperty(t, k, r); return r; }`

// decorator parses a decorator, erases it and returns its expression as code.
func (p *parser) decorator() string {
	p.decorate = true
	start, mark := p.tok.start, p.mark()
	p.next()
	from := p.tok.start
	for p.isWord("new") {
		p.next()
	}
	if p.primary(0) != value {
		p.unexpected()
	}
	p.sureArgs()
	code := p.oneLine(p.render(from, p.last, p.edits[mark:]))
	p.step(len(code) / 32)
	p.charge(len(code) + 32) // with its place in a list
	p.edits = p.edits[:mark]
	p.barrier = mark
	p.replace(start, p.last, "")
	return code
}

// parameterDecorator does it for one of the nth parameter.
func (p *parser) parameterDecorator(n int) string {
	return "((f) => (t, k) => void f(t, k, " + strconv.Itoa(n) + "))(" + p.decorator() + ")"
}

// decorateMember has a member's decorators applied once its class is defined.
func (p *parser) decorateMember(c *class, m *member, decorators []string, key, descriptor string) {
	if len(decorators) == 0 {
		return
	}
	if c.name == "" || key == "" {
		p.fail(m.start, "A decorated member needs a name that is not computed, in a class with a name")
	}
	list, on := &c.own, c.name+".prototype"
	if m.static {
		list, on = &c.static, c.name
	}
	code := "$$decorate([" + strings.Join(decorators, ", ") + "], " + on + ", " + key + ", " + descriptor + ");"
	p.charge(len(code))
	*list = append(*list, code)
}
