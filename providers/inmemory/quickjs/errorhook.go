package quickjs

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// The engine defines the message of a new error first and its stack last. The class of
// errors has a hook for new properties: the stack gets node's first line and positions in
// the sources, and the error of a call says what was called.

const (
	exotic      = 0x8 // of the second bit field of a TJSObject: its class has methods for properties
	maxFrameSet = 64 << 10

	// shownFrames is how many frames a stack has at most.
	shownFrames = 10

	// maxText is how long a source is looked through for what an error is about.
	maxText = 256 << 10
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

// complete returns the stack of an error that has all but that: what was made of the
// engine's own.
func (vm *vm) complete(e, engines value) value {
	text, ok := vm.lines(engines)
	if !ok || text != "" && !strings.HasPrefix(text, "    at ") { // or the program's own
		return vm.dup(engines)
	}
	vm.reword(e, text)
	s := vm.newString(strings.TrimRight(vm.errorHead(e)+"\n"+vm.in.mapStack(text), "\n"))
	if isException(s) {
		return vm.dup(engines)
	}
	return s
}

// reword has the engine's errors say what was called that is not a function, and where the
// program ends too early. A recursion that is too deep is a RangeError.
func (vm *vm) reword(e value, stack string) {
	message, _ := vm.ownClipped(e, "message", maxName)
	switch message {
	case "stack overflow":
		lib.XJS_SetPrototype(vm.tls, vm.ctx, e, at[lib.TJSContext](vm.ctx).Fnative_error_proto[lib.EJS_RANGE_ERROR])
		return
	case "unexpected token in expression: ''":
		message = "unexpected end of input"
	case "not a function":
		called := vm.in.calleeIn(stack)
		if called == "" || vm.inBuiltin() {
			return
		}
		message = called + " is not a function"
	default:
		return
	}
	if s := vm.newString(message); isString(s) { // or there is no memory for it
		vm.set(e, "message", s, lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	}
}

// inBuiltin reports whether a built-in function runs, which may make an error for the
// program.
func (vm *vm) inBuiltin() bool {
	frame := at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame
	return frame != 0 && classOf(at[lib.TJSStackFrame](frame).Fcur_func) == lib.EJS_CLASS_C_FUNCTION
}

// callee is what stands before the parenthesis of a call.
var callee = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*(?:\??\.#?[\p{L}_$][\p{L}\p{N}_$]*)*(?:\?\.)?\s*$`)
})

// calleeIn returns what the program calls in the first frame of a stack, "" where that is
// not in the program's own text.
func (in *instance) calleeIn(stack string) string {
	first, _, _ := strings.Cut(stack, "\n")
	m := frame().FindStringSubmatch(first)
	if m == nil || m[2] != in.program.Name || len(in.source) > maxText {
		return ""
	}
	row, _ := strconv.Atoi(m[3])
	column, _ := strconv.Atoi(m[4])
	line := in.source
	for range row - 1 {
		_, line, _ = strings.Cut(line, "\n")
	}
	line, _, _ = strings.Cut(line, "\n")
	for i := range line {
		if column--; column <= 0 {
			return strings.TrimSuffix(strings.TrimSpace(callee().FindString(line[:i])), "?.")
		}
	}
	return ""
}

// lines returns a string, and of one that is long the first lines.
func (vm *vm) lines(v value) (string, bool) {
	s, lost, ok := vm.clipped(v, maxFrameSet)
	if lost > 0 {
		s = s[:strings.LastIndexByte(s, '\n')+1]
	}
	return s, ok
}

// errorHead is the first line of an error's stack.
func (vm *vm) errorHead(e value) string {
	message, _ := vm.ownClipped(e, "message", maxMessage)
	return (&codeinterp.ProgramError{Name: vm.errorName(e), Message: message}).Error()
}

// printStack returns the stack that the engine prints. It is the engine's own text:
// mapStack needs its positions, and is asked only where a call fails.
func (vm *vm) printStack() string {
	vm.rawErrors = true
	lib.XJS_ThrowInternalError(vm.tls, vm.ctx, vm.cName(""), 0)
	vm.rawErrors = false
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	defer vm.free(e)
	v := vm.own(e, "stack")
	defer vm.free(v)
	if !isString(v) {
		return ""
	}
	s, _ := vm.lines(v)
	return s
}

// stackOf returns what follows the first line of a stack.
func (in *instance) stackOf(stack string) string {
	return strings.TrimRight("\n"+in.mapStack(stack), "\n")
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
