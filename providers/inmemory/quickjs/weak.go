//go:build !(386 || arm || s390x)

package quickjs

import (
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

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
