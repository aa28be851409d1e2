package science

import "encoding/binary"

// Opcodes.
const (
	opBlock  = 0x02
	opLoop   = 0x03
	opIf     = 0x04
	opElse   = 0x05
	opEnd    = 0x0b
	opBr     = 0x0c
	opBrIf   = 0x0d
	opEqz    = 0x45
	opEq     = 0x46
	opNe     = 0x47
	opReturn = 0x0f
	opLtS    = 0x48
	opGtS    = 0x4a
	opLeS    = 0x4c
	opMul    = 0x6c
	opAdd    = 0x6a
	opSub    = 0x6b
	opAnd    = 0x71
	opOr     = 0x72
	void     = 0x40

	typeI32 = 0x7f
	typeI64 = 0x7e
	typeF64 = 0x7c
)

// An assembler makes code that stands before a function's own.
type assembler struct {
	names    map[string]int
	next     int // the function's parameters and locals
	declared []byte
	code     []byte
}

// local declares a local.
func (a *assembler) local(kind byte) int {
	a.declared = append(a.declared, 1, kind)
	a.next++
	return a.next - 1
}

func (a *assembler) op(ops ...byte) *assembler {
	a.code = append(a.code, ops...)
	return a
}

func (a *assembler) index(op byte, i int) *assembler {
	a.code = appendNumber(append(a.code, op), i)
	return a
}

func (a *assembler) get(i int) *assembler { return a.index(0x20, i) }
func (a *assembler) set(i int) *assembler { return a.index(0x21, i) }
func (a *assembler) tee(i int) *assembler { return a.index(0x22, i) }

// load reads 32 bits at the address on the stack and an offset.
func (a *assembler) load(offset int) *assembler { return a.op(0x28, 2).number(offset) }

func (a *assembler) number(n int) *assembler {
	a.code = appendNumber(a.code, n)
	return a
}

func (a *assembler) i32(v int32) *assembler { return a.constant(0x41, int64(v)) }
func (a *assembler) i64(v int64) *assembler { return a.constant(0x42, v) }

func (a *assembler) constant(op byte, v int64) *assembler {
	a.code = append(a.code, op)
	for v < -0x40 || v >= 0x40 {
		a.code = append(a.code, byte(v)|0x80)
		v >>= 7
	}
	a.code = append(a.code, byte(v)&0x7f)
	return a
}

func (a *assembler) call(name string) *assembler { return a.index(0x10, a.names[name]) }

func appendNumber(to []byte, n int) []byte { return binary.AppendUvarint(to, uint64(n)) }

// A loop goes over the operands of one of numpy's.
type loop struct{ left, x, y, stepX, stepY int }

// each runs what body makes for each pair of operands of a function whose parameters from
// the first on are the addresses of the operands, of their number and of their steps. It
// stands in a block, which it leaves where there is none.
func (a *assembler) each(first int, alone bool, body func(*loop)) {
	operands, count, steps := first, first+1, first+2
	l := &loop{a.local(typeI32), a.local(typeI32), a.local(typeI32), a.local(typeI32), a.local(typeI32)}
	a.get(count).load(0).tee(l.left).op(opEqz).op(opBrIf, 0)
	a.get(operands).load(0).set(l.x).get(steps).load(0).set(l.stepX)
	if !alone {
		a.get(operands).load(4).set(l.y).get(steps).load(4).set(l.stepY)
	}
	a.op(opLoop, void)
	body(l)
	a.get(l.x).get(l.stepX).op(opAdd).set(l.x)
	if !alone {
		a.get(l.y).get(l.stepY).op(opAdd).set(l.y)
	}
	a.get(l.left).i32(1).op(opSub).tee(l.left).op(opBrIf, 0).op(opEnd)
}
