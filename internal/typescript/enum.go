package typescript

import "regexp"

// enum parses an enum from its keyword on. It becomes a function, in which members are
// constants, so that initializers find them by name; one adds them to the object.
func (p *parser) enum() {
	p.enter()
	start := p.tok.start
	p.next()
	if p.tok.kind != word || reserved(p.tok.text) {
		p.unexpected()
	}
	name := p.tok.text
	if p.declare(name) {
		p.fail(p.tok.start, "Declarations of one name are not merged: "+name+" is declared already")
	}
	p.next()
	if !p.is("{") {
		p.unexpected()
	}
	// Within it the enum has its name already: All = E.Read | E.Write.
	p.replace(start, p.tok.end, p.variable()+name+" = (("+name+") => "+enumHelper)
	p.next()
	seen := map[string]bool{}
	for !p.is("}") {
		p.enumMember(seen)
		if p.is("}") {
			break
		}
		if !p.is(",") {
			p.unexpected()
		}
		p.blank(p.tok.start, p.tok.end)
		p.next()
	}
	p.replace(p.tok.start, p.tok.end, " return $$e; })("+name+"))({});")
	p.next()
	p.leave()
}

// variable returns the keyword that declares an enum: at the top
// of a program a later one may declare it again.
func (p *parser) variable() string {
	if len(p.scopes) > 1 {
		return "let "
	}
	return "var "
}

// enumHelper begins an enum's function. It makes $$m, which adds a member of
// the enum: one more than the last where it gets no value. A constant that is
// a text does not lead back to its member.
const enumHelper = `(($$e, $$n = 0) => { const $$m = (k, v = $$n, t) => (` +
	`$$n = typeof v === "number" ? v + 1 : void 0, $$e[k] = v, t && typeof v === "string" || ($$e[v] = k), v); `

// enumMember parses a member. It becomes a constant, unless its name cannot be one's.
func (p *parser) enumMember(seen map[string]bool) {
	t := p.tok
	key, local := "", ""
	switch {
	case t.kind == word:
		key = `"` + t.text + `"`
		if !reserved(t.text) && !seen[t.text] && !strictName(t.text) {
			local = "const " + t.text + " = "
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
		first := p.tok
		p.assign(0)
		end, value := ");", p.src[first.start:p.last]
		if constantText.MatchString(value) && (value != first.text || seen[value] || p.constant(value)) {
			end = ", 1);"
		}
		p.insert(p.last, end)
		return
	}
	p.replace(t.start, end, local+"$$m("+key+");")
}

// constantText matches what TypeScript takes for a constant wherever it may be a text:
// texts, names and members, with + between them. Calls and casts are computed.
var constantText = func() *regexp.Regexp {
	const blank = `(?:\s|//[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)`
	const text = `(?s:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`(?:[^`\\\\]|\\\\.)*`)"
	const member = blank + `*(?:\.` + blank + `*[\pL\pM\pN_$]+|\[` + blank + `*` + text + blank + `*\])`
	const operand = `(?:` + blank + `|\()*(?:` + text + `|[\pL\pM\pN_$]+(?:` + member + `)*)(?:` + blank + `|\))*`
	return regexp.MustCompile(`^` + operand + `(?:\+` + operand + `)*$`)
}()

// constant reports whether the program declares a constant of a name, without a type.
func (p *parser) constant(name string) bool {
	p.step(len(p.src) / 64)
	return regexp.MustCompile(`\bconst\s+` + regexp.QuoteMeta(name) + `\s*=`).MatchString(p.src)
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
