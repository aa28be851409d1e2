package quickjs

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// A span is a piece of the engine's memory, valid until the engine runs on.
//
// That memory can be revoked at any moment, see region. The fault must then
// happen in Go code, which turns it into a panic: in a system call it would be
// an error that others take for fatal, and in the vDSO or in C code it ends the
// process. So all other code works on copies, which only a span makes, and
// TestSpans sees to it.
type span struct {
	addr uintptr
	n    int
}

// raw returns the memory, as the operand of a copy and for nothing else.
func (s span) raw() []byte { return unsafe.Slice(at[byte](s.addr), s.n) }

func (s span) bytes() []byte { return append(make([]byte, 0, s.n), s.raw()...) }
func (s span) text() string  { return string(s.raw()) }

// write copies b to the span's beginning.
func (s span) write(b []byte) { copy(s.raw(), b) }

// writeString copies s and a NUL to the span's beginning.
func (s span) writeString(text string) {
	n := copy(s.raw(), text)
	s.from(n).write([]byte{0})
}

// from returns what of the span follows its first n bytes.
func (s span) from(n int) span { return span{s.addr + uintptr(n), s.n - n} }

// elementSizes are those of the typed arrays, by class.
var elementSizes = [...]int{
	lib.EJS_CLASS_UINT8C_ARRAY: 1, lib.EJS_CLASS_INT8_ARRAY: 1, lib.EJS_CLASS_UINT8_ARRAY: 1,
	lib.EJS_CLASS_INT16_ARRAY: 2, lib.EJS_CLASS_UINT16_ARRAY: 2, lib.EJS_CLASS_FLOAT16_ARRAY: 2,
	lib.EJS_CLASS_INT32_ARRAY: 4, lib.EJS_CLASS_UINT32_ARRAY: 4, lib.EJS_CLASS_FLOAT32_ARRAY: 4,
	lib.EJS_CLASS_BIG_INT64_ARRAY: 8, lib.EJS_CLASS_BIG_UINT64_ARRAY: 8, lib.EJS_CLASS_FLOAT64_ARRAY: 8,
	lib.EJS_CLASS_DATAVIEW: 1,
}

// span returns the memory of an ArrayBuffer, or of a view of one. It reads the
// engine's own fields, never properties, which a program can replace by getters
// that take the memory away. ok is false for other values, for detached buffers
// and for views that their buffer has become too short for.
func (vm *vm) span(v value) (s span, ok bool) {
	class := classOf(v)
	if class == lib.EJS_CLASS_ARRAY_BUFFER || class == lib.EJS_CLASS_SHARED_ARRAY_BUFFER {
		return bufferSpan(ptr(v))
	}
	if class >= len(elementSizes) || elementSizes[class] == 0 {
		return span{}, false
	}
	view := at[lib.TJSTypedArray](objectData(ptr(v)))
	all, ok := bufferSpan(view.Fbuffer)
	offset, length := int(view.Foffset), int(view.Flength)
	if !ok || offset > all.n {
		return span{}, false
	}
	s = all.from(offset)
	// A view without a length of its own follows its resizable buffer.
	if view.Ftrack_rab != 0 {
		length = s.n - s.n%elementSizes[class]
	}
	if length > s.n {
		return span{}, false
	}
	s.n = length
	return s, true
}

// bufferSpan returns the memory of the ArrayBuffer at an address.
func bufferSpan(obj uintptr) (span, bool) {
	buf := at[lib.TJSArrayBuffer](objectData(obj))
	if buf.Fdetached != 0 {
		return span{}, false
	}
	return span{buf.Fdata, int(buf.Fbyte_length)}, true
}

// objectData returns where an object of a built-in class has its own fields.
func objectData(obj uintptr) uintptr { return *(*uintptr)(unsafe.Pointer(&at[lib.TJSObject](obj).Fu)) }
