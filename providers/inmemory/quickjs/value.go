package quickjs

import (
	"bytes"
	"math"
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
	p, done := vm.lend(s)
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	v := lib.XJS_NewStringLen(vm.tls, vm.ctx, p, lib.Tsize_t(len(s)))
	done()
	return v
}

// newList returns an array of values, which it takes over.
func (vm *vm) newList(items ...value) value {
	list := lib.XJS_NewArray(vm.tls, vm.ctx)
	for i, v := range items {
		lib.XJS_SetPropertyUint32(vm.tls, vm.ctx, list, uint32(i), v)
	}
	return list
}

// newStringOf is newString for well-formed bytes.
func (vm *vm) newStringOf(b []byte) value {
	p := vm.heap.alloc(uintptr(max(len(b), 1)))
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	span{p, len(b)}.write(b)
	v := lib.XJS_NewStringLen(vm.tls, vm.ctx, p, lib.Tsize_t(len(b)))
	vm.heap.release(p)
	return v
}

// lend copies s, with a NUL at its end, to where the engine may read it: Go's
// own memory can move under it. The address is valid until done is called, or
// lend again; it is 0 where there is no memory.
func (vm *vm) lend(s string) (addr uintptr, done func()) {
	n := uintptr(len(s)) + 1
	// Short texts are lent from one buffer; they are used up before the next is lent.
	if n <= scratchSize {
		span{vm.buffer, int(n)}.writeString(s)
		return vm.buffer, func() {}
	}
	p := vm.heap.alloc(n)
	if p == 0 {
		return 0, nil
	}
	span{p, int(n)}.writeString(s)
	return p, func() { vm.heap.release(p) }
}

// cName returns a short name as the engine's property functions take it.
func (vm *vm) cName(name string) uintptr {
	addr, _ := vm.lend(name)
	return addr
}

// surrogate returns where in s, from i on, the first lone surrogate is, -1 if
// nowhere.
func surrogate(s []byte, i int) int {
	for {
		n := bytes.IndexByte(s[i:], 0xED)
		if n < 0 || i+n+2 >= len(s) {
			return -1
		}
		if i += n; s[i+1] >= 0xA0 {
			return i
		}
		i++
	}
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
	atom := lib.XJS_NewAtomLen(vm.tls, vm.ctx, vm.cName(name), lib.Tsize_t(len(name)))
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

// ownString returns an own data property that is a string.
func (vm *vm) ownString(obj value, name string) string {
	v := vm.own(obj, name)
	defer vm.free(v)
	if !isString(v) {
		return ""
	}
	s, ok := vm.text(v)
	if !ok {
		vm.dropException()
	}
	return s
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

// valueList is values that the host holds on to, in memory of the engine's: what it
// holds is the program's to pay for.
type valueList struct {
	addr uintptr
	n    int
}

// keep takes references to the values; ok is false, with an exception pending,
// where there is no memory for them.
func (vm *vm) keep(list []value) (k valueList, ok bool) {
	if len(list) == 0 {
		return k, true
	}
	k = valueList{vm.heap.alloc(uintptr(len(list)) * jsValueSize), len(list)}
	if k.addr == 0 {
		lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
		return valueList{}, false
	}
	for i, v := range list {
		k.list()[i] = vm.dup(v)
	}
	return k, true
}

func (k valueList) list() []value {
	if k.n == 0 {
		return nil
	}
	return values(k.addr, k.n)
}

func (k valueList) free(vm *vm) {
	for _, v := range k.list() {
		vm.free(v)
	}
	if k.n > 0 {
		vm.heap.release(k.addr)
	}
}

func (vm *vm) dropException() { vm.free(lib.XJS_GetException(vm.tls, vm.ctx)) }
