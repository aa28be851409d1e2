package typescript

import "strings"

// A space is what the blocks of a namespace have exported so far that does not
// change any more: later blocks find that by name.
type space struct {
	names  []string
	known  map[string]bool
	within map[string]*space // namespaces that it exports
}

// exported notes a name that a namespace has exported.
func (p *parser) exported(s *space, name string) {
	if s == nil || s.known[name] {
		return
	}
	p.charge(len(name) + 64)
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[name] = true
	s.names = append(s.names, name)
}

// localSpace returns the space of a namespace that is not exported.
func (p *parser) localSpace(name string) *space {
	if s := p.scopes[len(p.scopes)-1][name]; s != nil {
		return s
	}
	return &space{}
}

// within returns the space of a namespace that another exports.
func (p *parser) within(s *space, name string) *space {
	if s.within[name] == nil {
		if s.within == nil {
			s.within = map[string]*space{}
		}
		p.charge(128)
		s.within[name] = &space{}
	}
	return s.within[name]
}

// A part of a namespace's path a.b.c as a block finds it.
type part struct {
	*space
	around  *space   // that exports it, nil for none
	earlier []string // what blocks before it have exported
}

// enterSpaces goes on to the space of a namespace, and returns the parts of its path.
func (p *parser) enterSpaces(path []string, exported bool) []part {
	parts := make([]part, len(path))
	for i, name := range path {
		q := &parts[i]
		if i > 0 || exported {
			q.around = p.inside
			q.space = p.within(p.inside, name)
		} else {
			q.space = p.localSpace(name)
		}
		q.earlier = q.names[:len(q.names):len(q.names)]
		p.inside = q.space
	}
	return parts
}

// reopen returns what stands around a block for which there are names. Those that
// the block declares itself go before.
func reopen(exports string, names []string) (before, after string) {
	if len(names) == 0 {
		return "", ""
	}
	return "const { " + strings.Join(names, ", ") + " } = " + exports + "; (() => { ", "})(); "
}
