package rewrite

import (
	"maps"
	"strconv"
)

// Opcodes that matter to a change.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opThrow       = 0x08
	opThrowRef    = 0x0a
	opEnd         = 0x0b
	opBr          = 0x0c
	opBrIf        = 0x0d
	opBrTable     = 0x0e
	opReturn      = 0x0f
	opCall        = 0x10
	opIndirect    = 0x11 // a call
	opDrop        = 0x1a
	opSelectTyped = 0x1c
	opTry         = 0x1f // try_table
	opLocalGet    = 0x20
	opGet         = 0x23 // of a global
	opSet         = 0x24
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32Eq       = 0x46
	opRefNull     = 0xd0
	opMore        = 0xfc
	opVector      = 0xfd

	moreCopy, moreFill = 10, 11

	noResult = 0x40 // the type of a block
)

// eachBody calls do with each function that is not imported.
func (m *module) eachBody(do func(function uint32, body []byte) error) error {
	r := &reader{b: m.sections[idCode]}
	n := uint32(0)
	if r.b != nil {
		n = r.count()
	}
	if r.err == nil && n != m.functions()-m.imports {
		r.fail("%d functions have %d bodies", m.functions()-m.imports, n)
	}
	for f := m.imports; f < m.functions() && r.err == nil; f++ {
		if b := r.take(r.u32()); r.err == nil {
			if err := do(f, b); err != nil {
				return err
			}
		}
	}
	if r.more() {
		r.fail("bytes behind the functions")
	}
	return r.err
}

// bodies returns the changed functions, and those that were added.
func (m *module) bodies() ([]byte, error) {
	size := len(m.sections[idCode])
	out := make(code, 0, size+size/4)
	m.prepare()
	b := &body{module: m, check: m.assemble("check")}
	err := m.eachBody(func(function uint32, source []byte) error {
		b.change(function, source)
		out = out.sized(b.out)
		return b.r.err
	})
	if m.tags != nil {
		out = out.sized(m.added("throw-function")).sized(m.added("ref-function"))
	}
	if m.bulk {
		out = out.sized(m.added("copy-function")).sized(m.added("fill-function"))
	}
	return out, err
}

// prepare lets the module assemble words.
func (m *module) prepare() {
	m.words = maps.Clone(Words())
	m.words["full"], m.words["dropped"] = []string{strconv.Itoa(fuel)}, nil
	if len(m.types[m.typeOf[m.yield]].results) > 0 {
		m.words["dropped"] = []string{"drop"}
	}
	m.numbers = map[string]int{"@fuel": int(m.globals), "@pending": int(m.pending()), "@payload": int(m.payload()), "@yield": int(m.yield),
		"$to": 0, "$from": 1, "$size": 2}
}

func (m *module) assemble(word string) code {
	return (&Assembler{Words: m.words, Numbers: m.numbers}).Assemble([]string{word})
}

// added is a function that is added: it declares no locals.
func (m *module) added(word string) code { return append(code{0}, m.assemble(word)...) }

// A body is a function that is being changed.
type body struct {
	*module
	check  code // of loops
	r      *reader
	out    code
	copied int     // how much of the source out has
	scopes []scope // blocks of the source that are open
	level  int     // how many blocks of out are
	parts  int     // how many branches and calls there were
}

// forgetEvery is after how many branches and calls of a module with exceptions wazero's
// compiler is to forget which addresses it has checked, as it does behind an if. It copies
// what it knows for each part of a function, which for some takes most of a gigabyte.
const forgetEvery = 64

// forget counts a branch or call.
func (b *body) forget() {
	if b.parts++; b.parts%forgetEvery == 0 {
		b.emit(b.r.at)
		b.out = b.out.number(0).ops(opIf, noResult, opEnd)
	}
}

// change makes out of a function.
func (b *body) change(function uint32, source []byte) {
	b.r = &reader{b: source}
	b.out, b.copied, b.scopes, b.level, b.parts = b.out[:0], 0, append(b.scopes[:0], scope{}), 0, 0
	r := b.r
	b.locals()
	if b.throws != nil && b.throws[function] {
		b.emit(r.at).ops(opBlock, noResult)
		b.level++
		b.scopes[0].handler = b.level
	}
	for len(b.scopes) > 0 && r.more() {
		start := r.at
		op := r.byte()
		b.instruction(op, start, function)
		if b.tags != nil && (op == opBrIf || op == opCall || op == opIndirect) {
			b.forget()
		}
	}
	if len(b.scopes) > 0 || r.at < len(r.b) {
		r.fail("a function has no end, or bytes behind it")
	}
	b.emit(r.at)
}

// locals reads the declarations of locals.
func (b *body) locals() {
	r := b.r
	for n := r.count(); n > 0 && r.err == nil; n-- {
		r.u32()
		r.types(1)
	}
}

// emit copies what is before start and not copied yet. What is read until the next
// instruction is not copied.
func (b *body) emit(start int) *body {
	if b.r.err == nil {
		b.out = append(b.out, b.r.b[b.copied:start]...)
	}
	b.copied = b.r.at
	return b
}

func (b *body) ops(ops ...byte) *body {
	b.out = b.out.ops(ops...)
	return b
}

// instruction deals with the instruction at start.
func (b *body) instruction(op byte, start int, function uint32) {
	r := b.r
	switch op {
	case opBlock, opLoop, opIf:
		b.blockType()
		b.level++
		b.scopes = append(b.scopes, scope{label: b.level})
		if op == opLoop && r.err == nil {
			b.emit(r.at)
			b.out = append(b.out, b.check...)
		}
	case opEnd:
		b.end(start, function)
	case opMore:
		if which, ok := b.more(r); ok {
			b.emit(start)
			b.out = b.out.index(opCall, b.bulkFunction()+which)
			b.bulk = true
		}
	default:
		if b.tags == nil || !b.lower(op, start) {
			skip(r, op)
		}
	}
}

// blockType reads the type of a block, and returns it if it is one of the module's.
func (b *body) blockType() (s signature) {
	at := b.r.at
	switch t := b.r.signed(33); {
	case t >= int64(len(b.types)):
		b.r.fail("a block of the type %d", t)
	case t >= 0:
		s = b.types[t]
	case b.r.err == nil && b.tags != nil && b.r.b[at] == typeException:
		b.r.b[at] = typeI64
	}
	return s
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
