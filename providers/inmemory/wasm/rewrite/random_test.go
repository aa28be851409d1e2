package rewrite_test

import "math/rand/v2"

// A generator makes random lists of nodes.
type generator struct {
	*rand.Rand
	function int32
	blocks   []*block // around
	loops    byte
	left     int // how many nodes there may be
}

// random returns a random program.
func random(r *rand.Rand) *program {
	p := &program{}
	for f := range int32(4) {
		g := &generator{Rand: r, function: f, left: 40}
		p.functions = append(p.functions, g.list(4))
	}
	return p
}

func (g *generator) list(depth int) []node {
	list := []node{}
	for range 1 + g.IntN(4) {
		if g.left--; g.left > 0 {
			list = append(list, g.node(depth))
		}
	}
	return list
}

func (g *generator) node(depth int) node {
	kind := g.IntN(14)
	if depth == 0 {
		kind %= 8
	}
	switch kind {
	default:
		return trace{g.Int32N(1000)}
	case 1:
		return change{g.Int32N(7)}
	case 2:
		if g.IntN(2) == 0 {
			return throw{g.Int32N(3)}
		}
		return choice{[]node{throw{g.Int32N(3)}}, nil}
	case 3:
		return choice{[]node{rethrow{}}, nil}
	case 4, 5:
		if g.function > 0 {
			return call{g.Int32N(g.function), g.IntN(2) == 0}
		}
	case 6:
		if len(g.blocks) > 0 {
			return leave{g.blocks[g.IntN(len(g.blocks))], byte(g.IntN(3))}
		}
	case 7:
		return choice{[]node{result{}}, nil}
	case 8:
		return choice{g.list(depth - 1), g.list(depth - 1)}
	case 9, 10:
		b := &block{}
		if kind == 10 && g.loops < 2 {
			b.rounds, b.level = 1+byte(g.IntN(3)), g.loops
			g.loops++
			defer func() { g.loops-- }()
		}
		g.blocks = append(g.blocks, b)
		b.list = g.list(depth - 1)
		g.blocks = g.blocks[:len(g.blocks)-1]
		return b
	case 11, 12, 13:
		return g.attempt(depth)
	}
	return trace{g.Int32N(1000)}
}

func (g *generator) attempt(depth int) node {
	a := &attempt{list: append(g.list(depth-1), g.list(depth-1)...), result: g.IntN(3) == 0}
	for range g.IntN(4) {
		h := handler{kind: byte(g.IntN(4)), tag: g.Int32N(3), list: g.list(depth - 1)}
		if h.kind == 0 && h.tag == 0 && g.IntN(3) == 0 {
			h.list = nil
		}
		a.clauses = append(a.clauses, h)
	}
	return a
}
