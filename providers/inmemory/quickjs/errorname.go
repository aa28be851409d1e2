//go:build !(386 || arm || s390x)

package quickjs

import lib "modernc.org/libquickjs"

// isError reports whether a value is an error by its class, or is an object that
// inherits from Error.prototype, such as those of functions that were made errors
// before there were classes. It runs no code of the program.
func (vm *vm) isError(v value) bool {
	if classOf(v) == lib.EJS_CLASS_ERROR {
		return true
	}
	if classOf(v) != lib.EJS_CLASS_OBJECT {
		return false
	}
	proto := vm.ctxErrorProto()
	vm.free(proto) // which the realm holds
	is := false
	vm.eachPrototype(v, func(at value) bool {
		is = ptr(at) == ptr(proto)
		return !is
	})
	return is && ptr(v) != ptr(proto)
}

// errorName is the name of an error. One that a getter makes, which is code of the
// program, is taken to be that of the error's class.
func (vm *vm) errorName(e value) string {
	computed := false
	vm.eachPrototype(e, func(at value) bool {
		v, flags, ok := vm.property(at, "name")
		vm.free(v)
		computed = ok && flags&lib.MJS_PROP_GETSET != 0
		return !ok
	})
	name := ""
	if computed {
		class := vm.inheritedValue(e, "constructor")
		name, _ = vm.ownClipped(class, "name", maxName)
		vm.free(class)
	} else {
		name = vm.inherited(e, "name")
	}
	if name == "" {
		return "Error"
	}
	return name
}

// eachPrototype calls f with an object and its prototypes, up to the first proxy, as
// long as f returns true.
func (vm *vm) eachPrototype(obj value, f func(at value) bool) {
	v := vm.dup(obj)
	for range maxPrototypes {
		if !isObject(v) || classOf(v) == lib.EJS_CLASS_PROXY || !f(v) {
			break
		}
		proto := lib.XJS_GetPrototype(vm.tls, vm.ctx, v)
		vm.free(v)
		v = proto
	}
	vm.free(v)
}
