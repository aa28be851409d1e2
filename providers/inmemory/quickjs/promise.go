//go:build !(386 || arm || s390x)

package quickjs

import (
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
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
	function value // undefined where there is none yet
	data     uintptr
}

func newResolver() resolver { return resolver{function: undefined} }

// settle resolves a promise of newPromise's, or rejects it; ok is false where that
// throws.
func (vm *vm) settle(promise, with value, reject bool) (ok bool) {
	class := lib.TJSClassID(lib.EJS_CLASS_PROMISE_RESOLVE_FUNCTION)
	r := &vm.resolvers[0]
	if reject {
		class, r = lib.EJS_CLASS_PROMISE_REJECT_FUNCTION, &vm.resolvers[1]
	}
	if !isObject(r.function) && !r.make(vm, class) {
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

// The engine counts references, so that an object that only a WeakRef has is
// gone at once. In node it is there until the collector comes, which programs
// that are over in a moment hardly see. So a run keeps the latest objects that
// it made weak references to, or wants to hear the end of, unless memory gets
// short: with most of it in use, they are let go at the engine's next poll.

// maxHeld is how many it keeps.
const maxHeld = 1000

// The engine's own code of WeakRef and FinalizationRegistry.prototype.register,
// the same in every VM.
var weakRef, register atomic.Uintptr

// installWeak has the realm hold what is referred to weakly.
func (in *instance) installWeak(global value) {
	vm := in.vm
	class := vm.own(global, "WeakRef")
	swapFunction(class, &weakRef, funcPtr(cWeakRef))
	vm.free(class)
	class = vm.own(global, "FinalizationRegistry")
	proto := vm.own(class, "prototype")
	method := vm.own(proto, "register")
	swapFunction(method, &register, funcPtr(cRegister))
	for _, v := range []value{class, proto, method} {
		vm.free(v)
	}
}

// swapFunction gives a built-in other code, and keeps its own.
func swapFunction(fn value, own *atomic.Uintptr, code uintptr) {
	if classOf(fn) != lib.EJS_CLASS_C_FUNCTION {
		return
	}
	own.Store(*builtinCode(fn))
	*builtinCode(fn) = code
}

func cWeakRef(tls *libc.TLS, ctx uintptr, this value, argc int32, argv uintptr) value {
	return holding(&weakRef, tls, ctx, this, argc, argv)
}

func cRegister(tls *libc.TLS, ctx uintptr, this value, argc int32, argv uintptr) value {
	return holding(&register, tls, ctx, this, argc, argv)
}

// holding calls the engine's own code and, if that returns, holds its first
// argument.
func holding(own *atomic.Uintptr, tls *libc.TLS, ctx uintptr, this value, argc int32, argv uintptr) value {
	code := own.Load() // as funcPtr makes it
	v := (*(*func(*libc.TLS, uintptr, value, int32, uintptr) value)(unsafe.Pointer(&code)))(tls, ctx, this, argc, argv)
	m := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	if isException(v) || argc < 1 || m == nil || m.in == nil {
		return v
	}
	in := m.in
	switch {
	case m.heap.mapped > m.heap.limit/2:
		in.release(len(in.held))
	case len(in.held) == maxHeld:
		// Half at once, so that not each new one moves all the others.
		in.release(maxHeld / 2)
	}
	in.held = append(in.held, m.dup(values(argv, 1)[0]))
	return v
}

// shortOfMemory lets go of everything that is held. It may be called where the
// engine polls, not where it allocates, which it does in the midst of changes.
func (in *instance) shortOfMemory() {
	in.vm.heap.short = false
	in.release(len(in.held))
}

// release gives up the first n objects that are held.
func (in *instance) release(n int) {
	for _, v := range in.held[:n] {
		in.vm.free(v)
	}
	in.held = append(in.held[:0], in.held[n:]...)
}
