package rewrite

const (
	fuel      = 20_000 // iterations of loops between two yields
	pageSize  = 64 << 10
	maxModule = 256 << 20
)

// A Result is a module that was changed.
type Result struct {
	Code []byte
	// Data are the segments that were taken out.
	Data []Segment
	// Memory is how many bytes of memory the module begins with.
	Memory uint64
	// Throws tells that the module has exceptions. It then exports the global Pending.
	Throws bool
}

// Pending is what a module with exceptions exports: a number of 32 bits, which is not zero
// when a function has returned because of an exception that it does not catch.
const Pending = "toolcell.pending"

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
	idTag
)

// order is that of sections.
var order = []byte{idType, idImport, idFunction, idTable, idMemory, idTag, idGlobal, idExport, idElement, idDataCount, idCode, idData}

// A module is what was read of one.
type module struct {
	sections [idTag + 1][]byte // without id and size; nil where absent

	types   []signature
	imports uint32   // functions that are imported
	typeOf  []uint32 // of all functions, their types
	globals uint32
	memory  uint64
	yield   uint32
	bulk    bool                // copies or fills were replaced
	tags    []bool              // of exceptions: whether one has a value
	words   map[string][]string // for the code that is added
	numbers map[string]int
	names   map[string]int
	throws  []bool // of all functions, whether one may throw; nil where there are no tags
}

// A signature is the type of a function.
type signature struct{ params, results []byte }

// functions returns how many functions the module has with its imports, and so the number
// of the first that is added.
func (m *module) functions() uint32 { return uint32(len(m.typeOf)) }

// Module changes a module. The result shares no memory with it. yield is the imported
// function that is called when the fuel is spent, as "module.name": it takes nothing, and
// returns nothing or 32 bits.
func Module(source []byte, yield string) (*Result, error) {
	m, err := split(source)
	if err == nil {
		err = m.read(yield)
	}
	if err != nil {
		return nil, err
	}
	segments, err := m.segments()
	if err != nil {
		return nil, err
	}
	if err := m.findThrowing(); err != nil {
		return nil, err
	}
	bodies, err := m.bodies()
	if err != nil {
		return nil, err
	}
	m.extend(bodies)
	m.sections[idTag], m.sections[idDataCount], m.sections[idData] = nil, nil, nil
	return &Result{Code: m.whole(), Data: segments, Memory: m.memory, Throws: m.tags != nil}, nil
}

// whole returns the module of its sections.
func (m *module) whole() []byte {
	out := code("\x00asm\x01\x00\x00\x00")
	for _, id := range order {
		if s := m.sections[id]; s != nil {
			out = append(out, id).sized(s)
		}
	}
	return out
}

// The functions that are added: for exceptions two, then two for memory.
const (
	throwFunction = iota
	refFunction
	exceptionFunctions
)

// bulkFunction returns the number of the function that copies; the one that fills follows.
func (m *module) bulkFunction() uint32 {
	if m.tags != nil {
		return m.functions() + exceptionFunctions
	}
	return m.functions()
}

// extend adds what the changed bodies refer to.
func (m *module) extend(bodies []byte) {
	types, functions := code(nil), code(nil)
	added, kinds := uint32(0), uint32(len(m.types))
	add := func(signature ...byte) {
		types = append(types.ops(0x60), signature...)
		functions = functions.u32(kinds)
		added++
		kinds++
	}
	globals := code{typeI32, 1}.number(fuel).ops(opEnd)
	count := uint32(1)
	if m.tags != nil {
		add(1, typeI64, 0)
		add(0, 1, typeI64)
		globals = globals.ops(typeI32, 1).number(0).ops(opEnd, typeI32, 1).number(0).ops(opEnd)
		count += 2
		name := code(nil).sized([]byte(Pending)).ops(3).u32(m.pending())
		m.sections[idExport] = name.behind(m.sections[idExport], 1)
	}
	if m.bulk {
		add(3, typeI32, typeI32, typeI32, 0)
		add(3, typeI32, typeI32, typeI32, 0)
	}
	if added > 0 {
		m.sections[idType] = types.behind(m.sections[idType], added)
		m.sections[idFunction] = functions.behind(m.sections[idFunction], added)
	}
	m.sections[idGlobal] = globals.behind(m.sections[idGlobal], count)
	m.sections[idCode] = append(code(nil).u32(m.functions()-m.imports+added), bodies...)
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
