package rewrite

import "cmp"

const (
	defaultFuel = 20_000
	pageSize    = 64 << 10
	maxModule   = 256 << 20
)

// Options tunes what Module makes.
type Options struct {
	// Yield is the imported function that is called when the fuel is spent, as
	// "module.name". It takes and returns nothing.
	Yield string
	// Fuel is how many iterations of loops pass between two of these calls. Zero means
	// 20,000.
	Fuel int32
}

// A Result is a module that was changed.
type Result struct {
	Code []byte
	// Data are the segments that were taken out.
	Data []Segment
	// Memory is how many bytes of memory the module begins with.
	Memory uint64
}

// A Segment is data that belongs into the memory at an offset.
type Segment struct {
	Offset uint32
	Data   []byte
}

// The ids of sections.
const (
	idCustom = iota
	idType
	idImport
	idFunction
	idTable
	idMemory
	idGlobal
	idExport
	idStart
	idElement
	idCode
	idData
	idDataCount
)

// order is that of the sections of a result.
var order = [...]byte{idType, idImport, idFunction, idTable, idMemory, idGlobal, idExport, idElement, idCode}

// A module is what was read of one.
type module struct {
	sections [idDataCount + 1][]byte // without id and size; nil where absent

	types     uint32
	plain     map[uint32]bool // types that take and return nothing
	imports   uint32          // functions that are imported
	functions uint32          // all of them
	globals   uint32
	memory    uint64
	yield     uint32
	bulk      bool // copies or fills were replaced
}

// Module changes a module. The result shares no memory with it.
func Module(source []byte, o *Options) (*Result, error) {
	m, err := parse(source, o.Yield)
	if err != nil {
		return nil, err
	}
	segments, err := m.segments()
	if err != nil {
		return nil, err
	}
	fuel := cmp.Or(max(o.Fuel, 0), defaultFuel)
	bodies, err := m.bodies(fuel)
	if err != nil {
		return nil, err
	}
	m.extend(fuel, bodies)
	out := code(source[:8:8])
	for _, id := range order {
		if s := m.sections[id]; s != nil {
			out = append(out, id).sized(s)
		}
	}
	return &Result{Code: out, Data: segments, Memory: m.memory}, nil
}

// extend adds what the changed bodies refer to.
func (m *module) extend(fuel int32, bodies []byte) {
	added := uint32(0)
	if m.bulk {
		added = 2
		m.sections[idType] = code(nil).ops(0x60, 3, typeI32, typeI32, typeI32, 0).behind(m.sections[idType], 1)
		m.sections[idFunction] = code(nil).u32(m.types).u32(m.types).behind(m.sections[idFunction], 2)
	}
	m.sections[idGlobal] = code{typeI32, 1}.number(fuel).ops(opEnd).behind(m.sections[idGlobal], 1)
	m.sections[idCode] = append(code(nil).u32(m.functions-m.imports+added), bodies...)
}

// behind returns the items of a section with n more behind them.
func (c code) behind(section []byte, n uint32) []byte {
	r := reader{b: section}
	had := uint32(0)
	if section != nil {
		had = r.u32()
	}
	out := append(code(nil).u32(had+n), section[r.at:]...)
	return append(out, c...)
}

// segments returns the data of the module.
func (m *module) segments() ([]Segment, error) {
	r := &reader{b: m.sections[idData]}
	var list []Segment
	if r.b == nil {
		return nil, nil
	}
	for n := r.count(); n > 0 && r.err == nil; n-- {
		if kind := r.u32(); kind != 0 {
			r.fail("a data segment of kind %d", kind)
		}
		if r.byte() != opI32Const {
			r.fail("the offset of a data segment is no constant")
		}
		offset := uint32(r.signed(32))
		if r.byte() != opEnd {
			r.fail("the offset of a data segment is no constant")
		}
		data := r.take(r.u32())
		if uint64(offset)+uint64(len(data)) > m.memory {
			r.fail("a data segment outside of the memory")
		}
		list = append(list, Segment{offset, append([]byte(nil), data...)})
	}
	if r.more() {
		r.fail("bytes behind the data segments")
	}
	return list, r.err
}
