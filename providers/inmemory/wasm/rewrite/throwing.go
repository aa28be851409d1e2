package rewrite

// findThrowing finds out which functions may throw: those with a throw or an indirect
// call, and those that call one of them. Functions of the host do not.
func (m *module) findThrowing() error {
	if m.tags == nil {
		return nil
	}
	m.throws = make([]bool, m.functions())
	callers := make([][]uint32, m.functions())
	err := m.eachBody(func(f uint32, source []byte) error {
		b := &body{module: m, r: &reader{b: source}}
		b.locals()
		for r := b.r; r.more(); {
			switch op := r.byte(); op {
			case opThrow:
				r.u32()
				m.throws[f] = true
			case opThrowRef:
				m.throws[f] = true
			case opIndirect:
				skip(r, op)
				m.throws[f] = true
			case opCall:
				if callee := r.u32(); callee >= m.imports && callee < m.functions() {
					callers[callee] = append(callers[callee], f)
				}
			default:
				b.passOver(op)
			}
		}
		return b.r.err
	})
	var todo []uint32
	for f, throws := range m.throws {
		if throws {
			todo = append(todo, uint32(f))
		}
	}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range callers[f] {
			if !m.throws[c] {
				m.throws[c] = true
				todo = append(todo, c)
			}
		}
	}
	return err
}

// passOver reads the rest of any instruction but calls and throws.
func (b *body) passOver(op byte) {
	r := b.r
	switch op {
	case opBlock, opLoop, opIf:
		b.blockType()
	case opEnd:
	case opMore:
		b.more(r)
	case opTry:
		b.blockType()
		for n := r.count(); n > 0 && r.err == nil; n-- {
			if r.byte() <= catchTagRef {
				r.u32()
			}
			r.u32()
		}
	default:
		skip(r, op)
	}
}
