//go:build !(386 || arm || s390x)

package quickjs

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"
)

const (
	varKind      = 0x1e0 // of TJSClosureVar, one of lib.EJS_VAR_*
	varKindShift = 5
)

// redefined returns a name that a compiled script declares at its top level and must
// not, 0 where there is none: that of a function behind a let, const or class of that
// name, a pair which the engine refuses everywhere else, and one of a constant of the
// language, which may only be a var's.
func (vm *vm) redefined(fn value) lib.TJSAtom {
	code := at[lib.TJSFunctionBytecode](ptr(fn))
	var lexical map[lib.TJSAtom]bool
	for i := range int(code.Fclosure_var_count) {
		v := at[lib.TJSClosureVar](code.Fclosure_var + uintptr(i)*unsafe.Sizeof(lib.TJSClosureVar{}))
		function := v.F__ccgo0&varKind>>varKindShift == lib.EJS_VAR_GLOBAL_FUNCTION_DECL
		switch {
		case v.F__ccgo0&varType != lib.EJS_CLOSURE_GLOBAL_DECL:
		case isConstant(v.Fvar_name) && (function || v.F__ccgo0&varLexical != 0):
			return v.Fvar_name
		case v.F__ccgo0&varLexical != 0:
			if lexical == nil {
				lexical = map[lib.TJSAtom]bool{}
			}
			lexical[v.Fvar_name] = true
		case function && lexical[v.Fvar_name]:
			return v.Fvar_name
		}
	}
	return 0
}

// isConstant reports whether a name is of a global that can be neither set nor configured.
func isConstant(name lib.TJSAtom) bool {
	return name == lib.EJS_ATOM_NaN || name == lib.EJS_ATOM_Infinity || name == lib.EJS_ATOM_undefined
}

// refuseRedefined throws what the engine throws for such pairs, where the function is,
// and of constants what node does.
func (in *instance) refuseRedefined(src, file string, name lib.TJSAtom) value {
	vm := in.vm
	quoted := lib.XJS_AtomToString(vm.tls, vm.ctx, name)
	defer vm.free(quoted)
	text, _, ok := vm.clipped(quoted, maxName)
	if !ok {
		return exception
	}
	message, words := "invalid redefinition of lexical identifier", []string{"function"}
	if isConstant(name) {
		message, words = "Identifier '"+text+"' has already been declared", []string{"let", "const", "class", "function", ",", "{", "["}
	}
	vm.throw("SyntaxError", message)
	offset := declarationAt(src, text, words, vm.stopping.Load)
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

// declarationAt returns where a name stands that a program declares at its top level by
// one of some words, -1 if that is not found.
func declarationAt(src, name string, words []string, stopped func() bool) int {
	s := scanner{src: src}
	for tokens := 0; s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			return -1
		}
		if s.depth > 1 || s.depth == 1 && s.kind == word || !slices.Contains(words, s.text) || s.prev == "." {
			continue
		}
		if s.text == "function" && s.peek() == "*" {
			s.next()
		}
		if t := s; t.next() && t.kind == word && t.text == name {
			return t.start
		}
	}
	return -1
}
