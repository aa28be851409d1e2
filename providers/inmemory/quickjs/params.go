package quickjs

import (
	"regexp"
	"strings"
	"unsafe"

	"github.com/toolcell/toolcell/providers/inmemory/quickjs/bytecode"
	lib "modernc.org/libquickjs"
)

// variable returns the definition of a function's argument, or of a local variable, which
// follow the arguments.
func variable(f *lib.TJSFunctionBytecode, i int) *lib.TJSBytecodeVarDef {
	return at[lib.TJSBytecodeVarDef](f.Fvardefs + uintptr(i)*unsafe.Sizeof(lib.TJSBytecodeVarDef{}))
}

// params returns the lexical variables of a function that have the name of an argument or
// of another variable, and so may be the second variable of a parameter. A body that
// declares the name again by var or function has a variable of its own.
func (vm *vm) params(f *lib.TJSFunctionBytecode) (list []bytecode.Param) {
	args, locals := int(f.Farg_count), int(f.Fvar_count)
	if locals == 0 {
		return nil
	}
	bodies := map[lib.TJSAtom]int{}
	for i := range args + locals {
		if v := variable(f, i); v.Fvar_name != lib.MJS_ATOM_NULL && (i < args || v.F__ccgo8&localLexical == 0) {
			if _, ok := bodies[v.Fvar_name]; !ok {
				bodies[v.Fvar_name] = i
			}
		}
	}
	for i := range locals {
		v := variable(f, args+i)
		body, ok := bodies[v.Fvar_name]
		if !ok || v.F__ccgo8&localLexical == 0 {
			continue
		}
		if code := (span{f.Fbyte_code_buf, int(f.Fbyte_code_len)}); v.F__ccgo8&localCaptured == 0 && !bytecode.Assigned(code.bytes(), i) || vm.declares(f, v.Fvar_name) {
			continue
		}
		if body < args {
			list = append(list, bytecode.Param{Local: i, Body: body, Arg: true})
		} else {
			list = append(list, bytecode.Param{Local: i, Body: body - args})
		}
	}
	return list
}

// declares reports whether a function's text may declare a name by var or function.
func (vm *vm) declares(f *lib.TJSFunctionBytecode, atom lib.TJSAtom) bool {
	v := lib.XJS_AtomToString(vm.tls, vm.ctx, atom)
	defer vm.free(v)
	name, lost, ok := vm.clipped(v, maxName)
	if !ok || lost > 0 || f.Fdebug.Fsource == 0 || f.Fdebug.Fsource_len > maxText {
		return true
	}
	text := span{f.Fdebug.Fsource, int(f.Fdebug.Fsource_len)}.text()
	if !strings.Contains(text, "var") && strings.Count(text, "function") < 2 {
		return false
	}
	name = regexp.QuoteMeta(name)
	again := regexp.MustCompile(`\b(?:var\s+|var\b[^;\n]*,\s*|function\s*\*?\s*)` + name + `\s*(?:[=,;\n}(]|$)`)
	return again.MatchString(text)
}

// capture makes the closures of a function capture the variables of the body.
func capture(f *lib.TJSFunctionBytecode, joined []bytecode.Param) {
	args := int(f.Farg_count)
	for _, p := range joined {
		body, local := variable(f, args+p.Body), variable(f, args+p.Local)
		kind := uint16(lib.EJS_CLOSURE_LOCAL)
		if p.Arg {
			body, kind = variable(f, p.Body), lib.EJS_CLOSURE_ARG
		}
		if local.F__ccgo8&localCaptured != 0 && body.F__ccgo8&localCaptured == 0 {
			body.F__ccgo8 |= localCaptured
			local.F__ccgo8 &^= localCaptured
			body.Fvar_ref_idx = local.Fvar_ref_idx
		}
		for _, v := range values(f.Fcpool, int(f.Fcpool_count)) {
			if tag(v) != lib.EJS_TAG_FUNCTION_BYTECODE {
				continue
			}
			inner := at[lib.TJSFunctionBytecode](ptr(v))
			for i := range int(inner.Fclosure_var_count) {
				c := at[lib.TJSClosureVar](inner.Fclosure_var + uintptr(i)*unsafe.Sizeof(lib.TJSClosureVar{}))
				if c.F__ccgo0&closureKind == lib.EJS_CLOSURE_LOCAL && int(c.Fvar_idx) == p.Local {
					c.F__ccgo0 = c.F__ccgo0&^closureKind | kind
					c.Fvar_idx = uint16(p.Body)
				}
			}
		}
	}
}
