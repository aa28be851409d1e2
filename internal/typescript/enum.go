package typescript

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
		p.erase()
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
// the enum: one more than the last where it gets no value. A text does not lead back to
// its member.
const enumHelper = `(($$e, $$n = 0) => { const $$m = (k, v = $$n) => (` +
	`$$n = typeof v === "number" ? v + 1 : void 0, $$e[k] = v, typeof v === "string" || ($$e[v] = k), v); `

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
		p.assign(0)
		p.insert(p.last, ");")
		return
	}
	p.replace(t.start, end, local+"$$m("+key+");")
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
