package rewrite

const (
	// piece is how many bytes are copied or filled between two looks at the fuel.
	piece = 1 << 20

	// chargeShift makes fuel of a number of bytes: 64 are one iteration of a loop.
	chargeShift = 6
)

// The parameters of the functions that are added.
const (
	to   = 0
	from = 1 // what to copy, or the value to fill with
	size = 2
)

// charge takes the fuel for the bytes whose number is on the stack.
func (m *module) charge(c code) code {
	g := m.globals
	// The number is below the fuel; to subtract it takes its negative.
	c = c.number(chargeShift).ops(opI32ShrU).number(-1).ops(opI32Mul)
	return c.index(opGet, g).ops(opI32Add).index(opSet, g)
}

// rest ends a function: what is left, at most a piece, is done at once.
func (m *module) rest(c code, instruction ...byte) code {
	c = c.index(opLocalGet, to).index(opLocalGet, from).index(opLocalGet, size).ops(instruction...)
	return m.charge(c.index(opLocalGet, size)).ops(opEnd)
}

// step adds a number to a parameter.
func step(c code, param uint32, by int32) code {
	return c.index(opLocalGet, param).number(by).ops(opI32Add).index(opLocalSet, param)
}

// whileLarge begins a loop that goes on while more than a piece is left.
func whileLarge(c, check code) code {
	c = append(c.ops(opLoop, noResult), check...)
	return c.index(opLocalGet, size).number(piece).ops(opI32GtU, opIf, noResult)
}

// again ends it.
func (m *module) again(c code) code {
	return m.charge(c.number(piece)).index(opBr, 1).ops(opEnd, opEnd)
}

// fillBody is a function that does what memory.fill does.
func (m *module) fillBody(check code) code {
	fill := []byte{opMore, moreFill, 0}
	c := whileLarge(code{0}, check)
	c = c.index(opLocalGet, to).index(opLocalGet, from).number(piece).ops(fill...)
	c = step(step(c, to, piece), size, -piece)
	return m.rest(m.again(c), fill...)
}

// copyBody is a function that does what memory.copy does. The pieces go from the end
// where the places overlap so that the first would overwrite the next.
func (m *module) copyBody(check code) code {
	move := []byte{opMore, moreCopy, 0, 0}
	c := code{0}.index(opLocalGet, to).index(opLocalGet, from).ops(opI32LeU, opIf, noResult)
	c = whileLarge(c, check)
	c = c.index(opLocalGet, to).index(opLocalGet, from).number(piece).ops(move...)
	c = step(step(step(c, to, piece), from, piece), size, -piece)
	c = m.again(c).ops(opElse)
	c = step(whileLarge(c, check), size, -piece)
	for _, param := range []uint32{to, from} {
		c = c.index(opLocalGet, param).index(opLocalGet, size).ops(opI32Add)
	}
	c = m.again(c.number(piece).ops(move...)).ops(opEnd)
	return m.rest(c, move...)
}
