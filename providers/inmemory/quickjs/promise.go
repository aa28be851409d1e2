package quickjs

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// newPromise returns a pending promise, for settle. The engine's own way to make
// one makes three functions for the program too, which costs several times as
// much as the rest of a call.
func (vm *vm) newPromise() value {
	data := lib.Xjs_mallocz(vm.tls, vm.ctx, lib.Tsize_t(unsafe.Sizeof(lib.TJSPromiseData{})))
	if data == 0 {
		return exception
	}
	d := at[lib.TJSPromiseData](data)
	d.Fpromise_state, d.Fpromise_result = lib.EJS_PROMISE_PENDING, undefined
	for i := range d.Fpromise_reactions {
		head := &d.Fpromise_reactions[i]
		addr := uintptr(unsafe.Pointer(head))
		head.Fnext, head.Fprev = addr, addr
	}
	p := lib.XJS_NewObjectClass(vm.tls, vm.ctx, lib.EJS_CLASS_PROMISE)
	if isException(p) {
		lib.Xjs_free(vm.tls, vm.ctx, data)
		return p
	}
	lib.XJS_SetOpaque(vm.tls, p, data)
	return p
}

// A resolver is one of the engine's functions that settle a promise. The program
// never sees it, so that one serves for all promises, one after the other.
type resolver struct {
	function value
	data     uintptr // 0 where there is none yet
}

// settle resolves a promise of newPromise's, or rejects it; ok is false where that
// throws.
func (vm *vm) settle(promise, with value, reject bool) (ok bool) {
	class := lib.TJSClassID(lib.EJS_CLASS_PROMISE_RESOLVE_FUNCTION)
	r := &vm.resolvers[0]
	if reject {
		class, r = lib.EJS_CLASS_PROMISE_REJECT_FUNCTION, &vm.resolvers[1]
	}
	if r.data == 0 && !r.make(vm, class) {
		return false
	}
	d := at[lib.TJSPromiseFunctionData](r.data)
	d.Fpromise = vm.dup(promise) // the collector of cycles counts it
	at[lib.TJSPromiseFunctionDataResolved](d.Fpresolved).Falready_resolved = 0
	v := vm.call(r.function, undefined, with)
	d.Fpromise = undefined
	vm.free(promise)
	vm.free(v)
	return !isException(v)
}

// make makes the function; an exception is pending where it returns false.
func (r *resolver) make(vm *vm, class lib.TJSClassID) bool {
	data := lib.Xjs_mallocz(vm.tls, vm.ctx, lib.Tsize_t(unsafe.Sizeof(lib.TJSPromiseFunctionData{})))
	if data == 0 {
		return false
	}
	shared := lib.Xjs_mallocz(vm.tls, vm.ctx, lib.Tsize_t(unsafe.Sizeof(lib.TJSPromiseFunctionDataResolved{})))
	if shared == 0 {
		lib.Xjs_free(vm.tls, vm.ctx, data)
		return false
	}
	at[lib.TJSPromiseFunctionDataResolved](shared).Fref_count = 1
	f := lib.XJS_NewObjectProtoClass(vm.tls, vm.ctx, null, class)
	if isException(f) {
		lib.Xjs_free(vm.tls, vm.ctx, shared)
		lib.Xjs_free(vm.tls, vm.ctx, data)
		return false
	}
	*at[lib.TJSPromiseFunctionData](data) = lib.TJSPromiseFunctionData{Fpromise: undefined, Fpresolved: shared}
	lib.XJS_SetOpaque(vm.tls, f, data)
	r.function, r.data = f, data
	return true
}
