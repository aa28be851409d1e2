package rewrite

// Exceptions become plain code. Two globals hold the exception that is on its way: which
// tag it has, plus one, and its value. Each call that may throw is followed by a branch to
// the handler around it where the first of them is not zero. The handler of a function
// returns zeros to its caller, who looks in turn. A reference to an exception becomes the
// 64 bits of both globals, of which zero is the null.

// pending returns the global that says which exception is on its way, zero for none.
func (m *module) pending() uint32 { return m.globals + 1 }

// payload returns the global with the value of that exception.
func (m *module) payload() uint32 { return m.globals + 2 }

// A scope is a block of the source.
type scope struct {
	label   int // the level in out that a branch to it leaves
	handler int // the level whose end is its handler; 0 if it has none
	clauses []clause
}

// A clause tells what a handler catches.
type clause struct {
	kind   byte
	tag    uint32
	target uint32 // a label
}

// Kinds of clauses.
const (
	catchTag = iota
	catchTagRef
	catchAll
	catchAllRef
)

// lower changes an instruction if exceptions or added blocks ask for it. Otherwise it has
// read nothing.
func (b *body) lower(op byte, start int) (changed bool) {
	r := b.r
	switch op {
	case opTry:
		b.try(start)
	case opThrow:
		b.throw(start)
	case opThrowRef:
		b.emit(start)
		b.out = b.out.index(opCall, b.functions()+throwFunction)
		b.unwind(opBr)
	case opBr, opBrIf:
		label := b.label(r.u32())
		b.emit(start)
		b.out = b.out.index(op, label)
	case opBrTable:
		b.emit(start)
		n := r.count()
		b.out = b.out.index(op, n)
		for n := uint64(n) + 1; n > 0 && r.err == nil; n-- {
			b.out = b.out.u32(b.label(r.u32()))
		}
		b.copied = r.at
	case opCall:
		f := r.u32()
		if f >= b.functions() {
			r.fail("a call of the function %d", f)
		} else if b.throws[f] {
			b.look()
		}
	case opIndirect:
		r.u32()
		r.u32()
		b.look()
	default:
		return false
	}
	return true
}

// label returns the label in out that stands for one of the source.
func (b *body) label(l uint32) uint32 {
	if uint64(l) >= uint64(len(b.scopes)) {
		b.r.fail("a branch out of %d blocks", l)
		return 0
	}
	return uint32(b.level - b.scopes[len(b.scopes)-1-int(l)].label)
}

// look branches to the handler if the call before has thrown.
func (b *body) look() {
	b.emit(b.r.at)
	b.out = b.out.index(opGet, b.pending())
	b.unwind(opBrIf)
}

// unwind appends a branch to the nearest handler.
func (b *body) unwind(op byte) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if h := b.scopes[i].handler; h > 0 {
			b.out = b.out.index(op, uint32(b.level-h))
			return
		}
	}
	b.out = b.out.ops(opUnreachable) // nothing here throws
}

// try begins a block with a handler.
func (b *body) try(start int) {
	r := b.r
	if len(b.blockType().params) > 0 {
		r.fail("a try with parameters")
	}
	typed := r.at
	var s scope
	for n := r.count(); n > 0 && r.err == nil; n-- {
		c := clause{kind: r.byte()}
		switch {
		case c.kind > catchAllRef:
			r.fail("a catch of kind %d", c.kind)
		case c.kind <= catchTagRef:
			if c.tag = r.u32(); int(c.tag) >= len(b.tags) {
				r.fail("a catch of the tag %d", c.tag)
			}
		}
		c.target = r.u32()
		if int(c.target) >= len(b.scopes) {
			r.fail("a catch out of %d blocks", c.target)
		}
		s.clauses = append(s.clauses, c)
	}
	if r.err != nil {
		return
	}
	b.emit(start).ops(opBlock).ops(r.b[start+1 : typed]...)
	b.level++
	s.label = b.level
	if len(s.clauses) > 0 {
		b.ops(opBlock, noResult)
		b.level++
		s.handler = b.level
	}
	b.scopes = append(b.scopes, s)
}

// throw sets the globals and goes to the handler.
func (b *body) throw(start int) {
	tag := b.r.u32()
	if int(tag) >= len(b.tags) {
		b.r.fail("a throw of the tag %d", tag)
		return
	}
	b.emit(start)
	if b.tags[tag] {
		b.out = b.out.index(opSet, b.payload())
	}
	b.out = b.out.number(int32(tag)+1).index(opSet, b.pending())
	b.unwind(opBr)
}

// end ends a block.
func (b *body) end(start int, function uint32) {
	last := len(b.scopes) - 1
	s := b.scopes[last]
	b.scopes = b.scopes[:last]
	switch {
	case s.handler == 0:
		b.level--
	case last == 0:
		b.emit(start).ops(opReturn, opEnd)
		for _, t := range b.types[b.typeOf[function]].results {
			b.out = append(b.out, zero(t)...)
		}
		b.ops(opEnd)
	default:
		b.emit(start).ops(opBr, 1, opEnd)
		b.level--
		b.dispatch(s.clauses)
		b.ops(opEnd)
		b.level--
	}
}

// dispatch gives the exception to the first clause that catches it, or to the next
// handler.
func (b *body) dispatch(clauses []clause) {
	for _, c := range clauses {
		if c.kind <= catchTagRef {
			b.out = b.out.index(opGet, b.pending()).number(int32(c.tag)+1).ops(opI32Eq, opIf, noResult)
			b.level++
			if b.tags[c.tag] {
				b.out = b.out.index(opGet, b.payload())
			}
		}
		if c.kind == catchTagRef || c.kind == catchAllRef {
			b.out = b.out.index(opCall, b.functions()+refFunction)
		}
		b.out = b.out.number(0).index(opSet, b.pending())
		// The scope of the try is closed, so labels are those around it.
		b.out = b.out.index(opBr, b.label(c.target))
		if c.kind >= catchAll {
			return
		}
		b.ops(opEnd)
		b.level--
	}
	b.unwind(opBr)
}

// zeros are the code for values that are not used. References are null.
var zeros = map[byte]code{
	typeI32:  {opI32Const, 0},
	typeI64:  {opI64Const, 0},
	typeF32:  {0x43, 4: 0},
	typeF64:  {0x44, 8: 0},
	typeV128: {opVector, 12, 17: 0},
}

func zero(t byte) code {
	if c := zeros[t]; c != nil {
		return c
	}
	return code{opRefNull, t}
}
