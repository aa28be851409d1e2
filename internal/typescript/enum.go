package typescript

import (
	"slices"
	"strings"
)

// enum parses an enum from its keyword on and reports whether its name was
// declared before. It becomes a function, in which members are constants, so
// that initializers find them by name; one adds them to the object. exports is
// the variable of the namespace that exports it.
func (p *parser) enum(exports string) (known bool) {
	p.enter()
	start := p.tok.start
	p.next()
	if p.tok.kind != word || reserved(p.tok.text) {
		p.unexpected()
	}
	name := p.tok.text
	p.next()
	if !p.is("{") {
		p.unexpected()
	}
	known = p.declare(name)
	head := ""
	if !known {
		head = p.variable()
	}
	id := enumIn{len(p.scopes), name}
	if !known {
		delete(p.members, id) // of another block
	}
	before, after := earlierMembers(name, p.members[id])
	p.replace(start, p.tok.end, head+name+" = "+before+enumHelper)
	p.next()
	seen := map[string]bool{}
	for !p.is("}") {
		if constant := p.enumMember(seen); constant != "" {
			p.addMember(id, constant)
		}
		if p.is("}") {
			break
		}
		if !p.is(",") {
			p.unexpected()
		}
		p.blank(p.tok.start, p.tok.end)
		p.next()
	}
	arg := name + " || {}"
	switch {
	case exports != "":
		arg = exports + "." + name + " = " + exports + "." + name + " || {}"
	case !known && p.variable() == "let ":
		arg = "{}" // the variable cannot be read yet
	}
	p.replace(p.tok.start, p.tok.end, " return $$e; })"+after+"("+arg+");")
	p.next()
	p.leave()
	return known
}

// enumIn says which enum is meant: one name of a block that many deep.
type enumIn struct {
	depth int
	name  string
}

// constants are an enum's. A program can have many enums of few.
type constants struct {
	list  []string
	known map[string]bool // of fewConstants and more
}

const fewConstants = 8

// add reports whether name was not there yet.
func (c *constants) add(name string) bool {
	if c.known == nil && len(c.list) == fewConstants {
		c.known = map[string]bool{}
		for _, name := range c.list {
			c.known[name] = true
		}
	}
	if c.known[name] || c.known == nil && slices.Contains(c.list, name) {
		return false
	}
	if c.list = append(c.list, name); c.known != nil {
		c.known[name] = true
	}
	return true
}

// addMember notes a constant of an enum, for declarations that go on with it.
func (p *parser) addMember(id enumIn, constant string) {
	if p.members == nil {
		p.members = map[enumIn]*constants{}
	}
	c := p.members[id]
	if c == nil {
		c = &constants{}
		p.members[id] = c
	}
	if c.add(constant) {
		p.charge(32)
	}
}

// earlierMembers returns what has an enum's function find, by name, the
// constants that the enum has already, unless it declares them itself.
func earlierMembers(name string, c *constants) (before, after string) {
	if c == nil {
		return "", ""
	}
	list := slices.Sorted(slices.Values(c.list))
	return "(({ " + strings.Join(list, ", ") + " }) => ", ")(" + name + " || {})"
}

// variable returns the keyword that declares an enum or a namespace: at the top
// of a program a later one may declare it again.
func (p *parser) variable() string {
	if len(p.scopes) > 1 {
		return "let "
	}
	return "var "
}

// enumHelper begins an enum's function. It makes $$m, which adds a member of
// the enum: one more than the last where it gets no value.
const enumHelper = `(($$e, $$n = 0) => { const $$m = (k, v = $$n) => (` +
	`$$n = typeof v === "number" ? v + 1 : void 0, typeof ($$e[k] = v) === "string" || ($$e[v] = k), v); `

// enumMember parses a member. It becomes a constant, whose name is returned,
// unless its name cannot be one's.
func (p *parser) enumMember(seen map[string]bool) (constant string) {
	t := p.tok
	key, local := "", ""
	switch {
	case t.kind == word:
		key = `"` + t.text + `"`
		if !reserved(t.text) && !seen[t.text] && !strictName(t.text) {
			constant, local = t.text, "const "+t.text+" = "
		}
		p.charge(32)
		seen[t.text] = true
	case t.kind == str:
		key = p.src[t.start:t.end]
	case t.is("["):
		p.next()
		if p.tok.kind != str && p.tok.kind != backquote {
			p.unexpected()
		}
		key = p.src[p.tok.start:p.tok.end]
		if p.tok.kind == backquote {
			done, ok := p.template()
			if !ok || !done {
				p.unexpected()
			}
			key = p.src[p.tok.start:p.tok.end]
		}
		p.next()
		if !p.is("]") {
			p.unexpected()
		}
	default:
		p.unexpected()
	}
	end := p.tok.end
	p.next()
	if p.is("=") {
		p.replace(t.start, p.tok.end, local+"$$m("+key+", ")
		p.next()
		p.assign(0)
		p.insert(p.last, ");")
		return constant
	}
	p.replace(t.start, end, local+"$$m("+key+");")
	return constant
}

// strictName reports whether a constant of this name is an error, or hides what
// initializers mean.
func strictName(name string) bool {
	switch name {
	case "let", "static", "yield", "await", "implements", "interface", "package", "private", "protected", "public",
		"eval", "arguments", "undefined", "NaN", "Infinity":
		return true
	}
	return false
}
