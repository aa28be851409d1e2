package rewrite

// findThrowing finds out which functions may throw: those with a throw or an indirect
// call, and those that call one of them. Functions of the host do not.
func (m *module) findThrowing() error {
	if m.tags == nil {
		return nil
	}
	m.throws = make([]bool, m.functions())
	callers := make([][]uint32, m.functions())
	var first []uint32
	err := m.eachBody(func(f uint32, source []byte) error {
		b := &body{module: m, r: &reader{b: source}}
		b.locals()
		for r := b.r; r.more(); {
			switch op := r.byte(); op {
			case opCall:
				if callee := r.u32(); callee >= m.imports && callee < m.functions() {
					callers[callee] = append(callers[callee], f)
				}
			case opThrow, opThrowRef, opIndirect:
				first = append(first, f)
				fallthrough
			default:
				b.passOver(op)
			}
		}
		return b.r.err
	})
	var mark func(f uint32)
	mark = func(f uint32) {
		if !m.throws[f] {
			m.throws[f] = true
			for _, c := range callers[f] {
				mark(c)
			}
		}
	}
	for _, f := range first {
		mark(f)
	}
	return err
}

// passOver reads the rest of any instruction.
func (b *body) passOver(op byte) {
	r := b.r
	switch op {
	case opBlock, opLoop, opIf:
		b.blockType()
	case opEnd, opThrowRef:
	case opThrow:
		r.u32()
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
