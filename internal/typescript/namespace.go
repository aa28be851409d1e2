package typescript

// namespace skips a namespace that is all types. One that is more is an error.
func (p *parser) namespace() {
	start, live := p.tok.start, p.live
	p.next()
	names := 0
	for more := true; more; more = p.accept(".") {
		if p.tok.kind != word {
			p.unexpected()
		}
		p.enter() // a.b.c nests as deep as it is long
		names++
		p.next()
	}
	if !p.is("{") {
		p.unexpected()
	}
	p.enter()
	p.live = false
	p.scopes = append(p.scopes, nil)
	p.next()
	for !p.is("}") {
		p.statement()
	}
	p.next()
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.leave()
	if p.live {
		p.fail(start, "Namespaces are not supported: write an object or a module")
	}
	p.live = live
	p.depth -= names
}
