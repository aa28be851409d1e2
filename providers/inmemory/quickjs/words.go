package quickjs

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// A phrase is a message of the engine that models know in V8's words.
type phrase struct {
	engines *regexp.Regexp
	v8      string
}

var phrases = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(`^cannot read property '(.*)' of (undefined|null)$`), "Cannot read properties of $2 (reading '$1')"},
		{regexp.MustCompile(`^cannot set property '(.*)' of (undefined|null)$`), "Cannot set properties of $2 (setting '$1')"},
		{regexp.MustCompile(`^'(.*)' is not defined$`), "$1 is not defined"},
		{regexp.MustCompile(`^([^ ]+) is not initialized$`), "Cannot access '$1' before initialization"},
		{regexp.MustCompile(`^circular reference$`), "Converting circular structure to JSON"},
		{regexp.MustCompile(`^empty array$`), "Reduce of empty array with no initial value"},
		{regexp.MustCompile(`^invalid array length$`), "Invalid array length"},
		{regexp.MustCompile(`^Date value is NaN$`), "Invalid time value"},
		{regexp.MustCompile(`^unexpected token in expression: ''$`), "Unexpected end of input"},
		{regexp.MustCompile(`^unexpected token in expression: '(.*)'$`), "Unexpected token '$1'"},
		{regexp.MustCompile(`^return not in a function$`), "Illegal return statement"},
		{regexp.MustCompile(`^BigInt division by zero$`), "Division by zero"},
		{regexp.MustCompile(`^(expecting (%|hex digit|surrogate pair)|malformed UTF-8|invalid character)$`), "URI malformed"},
		{regexp.MustCompile(`^cannot convert symbol to (string|number)$`), "Cannot convert a Symbol value to a $1"},
		{regexp.MustCompile(`^invalid 'instanceof' right operand$`), "Right-hand side of 'instanceof' is not callable"},
		{regexp.MustCompile(`^cannot convert bigint to number$`), "Cannot mix BigInt and other types, use explicit conversions"},
		{regexp.MustCompile(`^cannot convert to object$`), "Cannot convert undefined or null to object"},
		{regexp.MustCompile(`^invalid string length$`), "Invalid string length"},
		{regexp.MustCompile(`^radix must be between 2 and 36$`), "toString() radix argument must be between 2 and 36"},
		{regexp.MustCompile(`^stack overflow$`), "Maximum call stack size exceeded"},
	}
})

// reword gives an error that the engine raises, not the program, V8's words if it has
// them. A recursion that is too deep is a RangeError then. stack is the engine's.
func (vm *vm) reword(e value, stack string) {
	v := slot(e, lib.EJS_ATOM_message)
	if v == nil || vm.makesError() {
		return
	}
	message, _ := vm.prefix(*v, maxMessage)
	text := message
	if message == "not a function" {
		text = vm.in.calleeIn(stack) + " is not a function"
	}
	for _, p := range phrases() {
		if m := p.engines.FindStringSubmatchIndex(message); m != nil {
			text = string(p.engines.ExpandString(nil, p.v8, message, m))
			break
		}
	}
	s := undefined
	if text != message {
		s = vm.newText(text)
	}
	if !isString(s) {
		return
	}
	v = slot(e, lib.EJS_ATOM_message)
	old := *v
	*v = s
	vm.free(old)
	if message == "stack overflow" {
		lib.XJS_SetPrototype(vm.tls, vm.ctx, e, at[lib.TJSContext](vm.ctx).Fnative_error_proto[lib.EJS_RANGE_ERROR])
	}
}

// makesError reports whether the program makes an error by Error or one of its kin.
func (vm *vm) makesError() bool {
	frame := at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame
	if frame == 0 {
		return false
	}
	fn := at[lib.TJSStackFrame](frame).Fcur_func
	// They share their code.
	return classOf(fn) == lib.EJS_CLASS_C_FUNCTION && *builtinCode(fn) == *builtinCode(vm.in.errorClass)
}

// builtinCode is where a built-in function has the address of its code.
func builtinCode(fn value) *uintptr {
	return (*uintptr)(unsafe.Add(unsafe.Pointer(&at[lib.TJSObject](ptr(fn)).Fu), 8))
}

// callee is what stands before the parenthesis of a call.
var callee = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*(?:\??\.#?[\p{L}_$][\p{L}\p{N}_$]*)*(?:\?\.)?\s*$`)
})

// calleeIn returns what the program calls in the first frame of a stack.
func (in *instance) calleeIn(stack string) string {
	line, _, _ := strings.Cut(stack, "\n")
	m := frame().FindStringSubmatch(line)
	if m == nil {
		return "value"
	}
	row, _ := strconv.Atoi(m[3])
	column, _ := strconv.Atoi(m[4])
	lines := strings.SplitN(in.textOf(m[2]), "\n", row+1)
	if row < 1 || row > len(lines) {
		return "value"
	}
	text := lines[row-1]
	for i := range text {
		if column--; column <= 0 {
			text = text[:i]
			break
		}
	}
	if name := strings.TrimSpace(callee().FindString(text)); name != "" && column <= 0 {
		return strings.TrimSuffix(name, "?.")
	}
	return "value"
}

// maxText is how long a source is looked through for what an error is about.
const maxText = 256 << 10

// textOf returns the program or the file of a frame, "" if it is long or not run as it
// is written.
func (in *instance) textOf(name string) string {
	if name == in.program.Name && len(in.source) <= maxText {
		return in.source
	}
	if !strings.HasPrefix(name, "/") || in.positions.of[name] != nil || in.positions.required[name] {
		return ""
	}
	file, _ := in.splitQuery(name[1:])
	if info, err := in.config.Files.Stat(file); err != nil || info.Size() > maxText {
		return ""
	}
	b, _ := in.config.Files.ReadFile(file)
	return string(b)
}

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
	class := vm.inheritedValue(e, "constructor")
	defer vm.free(class)
	if name := vm.inherited(e, "name"); name != "" {
		return name
	}
	name, _ := vm.ownClipped(class, "name", maxName)
	return cmp.Or(name, "Error")
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
