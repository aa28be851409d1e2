//go:build !(386 || arm || s390x)

package quickjs

import (
	"strings"

	lib "modernc.org/libquickjs"
)

// atDeclaration reports whether the exception may be about an import or export
// declaration, which no script has: such a message says nothing of what is wrong in it.
func (in *instance) atDeclaration() bool {
	vm := in.vm
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	message := vm.ownString(e, "message")
	lib.XJS_Throw(vm.tls, vm.ctx, e)
	return message == "expecting '('" || strings.HasPrefix(message, "unsupported keyword: ")
}

// blame has the exception of a program with import and export declarations tell what
// the engine finds wrong in its own text, as a module: the translation has other
// columns, and declarations that are not valid are still in it. What is wrong only as
// modules are strict is before the fault, since lines stay where they are.
func (in *instance) blame(code, name string) {
	vm := in.vm
	if vm.stopping.Load() {
		return
	}
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	in.parsing = true
	v := vm.eval(code, name, lib.MJS_EVAL_TYPE_MODULE|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	in.parsing = false
	if !isException(v) {
		vm.free(v)
		lib.XJS_Throw(vm.tls, vm.ctx, e)
		return
	}
	own := lib.XJS_GetException(vm.tls, vm.ctx)
	if line := in.faultLine(own, name); line == 0 || line < in.faultLine(e, name) {
		own, e = e, own
	}
	vm.free(e)
	lib.XJS_Throw(vm.tls, vm.ctx, own)
}

// faultLine is the line of a program that a syntax error is at, 0 for other errors.
func (in *instance) faultLine(e value, name string) int {
	if classOf(e) != lib.EJS_CLASS_ERROR {
		return 0
	}
	return lineIn(in.vm.ownString(e, "stack"), name)
}
