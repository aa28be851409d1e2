package quickjs

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// The driver is the JavaScript that inspects values. It runs in a realm of its
// own, with built-ins that the program never sees, so that nothing the program
// does to its own built-ins reaches it. It takes the program's values, returns
// strings, and what it throws is thrown anew in the program's realm. What the
// program's own inspect methods throw stays what it is.

// driverCall calls one of the driver's functions and returns the string that
// it returned. ok is false where it returned undefined; where it threw, thrown
// is true and the exception is pending in the program's realm.
func (in *instance) driverCall(name string, args ...value) (s []byte, ok, thrown bool) {
	vm := in.vm
	home := vm.ctx
	if !in.startDriver() {
		return nil, false, true
	}
	vm.ctx = vm.realms[1]
	fn := vm.own(in.driver, name)
	v := vm.call(fn, undefined, args...)
	vm.free(fn)
	if isException(v) {
		e := lib.XJS_GetException(vm.tls, vm.ctx)
		own := vm.madeHere(e)
		vm.ctx = home
		in.pass(e, own)
		return nil, false, true
	}
	vm.ctx = home
	defer vm.free(v)
	if !isString(v) {
		return nil, false, false
	}
	s, _, ok = vm.textBytes(v, 1) // room for a line's end
	return s, ok, !ok
}

// pass throws in the program's realm what one of the driver's functions threw: what is
// the program's own, of a toString that was called, as it is, and of the driver's own
// errors only the text.
func (in *instance) pass(e value, own bool) {
	vm := in.vm
	switch {
	case vm.stopping.Load():
		vm.free(e)
		vm.throwUncatchable()
	case in.hookFailed:
		in.hookFailed = false
		vm.free(e)
		lib.XJS_Throw(vm.tls, vm.ctx, in.hookError)
	case !own:
		lib.XJS_Throw(vm.tls, vm.ctx, e)
	default:
		message, name := vm.ownString(e, "message"), vm.inherited(e, "name")
		vm.free(e)
		vm.rethrow(name, message)
	}
}

// madeHere reports whether a value is an error of the current realm's own classes, or
// stands for one that there was no memory for. It runs no code.
func (vm *vm) madeHere(e value) bool {
	if classOf(e) != lib.EJS_CLASS_ERROR {
		return tag(e) == lib.EJS_TAG_UNINITIALIZED
	}
	proto := at[lib.TJSShape](at[lib.TJSObject](ptr(e)).Fshape).Fproto
	realm := at[lib.TJSContext](vm.ctx)
	if proto == ptr(*at[value](realm.Fclass_proto + lib.EJS_CLASS_ERROR*jsValueSize)) {
		return true
	}
	for _, p := range realm.Fnative_error_proto {
		if proto == ptr(p) {
			return true
		}
	}
	return false
}

// startDriver makes the driver's realm when it is first needed. It leaves an
// exception pending where there is no memory for it.
func (in *instance) startDriver() bool {
	vm := in.vm
	if isObject(in.driver) {
		return true
	}
	if vm.realms[1] == 0 {
		ctx := lib.XJS_NewContext(vm.tls, vm.rt)
		if ctx == 0 {
			lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
			return false
		}
		lib.XJS_SetContextOpaque(vm.tls, ctx, uintptr(unsafe.Pointer(vm)))
		vm.realms[1] = ctx
	}
	home := vm.ctx
	vm.ctx = vm.realms[1]
	v := in.load("driver")
	if isException(v) {
		e := lib.XJS_GetException(vm.tls, vm.ctx)
		message := vm.ownString(e, "message")
		vm.free(e)
		vm.ctx = home
		vm.rethrow("InternalError", message)
		return false
	}
	in.driver = v
	vm.ctx = home
	return true
}

// rethrow throws what the driver's realm threw.
func (vm *vm) rethrow(name, message string) {
	switch {
	case vm.stopping.Load():
		vm.throwUncatchable()
	case name == "TypeError", name == "RangeError":
		vm.throw(name, message)
	default:
		vm.throw("InternalError", message)
	}
}

// inspect returns what node's util.inspect returns for a value.
func (in *instance) inspect(v value) ([]byte, bool) {
	if s, ok := in.primitive(v); ok {
		return []byte(s), true
	}
	s, _, thrown := in.driverCall("inspect", v)
	return s, !thrown
}

// primitive returns the text of a value that needs no driver and is no string.
func (in *instance) primitive(v value) (string, bool) {
	switch tag(v) {
	case lib.EJS_TAG_UNDEFINED:
		return "undefined", true
	case lib.EJS_TAG_NULL:
		return "null", true
	case lib.EJS_TAG_BOOL:
		if intOf(v) != 0 {
			return "true", true
		}
		return "false", true
	case lib.EJS_TAG_INT:
		return itoa(intOf(v)), true
	}
	return "", false
}

// throw throws an error of a class of the current realm, such as TypeError.
func (vm *vm) throw(class, message string) value {
	return vm.throwWith(class, message, nil)
}

// throwWith is throw with further properties, all strings.
func (vm *vm) throwWith(class, message string, props map[string]string) value {
	throwers := map[string]func(*libc.TLS, uintptr, uintptr, uintptr) value{
		"TypeError": lib.XJS_ThrowTypeError, "RangeError": lib.XJS_ThrowRangeError,
		"InternalError": lib.XJS_ThrowInternalError, "SyntaxError": lib.XJS_ThrowSyntaxError,
	}
	throw, ok := throwers[class]
	if !ok {
		throw = lib.XJS_ThrowInternalError
	}
	// The format must outlive the call of lend for the message.
	p := vm.heap.alloc(16)
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	span{p, 16}.writeString("%s")
	empty := vm.cName("")
	va := vm.tls.Alloc(16)
	// Without the message, of which the engine would keep 255 bytes.
	throw(vm.tls, vm.ctx, p, libc.VaList(va, empty))
	vm.tls.Free(16)
	vm.heap.release(p)
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	const flags = lib.MJS_PROP_WRITABLE | lib.MJS_PROP_CONFIGURABLE
	vm.set(e, "message", vm.newString(message), flags)
	if !ok {
		vm.rename(e, class)
	}
	// Made anew, as it begins with the message.
	vm.set(e, "stack", vm.newString(vm.errorHead(e)+"\n"+framesOf(vm.ownString(e, "stack"))), flags)
	for k, s := range props {
		vm.set(e, k, vm.newString(s), lib.MJS_PROP_C_W_E)
	}
	return lib.XJS_Throw(vm.tls, vm.ctx, e)
}

// rename makes an error one of class Error with a name of its own.
func (vm *vm) rename(e value, name string) {
	proto := vm.ctxErrorProto()
	lib.XJS_SetPrototype(vm.tls, vm.ctx, e, proto)
	vm.free(proto)
	if name != "Error" {
		vm.set(e, "name", vm.newString(name), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	}
}

// ctxErrorProto returns Error.prototype.
func (vm *vm) ctxErrorProto() value {
	return lib.XJS_GetClassProto(vm.tls, vm.ctx, lib.EJS_CLASS_ERROR)
}

// throwUncatchable throws what ends a program without catch or finally.
func (vm *vm) throwUncatchable() value {
	lib.XJS_ThrowInternalError(vm.tls, vm.ctx, vm.cName("interrupted"), 0)
	lib.XJS_SetUncatchableException(vm.tls, vm.ctx, 1)
	return exception
}
