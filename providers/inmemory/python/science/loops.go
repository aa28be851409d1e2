package science

// checkOverflow makes a loop of 32-bit integers report results that have more bits, so that
// numpy warns. It is that of indices, which have 64 bits elsewhere. result leaves the result
// of 64 bits on the stack.
func checkOverflow(a *assembler, first int, alone bool, result func(*assembler, *loop)) {
	steps := first + 2
	over, v := a.local(typeI32), a.local(typeI64)
	a.op(opBlock, void)
	if !alone { // a sum, which has a type of its own
		a.get(steps).load(8).op(opEqz).op(opBrIf, 0)
	}
	a.i32(0).set(over)
	a.each(first, alone, func(l *loop) {
		result(a, l)
		a.tee(v).get(v).op(opExtend32).op(opNe64).get(over).op(opOr).set(over)
	})
	a.get(over).op(opIf, void).call("npy_set_floatstatus_overflow").op(opEnd).op(opEnd)
}

// Opcodes of 64-bit integers and of floating-point numbers.
const (
	opNe64     = 0x52
	opLtU64    = 0x54
	opGeU64    = 0x5a
	opEqF64    = 0x61
	opNeF64    = 0x62
	opAdd64    = 0x7c
	opMul64    = 0x7e
	opShl64    = 0x86
	opSubF64   = 0xa1
	opDivF64   = 0xa3
	opWrap     = 0xa7
	opExtend32 = 0xc4
	opSelect   = 0x1b
	opEq64     = 0x51
)

// narrow makes the conversion of 64-bit integers to indices check them.
func narrow(a *assembler) {
	const first = 1
	checkOverflow(a, first, true, func(a *assembler, l *loop) { a.get(l.x).op(0x29, 3, 0) })
}

// dot makes the sum of products of indices report what has more bits.
func dot(a *assembler) {
	const x, stepX, y, stepY, n = 0, 1, 2, 3, 5
	at, to, left, sum := a.local(typeI32), a.local(typeI32), a.local(typeI32), a.local(typeI64)
	a.get(x).set(at).get(y).set(to).get(n).set(left).op(opLoop, void).get(left).i32(0).op(opGtS).op(opIf, void)
	a.get(sum).operand(at).operand(to).op(opMul64).op(opAdd64).set(sum)
	a.get(at).get(stepX).op(opAdd).set(at).get(to).get(stepY).op(opAdd).set(to).get(left).i32(1).op(opSub).set(left).op(opBr, 1)
	a.op(opEnd).op(opEnd)
	a.get(sum).get(sum).op(opExtend32).op(opNe64).op(opIf, void).call("npy_set_floatstatus_overflow").op(opEnd)
}

// widen makes operations on index arrays those of 64-bit integers, as they are where indices
// have 64 bits: it replaces the types of the inputs before a loop is chosen. Python ints
// beside them get that type too, unless they do not fit.
func widen(a *assembler) {
	const function, arrays, types = 0, 1, 3
	at, left, old, new, found := a.local(typeI32), a.local(typeI32), a.local(typeI32), a.local(typeI32), a.local(typeI32)
	count := func(object int, by int32) { // a reference, of an object that is not immortal
		n := a.local(typeI32)
		a.get(object).load(0).tee(n).i32(1<<30-1).op(opLeS).op(opIf, void)
		a.get(object).get(n).i32(by).op(opAdd).op(0x36, 2, 0).op(opEnd)
	}
	each := func(fits func()) {
		a.get(types).set(at).get(function).load(8).set(left)
		a.op(opLoop, void).get(left).i32(0).op(opGtS).op(opIf, void)
		a.get(at).load(0).get(old).op(opEq)
		fits()
		a.op(opIf, void).get(at).get(new).op(0x36, 2, 0).i32(1).set(found)
		count(new, 1)
		count(old, -1)
		a.op(opEnd).get(at).i32(4).op(opAdd).set(at).get(left).i32(1).op(opSub).set(left).op(opBr, 1)
		a.op(opEnd).op(opEnd)
	}
	a.i32(0).load(indexTypeAt).set(old).i32(0).load(longLongTypeAt).set(new)
	each(func() {})
	a.get(found).op(opIf, void).i32(pythonIntType).set(old)
	each(func() {
		a.op(opIf, typeI32).get(arrays).get(at).op(opAdd).get(types).op(opSub).load(0).load(28).load(16).i32(9).op(opEq).op(opElse).i32(0).op(opEnd)
	})
	a.op(opEnd)
}

// operand leaves an operand with 64 bits on the stack.
func (a *assembler) operand(at int) *assembler { return a.get(at).op(0x34, 2, 0) }

func operation(op byte) func(*assembler, *loop) {
	return func(a *assembler, l *loop) { a.operand(l.x).operand(l.y).op(op) }
}

func square(a *assembler, l *loop) { a.operand(l.x).operand(l.x).op(opMul64) }

// shift shifts by 32 bits at most, which no number survives but zero.
func shift(a *assembler, l *loop) {
	by := a.local(typeI64)
	a.operand(l.x).operand(l.y).tee(by).i64(32).get(by).i64(32).op(opLtU64).op(opSelect).op(opShl64)
}

// power multiplies until there are more than 32 bits, or a number that stays as it is.
func power(a *assembler, l *loop) {
	base, v, n := a.local(typeI64), a.local(typeI64), a.local(typeI32)
	a.i64(1).set(v).operand(l.x).tee(base).i64(1).op(opAdd64).i64(3).op(opGeU64).op(opIf, void) // not -1, 0 or 1
	a.operand(l.y).op(opWrap).set(n)
	a.op(opLoop, void).get(n).i32(0).op(opGtS).op(opIf, void)
	a.get(v).get(base).op(opMul64).tee(v).get(v).op(opExtend32).op(opEq64).op(opIf, void)
	a.get(n).i32(1).op(opSub).set(n).op(opBr, 2)
	a.op(opEnd).op(opEnd).op(opEnd).op(opEnd).get(v)
}

// divide makes the loop of divisions report what the processor's flags say elsewhere.
func divide(a *assembler) {
	x, y, z := a.local(typeF64), a.local(typeF64), a.local(typeF64)
	finite := func(v int) { a.get(v).get(v).op(opSubF64).zero().op(opEqF64) }
	a.op(opBlock, void)
	a.each(0, false, func(l *loop) {
		a.get(l.x).float().tee(x).get(l.y).float().tee(y).op(opDivF64).tee(z).get(z).op(opSubF64).zero().op(opNeF64).op(opIf, void)
		a.get(z).get(z).op(opNeF64).op(opIf, void) // no number
		a.get(x).get(x).op(opEqF64).get(y).get(y).op(opEqF64).op(opAnd).op(opIf, void).call("npy_set_floatstatus_invalid").op(opEnd)
		a.op(opElse)
		finite(x)
		a.op(opIf, void).get(y).zero().op(opEqF64).op(opIf, void).call("npy_set_floatstatus_divbyzero")
		a.op(opElse).call("npy_set_floatstatus_overflow").op(opEnd).op(opEnd).op(opEnd).op(opEnd)
	})
	a.op(opEnd)
}

func (a *assembler) zero() *assembler { return a.op(0x44, 0, 0, 0, 0, 0, 0, 0, 0) }

// float reads 64 bits of a floating-point number.
func (a *assembler) float() *assembler { return a.op(0x2b, 3, 0) }
