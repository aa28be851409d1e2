package rewrite

// skip reads the rest of an instruction that is not changed.
func skip(r *reader, op byte) {
	switch {
	case op <= 0x01, op == opElse, op == opReturn, op == opDrop, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= 0x26, op == 0xd2:
		r.u32()
	case op == opIndirect:
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
	case op == opI64Const:
		r.signed(64)
	case op == 0x43:
		r.take(4)
	case op == 0x44:
		r.take(8)
	case op == opBrTable:
		for n := uint64(r.count()) + 1; n > 0 && r.err == nil; n-- {
			r.u32()
		}
	case op == opSelectTyped:
		r.types(r.count())
	case op == opRefNull:
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
