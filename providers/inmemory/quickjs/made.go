//go:build !(386 || arm || s390x)

package quickjs

import (
	"strings"

	lib "modernc.org/libquickjs"
)

// maxMade is how long a source is looked through for where an error was made,
// which programs do often.
const maxMade = 256 << 10

// madeAt returns the stack of an error that Error or one of its kin has just
// made as node has it: without the frames of its classes' constructors that are
// written out, and with the column of the first of the others at new or the name, not at the
// parenthesis.
func (vm *vm) madeAt(stack string) string {
	frame := at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame
	if frame == 0 || !vm.isErrorConstructor(at[lib.TJSStackFrame](frame).Fcur_func) {
		return stack
	}
	for range maxChain {
		frame = at[lib.TJSStackFrame](frame).Fprev_frame
		if frame == 0 {
			return stack
		}
		fn := at[lib.TJSStackFrame](frame).Fcur_func
		if !isObject(fn) || !isBytecode(classOf(fn)) || vm.sourceLen(objectData(ptr(fn))) > maxMade {
			return stack
		}
		f := &fault{better: -1}
		vm.place(f, fn, stack)
		if !f.inConstructor() {
			if f.source != "" && f.source[f.at] == '(' {
				f.better = makerBefore(f.source, f.at)
			}
			return f.moved(stack)
		}
		_, stack, _ = strings.Cut(stack, "\n")
	}
	return stack
}

// inConstructor reports whether a fault is in a class's constructor where that
// calls super.
func (f *fault) inConstructor() bool {
	return f.class && f.source[f.at] == '(' && strings.HasSuffix(spaceBefore(f.source[:f.at]), "super")
}

// isBytecode reports whether functions of a class are the program's.
func isBytecode(class int) bool {
	switch class {
	case lib.EJS_CLASS_BYTECODE_FUNCTION, lib.EJS_CLASS_GENERATOR_FUNCTION, lib.EJS_CLASS_ASYNC_FUNCTION, lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
		return true
	}
	return false
}

// sourceLen is the length of what sourceAt looks through.
func (vm *vm) sourceLen(bytecode uintptr) int {
	if bytecode == vm.in.top {
		return len(vm.in.topSource)
	}
	return int(at[lib.TJSFunctionBytecode](bytecode).Fdebug.Fsource_len)
}

// makerBefore returns where the expression begins that makes an error by the
// parenthesis at src[end]: new Error, super, or Error alone; -1 for others.
func makerBefore(src string, end int) int {
	head := spaceBefore(src[:end])
	start := len(head)
	for start > 0 && (isWord(head[start-1]) || head[start-1] == '.') {
		start--
	}
	if start == len(head) {
		return -1
	}
	if outer := spaceBefore(head[:start]); strings.HasSuffix(outer, "new") && !isWord(before(outer, len(outer)-3)) && before(outer, len(outer)-3) != '.' {
		return len(outer) - len("new")
	}
	return strings.LastIndexByte(head[start:], '.') + 1 + start
}
