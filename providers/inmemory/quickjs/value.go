package quickjs

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// A value is a JavaScript value. Functions that return one give away a
// reference, which ends with free or by being handed to the engine; arguments
// are borrowed.
type value = lib.TJSValue

var (
	undefined     = value{Ftag: lib.EJS_TAG_UNDEFINED}
	null          = value{Ftag: lib.EJS_TAG_NULL}
	exception     = value{Ftag: lib.EJS_TAG_EXCEPTION}
	uninitialized = value{Ftag: lib.EJS_TAG_UNINITIALIZED}
)

// at returns what is at an address of the engine's memory.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// values returns the n values at an address: arguments of a call.
func values(addr uintptr, n int) []value { return unsafe.Slice(at[value](addr), n) }

// funcPtr returns the form in which the engine calls a top-level function.
func funcPtr(f any) uintptr {
	return (*[2]uintptr)(unsafe.Pointer(&f))[1]
}

func tag(v value) int32 { return int32(v.Ftag) }

func isException(v value) bool { return tag(v) == lib.EJS_TAG_EXCEPTION }
func isObject(v value) bool    { return tag(v) == lib.EJS_TAG_OBJECT }
func isUndefined(v value) bool { return tag(v) == lib.EJS_TAG_UNDEFINED }

func isString(v value) bool {
	return tag(v) == lib.EJS_TAG_STRING || tag(v) == lib.EJS_TAG_STRING_ROPE
}

func bits(v value) *uint64 { return (*uint64)(unsafe.Pointer(&v.Fu)) }

func ptr(v value) uintptr { return uintptr(*bits(v)) }

func newBool(b bool) value {
	v := value{Ftag: lib.EJS_TAG_BOOL}
	if b {
		*(*int32)(unsafe.Pointer(&v.Fu)) = 1
	}
	return v
}

func newInt(n int32) value {
	v := value{Ftag: lib.EJS_TAG_INT}
	*(*int32)(unsafe.Pointer(&v.Fu)) = n
	return v
}

func newNumber(f float64) value {
	if n := int32(f); float64(n) == f && (n != 0 || !math.Signbit(f)) {
		return newInt(n)
	}
	v := value{Ftag: lib.EJS_TAG_FLOAT64}
	*(*float64)(unsafe.Pointer(&v.Fu)) = f
	return v
}

func intOf(v value) int32 { return *(*int32)(unsafe.Pointer(&v.Fu)) }

// number returns a number's value; ok is false for anything else.
func number(v value) (f float64, ok bool) {
	switch tag(v) {
	case lib.EJS_TAG_INT:
		return float64(intOf(v)), true
	case lib.EJS_TAG_FLOAT64:
		return *(*float64)(unsafe.Pointer(&v.Fu)), true
	}
	return 0, false
}

// numberText returns the fewest digits that are a number. The engine itself writes one
// more of some powers of two.
func numberText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'f', -1, 64), "+", "", 1) + "inity"
	}
	text, _ := json.Marshal(f) // as ECMAScript writes numbers
	return string(text)
}

// classOf returns an object's class, one of lib.EJS_CLASS_*; 0 for anything
// else.
func classOf(v value) int {
	if !isObject(v) {
		return 0
	}
	return int(at[lib.TJSObject](ptr(v)).Fclass_id)
}

func (vm *vm) free(v value) {
	// The tags of values that are counted are negative.
	if tag(v) < 0 {
		lib.XFreeValue(vm.tls, vm.ctx, v)
	}
}

func (vm *vm) dup(v value) value {
	if tag(v) < 0 {
		return lib.XDupValue(vm.tls, vm.ctx, v)
	}
	return v
}

// newString returns a string, an exception where there is no memory.
func (vm *vm) newString(s string) value {
	return vm.lent(s, func(p uintptr) value { return lib.XJS_NewStringLen(vm.tls, vm.ctx, p, lib.Tsize_t(len(s))) })
}

// newStringOf is newString for well-formed bytes.
func (vm *vm) newStringOf(b []byte) value { return vm.newString(asText(b)) }

// asText returns bytes that do not change as a string, without a copy.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// lent calls use with the address of a copy of s, with a NUL at its end, where the engine
// may read it: Go's own memory can move under it.
func (vm *vm) lent(s string, use func(addr uintptr) value) value {
	n := len(s) + 1
	p := vm.heap.alloc(uintptr(n))
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	defer vm.heap.release(p)
	span{p, n}.writeString(s)
	return use(p)
}

// newList returns an array of values, which it takes over.
func (vm *vm) newList(items ...value) value {
	list := lib.XJS_NewArray(vm.tls, vm.ctx)
	for i, v := range items {
		lib.XJS_SetPropertyUint32(vm.tls, vm.ctx, list, uint32(i), v)
	}
	return list
}

// cName returns a short text as the engine's functions take it. The address is valid until
// cName is called again.
func (vm *vm) cName(name string) uintptr {
	span{vm.buffer, scratchSize}.writeString(name[:min(len(name), scratchSize-1)])
	return vm.buffer
}

// get returns a property; exception where reading it throws.
func (vm *vm) get(obj value, name string) value {
	return lib.XJS_GetPropertyStr(vm.tls, vm.ctx, obj, vm.cName(name))
}

// own returns the value of an own data property, undefined where there is
// none. It runs no code of the program, not even where obj is a proxy.
func (vm *vm) own(obj value, name string) value {
	if !isObject(obj) || classOf(obj) == lib.EJS_CLASS_PROXY {
		return undefined
	}
	if v, _, ok := vm.property(obj, name); ok {
		return v
	}
	return undefined
}

// property returns the value and the flags of an own property; ok is false where
// there is none. Of a proxy it runs code.
func (vm *vm) property(obj value, name string) (v value, flags int32, ok bool) {
	atom := vm.atom(name)
	defer lib.XJS_FreeAtom(vm.tls, vm.ctx, atom)
	size := int(unsafe.Sizeof(lib.TJSPropertyDescriptor{}))
	desc := vm.tls.Alloc(size)
	defer vm.tls.Free(size)
	if lib.XJS_GetOwnProperty(vm.tls, vm.ctx, desc, obj, atom) <= 0 {
		return v, 0, false
	}
	d := at[lib.TJSPropertyDescriptor](desc)
	vm.free(d.Fgetter)
	vm.free(d.Fsetter)
	return d.Fvalue, d.Fflags, true
}

// atom returns the engine's number of a name, a reference.
func (vm *vm) atom(name string) lib.TJSAtom {
	return lib.XJS_NewAtomLen(vm.tls, vm.ctx, vm.cName(name), lib.Tsize_t(len(name)))
}

// set defines a plain property and takes over v.
func (vm *vm) set(obj value, name string, v value, flags int32) {
	lib.XJS_DefinePropertyValueStr(vm.tls, vm.ctx, obj, vm.cName(name), v, flags)
}

// call calls a function with arguments that stay the caller's.
func (vm *vm) call(f, this value, args ...value) value {
	var argv uintptr
	if len(args) > 0 {
		n := len(args) * int(unsafe.Sizeof(value{}))
		argv = vm.tls.Alloc(n)
		defer vm.tls.Free(n)
		copy(values(argv, len(args)), args)
	}
	return lib.XJS_Call(vm.tls, vm.ctx, f, this, int32(len(args)), argv)
}

// keep takes references to values for the host. They and size bytes of the host's count as
// memory of the context's until drop; ok is false, with an exception pending, where there
// is not as much.
func (vm *vm) keep(size int64, list []value) (kept []value, ok bool) {
	if !vm.heap.hold(size + int64(len(list))*int64(jsValueSize)) {
		lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
		return nil, false
	}
	for _, v := range list {
		kept = append(kept, vm.dup(v))
	}
	return kept, true
}

func (vm *vm) drop(size int64, list []value) {
	for _, v := range list {
		vm.free(v)
	}
	vm.heap.letGo(size + int64(len(list))*int64(jsValueSize))
}

func (vm *vm) dropException() { vm.free(lib.XJS_GetException(vm.tls, vm.ctx)) }
