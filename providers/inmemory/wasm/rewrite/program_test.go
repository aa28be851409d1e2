package rewrite_test

import (
	"fmt"
	"slices"
)

// A program is a module of random functions that throw and catch. They are (i32) -> (i32)
// and call those before them. Their locals are the parameter, a number, a reference to an
// exception and two counters.
type program struct{ functions [][]node }

const (
	number, reference, counters = 1, 2, 3

	// numbers of functions that are imported
	yieldFunction, traceFunction, imported = 0, 1, 2
)

// A node is a statement. It is emitted as code, and run by a model of exceptions.
type node interface {
	emit(e *emitter)
	run(s *state) signal
}

// A signal tells how a node ended.
type signal struct {
	kind  byte // 0: go on
	block *block
	exception
}

const (
	leaves, returns, throws, traps = 1, 2, 3, 4
)

// An exception has a tag: 0 has a value, 1 and 2 have none.
type exception struct{ tag, value int32 }

type state struct {
	p      *program
	locals [3 + 2]int32
	ref    *exception
	trace  *[]string
}

type emitter struct {
	code
	depth int
}

// code is appended to.
type code []byte

func (e *emitter) ops(b ...byte) { e.code = append(e.code, b...) }

func (e *emitter) number(v int32) {
	e.ops(0x41, byte(v)&0x7f|0x80, byte(v>>7)&0x7f|0x80, byte(v>>14)&0x7f)
}

func (e *emitter) all(list []node) {
	for _, n := range list {
		n.emit(e)
	}
}

func run(list []node, s *state) signal {
	for _, n := range list {
		if r := n.run(s); r.kind != 0 {
			return r
		}
	}
	return signal{}
}

// trace shows the number to the host.
type trace struct{ id int32 }

func (n trace) emit(e *emitter) {
	e.number(n.id)
	e.ops(0x20, number, 0x10, traceFunction)
}

func (n trace) run(s *state) signal {
	*s.trace = append(*s.trace, fmt.Sprint(n.id, s.locals[number]))
	return signal{}
}

// change changes the number.
type change struct{ by int32 }

func (n change) emit(e *emitter) {
	e.ops(0x20, number)
	e.number(n.by)
	e.ops(0x6a, 0x21, number)
}

func (n change) run(s *state) signal {
	s.locals[number] += n.by
	return signal{}
}

// throw throws the number.
type throw struct{ tag int32 }

func (n throw) emit(e *emitter) {
	e.ops(0x20, number)
	if n.tag > 0 {
		e.ops(0x1a)
	}
	e.ops(0x08, byte(n.tag))
}

func (n throw) run(s *state) signal {
	x := exception{n.tag, s.locals[number]}
	if n.tag > 0 {
		x.value = 0
	}
	return signal{kind: throws, exception: x}
}

// rethrow throws what was caught with a reference, and traps where nothing was.
type rethrow struct{}

func (rethrow) emit(e *emitter) { e.ops(0x20, reference, 0x0a) }

func (rethrow) run(s *state) signal {
	if s.ref == nil {
		return signal{kind: traps}
	}
	return signal{kind: throws, exception: *s.ref}
}

// call adds what a function returns to the number, which lies under its argument.
type call struct {
	function int32
	indirect bool
}

func (n call) emit(e *emitter) {
	e.ops(0x20, number)
	e.number(n.function * 5)
	if n.indirect {
		e.number(n.function)
		e.ops(0x11, 1, 0)
	} else {
		e.ops(0x10, byte(n.function+imported))
	}
	e.ops(0x6a, 0x21, number)
}

func (n call) run(s *state) signal {
	v, r := s.p.call(n.function, n.function*5, s.trace)
	s.locals[number] += v
	return r
}

// choice runs one of two lists.
type choice struct{ yes, no []node }

func (n choice) emit(e *emitter) {
	e.ops(0x20, number, 0x41, 1, 0x71, 0x04, 0x40)
	e.depth++
	e.all(n.yes)
	e.ops(0x05)
	e.all(n.no)
	e.ops(0x0b)
	e.depth--
}

func (n choice) run(s *state) signal {
	if s.locals[number]&1 != 0 {
		return run(n.yes, s)
	}
	return run(n.no, s)
}

// block is one that leave leaves, or a loop of so many rounds.
type block struct {
	list   []node
	rounds byte
	level  byte // of loops
	depth  int
}

func (n *block) emit(e *emitter) {
	e.ops(0x02, 0x40)
	e.depth++
	n.depth = e.depth
	if n.rounds > 0 {
		e.ops(0x41, n.rounds, 0x21, counters+n.level, 0x03, 0x40)
		e.depth++
	}
	e.all(n.list)
	if n.rounds > 0 {
		e.ops(0x20, counters+n.level, 0x41, 1, 0x6b, 0x22, counters+n.level, 0x0d, 0, 0x0b)
		e.depth--
	}
	e.ops(0x0b)
	e.depth--
}

func (n *block) run(s *state) signal {
	for range max(n.rounds, 1) {
		if r := run(n.list, s); r.kind == leaves && r.block == n {
			break
		} else if r.kind != 0 {
			return r
		}
	}
	return signal{}
}

// leave leaves a block: by a branch, a conditional one or a table.
type leave struct {
	block *block
	how   byte
}

func (n leave) emit(e *emitter) {
	to := byte(e.depth - n.block.depth)
	switch n.how {
	case 0:
		e.ops(0x0c, to)
	case 1:
		e.ops(0x20, number, 0x0d, to)
	default:
		e.ops(0x20, number, 0x0e, 1, to, to)
	}
}

func (n leave) run(s *state) signal {
	if n.how == 1 && s.locals[number] == 0 {
		return signal{}
	}
	return signal{kind: leaves, block: n.block}
}

// result returns the number.
type result struct{}

func (result) emit(e *emitter) { e.ops(0x20, number, 0x0f) }

func (result) run(*state) signal { return signal{kind: returns} }

// attempt is a try_table. Each clause has a block of its own, but one without a list
// returns the exception's value.
type attempt struct {
	list    []node
	result  bool // it has one: 3, which becomes the number
	clauses []handler
}

type handler struct {
	kind byte // as in the format
	tag  int32
	list []node
}

func (h *handler) catches(x exception) bool { return h.kind >= 2 || h.tag == x.tag }

// shape is the type of a clause's block, by its kind and whether the tag has a value.
func (h *handler) shape() byte {
	value, ref := h.kind < 2 && h.tag == 0, h.kind&1 == 1
	switch {
	case value && ref:
		return 4
	case value:
		return 0x7f
	case ref:
		return 0x69
	}
	return 0x40
}

func (n *attempt) emit(e *emitter) {
	e.ops(0x02, 0x40)
	for i := range n.clauses {
		e.ops(0x02, n.clauses[len(n.clauses)-1-i].shape())
	}
	e.depth += 1 + len(n.clauses)
	shape := byte(0x40)
	if n.result {
		shape = 0x7f
	}
	e.ops(0x1f, shape, byte(len(n.clauses)))
	for i, h := range n.clauses {
		e.ops(h.kind)
		if h.kind < 2 {
			e.ops(byte(h.tag))
		}
		if h.list == nil {
			i = e.depth
		}
		e.ops(byte(i))
	}
	e.depth++
	e.all(n.list)
	e.depth--
	if n.result {
		e.ops(0x41, 3, 0x0b, 0x21, number)
	} else {
		e.ops(0x0b)
	}
	e.ops(0x0c, byte(len(n.clauses)))
	for i, h := range n.clauses {
		e.ops(0x0b)
		e.depth--
		if h.kind&1 == 1 {
			e.ops(0x21, reference)
		}
		if h.kind < 2 && h.tag == 0 {
			e.ops(0x21, number)
		}
		e.all(h.list)
		e.ops(0x0c, byte(len(n.clauses)-1-i))
	}
	e.ops(0x0b)
	e.depth--
}

func (n *attempt) run(s *state) signal {
	r := run(n.list, s)
	if r.kind != throws {
		if n.result && r.kind == 0 {
			s.locals[number] = 3
		}
		return r
	}
	i := slices.IndexFunc(n.clauses, func(h handler) bool { return h.catches(r.exception) })
	if i < 0 {
		return r
	}
	h := n.clauses[i]
	if h.kind&1 == 1 {
		s.ref = &r.exception
	}
	if h.kind < 2 && h.tag == 0 {
		s.locals[number] = r.value
	}
	if h.list == nil {
		return signal{kind: returns}
	}
	return run(h.list, s)
}

// call runs a function by the model.
func (p *program) call(function, argument int32, trace *[]string) (int32, signal) {
	s := &state{p: p, trace: trace}
	s.locals[0], s.locals[number] = argument, argument
	r := run(p.functions[function], s)
	if r.kind == throws || r.kind == traps {
		return 0, r
	}
	return s.locals[number], signal{}
}
