package rewrite

// Opcodes that matter to a change.
const (
	opBlock    = 0x02
	opLoop     = 0x03
	opIf       = 0x04
	opElse     = 0x05
	opEnd      = 0x0b
	opBr       = 0x0c
	opBrTable  = 0x0e
	opReturn   = 0x0f
	opCall     = 0x10
	opLocalGet = 0x20
	opLocalSet = 0x21
	opGet      = 0x23 // of a global
	opSet      = 0x24
	opI32Const = 0x41
	opI32LtS   = 0x48
	opI32GtU   = 0x4b
	opI32LeU   = 0x4d
	opI32Add   = 0x6a
	opI32Sub   = 0x6b
	opI32ShrU  = 0x76
	opMore     = 0xfc
	opVector   = 0xfd

	moreCopy, moreFill = 10, 11

	noResult = 0x40 // the type of a block
)

// bodies returns the changed functions, and those that were added.
func (m *module) bodies(fuel int32) ([]byte, error) {
	r := &reader{b: m.sections[idCode]}
	n := uint32(0)
	if r.b != nil {
		n = r.count()
	}
	if r.err == nil && n != m.functions-m.imports {
		r.fail("%d functions have %d bodies", m.functions-m.imports, n)
	}
	out := make(code, 0, len(r.b)+len(r.b)/8)
	check := m.check(fuel)
	var body code
	for ; n > 0 && r.err == nil; n-- {
		f := &reader{b: r.take(r.u32())}
		if r.err != nil {
			break
		}
		body = m.body(body[:0], f, check)
		if f.err != nil {
			return nil, f.err
		}
		out = out.sized(body)
	}
	if r.more() {
		r.fail("bytes behind the functions")
	}
	if m.bulk {
		out = out.sized(m.copyBody(check)).sized(m.fillBody(check))
	}
	return out, r.err
}

// check returns the code that stands at the start of a loop: it takes one from the fuel
// and yields where none is left.
func (m *module) check(fuel int32) code {
	g := m.globals
	c := code(nil).index(opGet, g).number(1).ops(opI32Sub).index(opSet, g)
	c = c.index(opGet, g).number(0).ops(opI32LtS, opIf, noResult)
	return c.index(opCall, m.yield).number(fuel).index(opSet, g).ops(opEnd)
}

// body appends a changed function to out.
func (m *module) body(out code, r *reader, check code) code {
	for n := r.count(); n > 0 && r.err == nil; n-- { // its locals
		r.u32()
		r.byte()
	}
	depth, copied := 1, 0
	for depth > 0 && r.more() {
		start := r.at
		op := r.byte()
		switch op {
		case opBlock, opLoop, opIf:
			r.signed(33)
			depth++
		case opEnd:
			depth--
		case opMore:
			if name, ok := m.more(r); ok {
				out = append(out, r.b[copied:start]...)
				out = out.index(opCall, m.functions+name)
				m.bulk, copied = true, r.at
			}
		default:
			skip(r, op)
		}
		if op == opLoop && r.err == nil {
			out = append(append(out, r.b[copied:r.at]...), check...)
			copied = r.at
		}
	}
	if depth > 0 || r.at < len(r.b) {
		r.fail("a function has no end, or bytes behind it")
	}
	if r.err != nil {
		return out
	}
	return append(out, r.b[copied:]...)
}

// more reads the rest of an instruction with a prefix. ok tells that the function with
// the number, of those that are added, stands for it.
func (m *module) more(r *reader) (function uint32, ok bool) {
	switch sub := r.u32(); {
	case sub <= 7: // conversions that saturate
	case sub == moreCopy:
		if a, b := r.byte(), r.byte(); a|b != 0 {
			r.fail("a copy between memories")
		}
		return 0, true
	case sub == moreFill:
		if r.byte() != 0 {
			r.fail("a fill of another memory")
		}
		return 1, true
	default:
		r.fail("the instruction 0xfc %d", sub)
	}
	return 0, false
}

// skip reads the rest of an instruction.
func skip(r *reader, op byte) {
	switch {
	case op <= 0x01, op == opElse, op == opReturn, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	case op == opBr, op == 0x0d, op == opCall, op >= opLocalGet && op <= 0x26, op == 0xd2:
		r.u32()
	case op == 0x11: // an indirect call
		r.u32()
		r.u32()
	case op >= 0x28 && op <= 0x3e: // loads and stores
		memarg(r)
	case op == 0x3f, op == 0x40:
		if r.byte() != 0 {
			r.fail("another memory")
		}
	case op == opI32Const:
		r.signed(32)
	case op == 0x42:
		r.signed(64)
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op == opBrTable:
		for n := uint64(r.count()) + 1; n > 0 && r.err == nil; n-- {
			r.u32()
		}
	case op == 0x1c: // select with types
		r.take(r.u32())
	case op == 0xd0:
		r.signed(33)
	case op == opVector:
		skipVector(r)
	default:
		r.fail("the instruction %#x", op)
	}
}

func memarg(r *reader) {
	if r.u32() > 16 { // other bits name a memory
		r.fail("an access of another memory")
	}
	r.u32()
}

// skipVector reads the rest of a vector instruction.
func skipVector(r *reader) {
	switch sub := r.u32(); {
	case sub <= 11, sub == 92, sub == 93:
		memarg(r)
	case sub == 12, sub == 13:
		r.take(16)
	case sub >= 21 && sub <= 34:
		r.byte()
	case sub >= 84 && sub <= 91:
		memarg(r)
		r.byte()
	case sub > 0xff:
		r.fail("the instruction 0xfd %d", sub)
	}
}
