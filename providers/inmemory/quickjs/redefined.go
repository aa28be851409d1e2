//go:build !(386 || arm || s390x)

package quickjs

import (
	"strconv"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"
)

const (
	varKind      = 0x1e0 // of TJSClosureVar, one of lib.EJS_VAR_*
	varKindShift = 5
)

// redefined returns the name of a function that a compiled script declares at its top
// level behind a let, const or class of that name, 0 where there is none: the engine
// refuses such a pair everywhere else.
func (vm *vm) redefined(fn value) lib.TJSAtom {
	code := at[lib.TJSFunctionBytecode](ptr(fn))
	var lexical map[lib.TJSAtom]bool
	for i := range int(code.Fclosure_var_count) {
		v := at[lib.TJSClosureVar](code.Fclosure_var + uintptr(i)*unsafe.Sizeof(lib.TJSClosureVar{}))
		switch {
		case v.F__ccgo0&varType != lib.EJS_CLOSURE_GLOBAL_DECL:
		case v.F__ccgo0&varLexical != 0:
			if lexical == nil {
				lexical = map[lib.TJSAtom]bool{}
			}
			lexical[v.Fvar_name] = true
		case v.F__ccgo0&varKind>>varKindShift == lib.EJS_VAR_GLOBAL_FUNCTION_DECL && lexical[v.Fvar_name]:
			return v.Fvar_name
		}
	}
	return 0
}

// refuseRedefined throws what the engine throws for such pairs, where the function is.
func (in *instance) refuseRedefined(src, file string, name lib.TJSAtom) value {
	vm := in.vm
	quoted := lib.XJS_AtomToString(vm.tls, vm.ctx, name)
	defer vm.free(quoted)
	text, _, ok := vm.clipped(quoted, maxName)
	if !ok {
		return exception
	}
	vm.throw("SyntaxError", "invalid redefinition of lexical identifier")
	offset := functionAt(src, text, vm.stopping.Load)
	if offset < 0 {
		return exception
	}
	before := src[:offset]
	line, column := in.positions.at(file, 1+strings.Count(before, "\n"), offset-strings.LastIndexByte(before, '\n'))
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	stack := vm.newString(vm.errorHead(e) + "\n    at " + file + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column))
	vm.set(e, "stack", stack, lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	return lib.XJS_Throw(vm.tls, vm.ctx, e)
}

// functionAt returns where the name of a function stands that a program declares at its
// top level, -1 if that is not found.
func functionAt(src, name string, stopped func() bool) int {
	s := scanner{src: src}
	for tokens := 0; s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			return -1
		}
		if s.depth > 0 || s.kind != word || s.text != "function" || s.prev == "." {
			continue
		}
		if s.peek() == "*" {
			s.next()
		}
		if s.next() && s.kind == word && s.text == name {
			return s.start
		}
	}
	return -1
}
