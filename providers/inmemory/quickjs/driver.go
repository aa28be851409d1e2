package quickjs

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// The driver is the JavaScript that inspects values. It runs in a realm of its
// own, with built-ins that the program never sees, so that nothing the program
// does to its own built-ins reaches it. It takes the program's values and returns
// strings.

// driverCall calls one of the driver's functions and returns the string that
// it returned. ok is false where it returned undefined; where it threw, thrown
// is true and the exception is pending.
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
	vm.ctx = home
	if !isString(v) {
		vm.free(v)
		return nil, false, isException(v)
	}
	s, _, ok = vm.textBytes(v, 1) // room for a line's end
	vm.free(v)
	return s, ok, !ok
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
	vm.ctx = home
	if isException(v) {
		return false
	}
	in.driver = v
	return true
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

// nativeErrors are the classes of errors that throw knows, beside Error.
var nativeErrors = map[string]int{"TypeError": lib.EJS_TYPE_ERROR, "RangeError": lib.EJS_RANGE_ERROR,
	"SyntaxError": lib.EJS_SYNTAX_ERROR, "InternalError": lib.EJS_INTERNAL_ERROR}

// throwWith is throw with further properties, all strings. A class that the language has
// not is an Error with that name.
func (vm *vm) throwWith(class, message string, props map[string]string) value {
	// Without the message, of which the engine would keep 255 bytes.
	lib.XJS_ThrowInternalError(vm.tls, vm.ctx, vm.cName(""), 0)
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	const flags = lib.MJS_PROP_WRITABLE | lib.MJS_PROP_CONFIGURABLE
	vm.set(e, "message", vm.newString(message), flags)
	if native, ok := nativeErrors[class]; ok {
		lib.XJS_SetPrototype(vm.tls, vm.ctx, e, at[lib.TJSContext](vm.ctx).Fnative_error_proto[native])
	} else {
		proto := vm.ctxErrorProto()
		lib.XJS_SetPrototype(vm.tls, vm.ctx, e, proto)
		vm.free(proto)
		if class != "Error" {
			vm.set(e, "name", vm.newString(class), flags)
		}
	}
	// Made anew, as it begins with the message.
	stack, _ := vm.ownClipped(e, "stack", maxFrameSet)
	vm.set(e, "stack", vm.newString(vm.errorHead(e)+"\n"+framesOf(stack)), flags)
	for k, s := range props {
		vm.set(e, k, vm.newString(s), lib.MJS_PROP_C_W_E)
	}
	return lib.XJS_Throw(vm.tls, vm.ctx, e)
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
