package quickjs

import (
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// The engine defines the message of a new error first and its stack last. The class of
// errors has a hook for new properties: with the stack, a frequent message is replaced by
// node's words, and the stack gets node's first line and positions in the sources.

const (
	exotic      = 0x8 // of the second bit field of a TJSObject: its class has methods for properties
	maxFrameSet = 64 << 10

	// defaultFrames and mostFrames bound how many frames a stack has: what
	// Error.stackTraceLimit is at first, and can be.
	defaultFrames = 10
	mostFrames    = 200
)

// exoticErrors outlives every engine, which keep pointers to it.
var exoticErrors = sync.OnceValue(func() uintptr {
	return permanent([]lib.TJSClassExoticMethods{{Fdefine_own_property: funcPtr(cDefineOnError)}})
})

// hookErrors sets the hook of all errors.
func (vm *vm) hookErrors() {
	classes := at[lib.TJSRuntime](vm.rt).Fclass_array
	at[lib.TJSClass](classes + lib.EJS_CLASS_ERROR*unsafe.Sizeof(lib.TJSClass{})).Fexotic = exoticErrors()
}

func cDefineOnError(tls *libc.TLS, ctx uintptr, obj value, atom lib.TJSAtom, v, getter, setter value, flags int32) int32 {
	bits := &at[lib.TJSObject](ptr(obj)).F__ccgo16
	// Without the bit, so that the definition below does not come here again.
	*bits &^= exotic
	defer func() { *bits |= exotic }()
	m := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	if atom != lib.EJS_ATOM_stack || !isString(v) || m == nil || m.in == nil || m.in.host == nil || m.rawErrors {
		return lib.XJS_DefineProperty(tls, ctx, obj, atom, v, getter, setter, flags)
	}
	// What fails here must not take the place of the error itself.
	pending := &at[lib.TJSRuntime](m.rt).Fcurrent_exception
	kept := *pending
	*pending = uninitialized
	home, mark := m.ctx, m.borrowed
	m.ctx = ctx
	stack := m.complete(obj, v)
	r := lib.XJS_DefineProperty(tls, ctx, obj, atom, stack, getter, setter, flags)
	m.free(stack)
	m.ctx = home
	m.giveBack(mark)
	if r >= 0 {
		m.free(*pending)
		*pending = kept
	} else {
		m.free(kept)
	}
	return r
}

// complete rewords the message of an error that has all but its stack, and
// returns the stack: what was made of the engine's own, or that.
func (vm *vm) complete(e, engines value) value {
	text, ok := vm.prefix(engines, maxFrameSet)
	if !ok || text != "" && !strings.HasPrefix(text, "    at ") { // or the program's own
		return vm.dup(engines)
	}
	vm.reword(e, text)
	frames := vm.in.mapStack(text, vm.frameLimit())
	s := vm.newText(strings.TrimRight(vm.errorHead(e)+"\n"+frames, "\n"))
	if isException(s) {
		return vm.dup(engines)
	}
	return s
}

// prefix returns a string's first bytes, at most n, and of what is longer whole lines.
func (vm *vm) prefix(v value, n int) (string, bool) {
	s, lost, ok := vm.clipped(v, n)
	if lost > 0 {
		s = s[:strings.LastIndexByte(s, '\n')+1]
	}
	return s, ok
}

// slot returns where an object has the value of its own property, nil where it
// has none that is a plain string. It runs no code.
func slot(obj value, atom lib.TJSAtom) *value {
	if !isObject(obj) || classOf(obj) == lib.EJS_CLASS_PROXY {
		return nil
	}
	p, at_ := findProperty(obj, atom)
	if p == nil || p.F__ccgo0&(lib.MJS_PROP_TMASK<<propFlags) != 0 {
		return nil
	}
	v := at[value](uintptr(unsafe.Pointer(at_)))
	if !isString(*v) {
		return nil
	}
	return v
}

// errorHead is the first line of an error's stack.
func (vm *vm) errorHead(e value) string {
	name, message := "Error", ""
	obj := e
	for range 64 {
		if v := slot(obj, lib.EJS_ATOM_name); v != nil {
			name, _ = vm.prefix(*v, 1024)
			break
		}
		proto := at[lib.TJSShape](at[lib.TJSObject](ptr(obj)).Fshape).Fproto
		if proto == 0 {
			break
		}
		obj = objectAt(proto)
		if classOf(obj) == lib.EJS_CLASS_PROXY {
			break
		}
	}
	if v := slot(e, lib.EJS_ATOM_message); v != nil {
		message, _ = vm.prefix(*v, maxMessage)
	}
	switch {
	case message == "":
		return name
	case name == "":
		return message
	}
	return name + ": " + message
}

// objectAt is the object at an address, borrowed.
func objectAt(addr uintptr) value {
	v := value{Ftag: lib.EJS_TAG_OBJECT}
	*(*uintptr)(unsafe.Pointer(&v.Fu)) = addr
	return v
}

// frameLimit is what the program has in Error.stackTraceLimit.
func (vm *vm) frameLimit() int {
	f := float64(defaultFrames)
	if p, v := findProperty(vm.in.errorClass, vm.in.limitAtom); p != nil && p.F__ccgo0&(lib.MJS_PROP_TMASK<<propFlags) == 0 {
		f, _ = number(*at[value](uintptr(unsafe.Pointer(v))))
	}
	return int(min(max(f, 0), mostFrames))
}

// framesOf returns what of a stack follows its first line, if those are frames.
func framesOf(stack string) string {
	if strings.HasPrefix(stack, "    at ") {
		return stack
	}
	if i := strings.Index(stack, "\n    at "); i >= 0 {
		return stack[i+1:]
	}
	return ""
}

// installErrors prepares a realm for hookErrors.
func (in *instance) installErrors(global value) {
	vm := in.vm
	in.errorClass = vm.own(global, "Error")
	in.limitAtom, in.lastAtom = vm.atom("stackTraceLimit"), vm.atom("_")
	vm.set(in.errorClass, "stackTraceLimit", newInt(defaultFrames), lib.MJS_PROP_C_W_E)
	vm.hookErrors()
}
