package quickjs

import (
	"encoding/json"
	"path"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// Bit fields of the engine's structures.
const (
	varType     = 0x7       // of TJSClosureVar, one of lib.EJS_CLOSURE_*
	varLexical  = 0x8       // let, const or class
	varConst    = 0x10      // const
	propNext    = 0x3ffffff // of TJSShapeProperty; the upper six bits are the property's flags
	propFlags   = 26
	jsValueSize = unsafe.Sizeof(value{})
)

// A cell is a compiled program.
type cell struct {
	fn    value // the compiled script, or an exception
	async bool  // it evaluates to a promise of {value}
	again []binding
	over  []lib.TJSAtom // names of let, const and class that were the global object's
}

// A binding is a variable of an earlier program that a new one declares
// again, with the value that it had.
type binding struct {
	ref *lib.TJSVarRef
	old value
}

// prepare compiles the run's program as a REPL does. There is no rewriting of
// declarations: the engine's own parser says which variables the program
// declares, and those that exist already are bound again in the compiled
// code.
func (in *instance) prepare() cell {
	code, name, position := in.program.Code, in.program.Name, in.program.Position
	if len(in.program.Args) > 0 {
		if v := in.giveArgv(); isException(v) {
			return cell{fn: v}
		}
	}
	if guarded, ok := in.awaited(code, name); ok {
		if c := in.prepareCode(guarded, name); !isException(c.fn) {
			return c
		}
		// The error is to be about the program's own text.
		in.vm.dropException()
		in.positions.of[name] = position
	}
	return in.prepareCode(code, name)
}

func (in *instance) prepareCode(code, name string) cell {
	vm := in.vm
	if in.program.Script {
		if c, ok := in.scriptCell(code, name); ok {
			return c
		}
	}
	// With the word in a comment only, a program does the same either way.
	await := strings.Contains(code, "await")
	if looksLikeObject(code) {
		if fn := vm.compile("("+code+"\n)", name, await); !isException(fn) {
			return in.compiled(fn, "("+code+"\n)", name, await)
		}
		vm.dropException()
	}
	fn := vm.compile(code, name, await)
	if !isException(fn) {
		return in.compiled(fn, code, name, await)
	}
	static := in.script(code)
	if static == nil && in.program.Script && in.returns() {
		return in.wrapped(code, name)
	}
	if static == nil && !strings.Contains(code, "import") && !strings.Contains(code, "export") {
		return cell{fn: fn}
	}
	if static != nil {
		vm.dropException() // it is about the first declaration
		in.moved(name, static)
		if fn = vm.compileStrict(static.Code, name); !isException(fn) {
			return in.compiled(fn, static.Code, name, true)
		}
	}
	in.blame(code, name)
	return cell{fn: fn}
}

// returns reports whether the exception says that the program returns at its top level, as
// a file may in node, and drops it then.
func (in *instance) returns() bool {
	vm := in.vm
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	if message, _ := vm.ownClipped(e, "message", maxName); message != "return not in a function" {
		lib.XJS_Throw(vm.tls, vm.ctx, e)
		return false
	}
	vm.free(e)
	return true
}

// scriptCell compiles a file that is a module by its name.
func (in *instance) scriptCell(code, name string) (c cell, ok bool) {
	if path.Ext(name) != ".mjs" {
		return cell{}, false
	}
	fn := in.vm.compileStrict(code, name)
	if !isException(fn) {
		return in.compiled(fn, code, name, true), true
	}
	if in.script(code) == nil { // else the declarations may be all that is wrong
		return cell{fn: fn}, true
	}
	in.vm.dropException() // it is said again of the program
	return cell{}, false
}

// wrapped compiles a program as the function that node makes of a file.
func (in *instance) wrapped(code, name string) cell {
	vm := in.vm
	if strings.HasPrefix(code, "#!") {
		code = "//" + code
	}
	src := commonStart + code + "\n}).call(exports, exports, require, module, __filename, __dirname); void 0"
	fn := vm.compile(src, name, false)
	if isException(fn) {
		return cell{fn: fn}
	}
	return in.compiled(fn, src, name, false)
}

// giveArgv has process.argv hold the program's name and arguments.
func (in *instance) giveArgv() value {
	list, err := json.Marshal(in.program.Args)
	if err != nil {
		panic(err) // of strings there is none
	}
	v := in.vm.eval("process.argv.splice(1, Infinity, ..."+string(list)+"); void 0", "arguments", lib.MJS_EVAL_TYPE_GLOBAL)
	in.vm.free(v)
	return v
}

// compiled is the cell of a script that was compiled from src.
func (in *instance) compiled(fn value, src, name string, async bool) cell {
	in.source = src
	again, over := in.vm.rebind(fn)
	return cell{fn: fn, async: async, again: again, over: over}
}

// looksLikeObject reports whether a program is perhaps one object literal,
// which a script would take for a block.
func looksLikeObject(code string) bool {
	code = strings.TrimSpace(code)
	return strings.HasPrefix(code, "{") && strings.HasSuffix(code, "}")
}

// rebind makes the declarations of a compiled script refer to the variables
// that exist already. Functions of earlier programs see the new values, as
// they would see those of a plain assignment.
func (vm *vm) rebind(fn value) (again []binding, over []lib.TJSAtom) {
	code := at[lib.TJSFunctionBytecode](ptr(fn))
	for i := range int(code.Fclosure_var_count) {
		v := at[lib.TJSClosureVar](code.Fclosure_var + uintptr(i)*unsafe.Sizeof(lib.TJSClosureVar{}))
		if v.F__ccgo0&varType != lib.EJS_CLOSURE_GLOBAL_DECL {
			continue
		}
		global := at[lib.TJSContext](vm.ctx)
		_, slot := findProperty(global.Fglobal_var_obj, v.Fvar_name)
		if slot == nil {
			if v.F__ccgo0&varLexical != 0 && allowShadow(global.Fglobal_obj, v.Fvar_name) {
				over = append(over, lib.XJS_DupAtom(vm.tls, vm.ctx, v.Fvar_name))
			}
			continue
		}
		ref := at[lib.TJSVarRef](*slot)
		// No declaration, which the engine refuses for a name that there is.
		v.F__ccgo0 = v.F__ccgo0&^varType | lib.EJS_CLOSURE_GLOBAL
		// An earlier program may have declared it const.
		ref.Fis_const = 0
		held := at[value](ref.Fpvalue)
		if v.F__ccgo0&varLexical == 0 {
			// The earlier program ended before its let: as a var the name has a value all the same.
			if tag(*held) == lib.EJS_TAG_UNINITIALIZED {
				*held = undefined
			}
			continue
		}
		if v.F__ccgo0&varConst != 0 {
			ref.Fis_const = 1
		}
		again = append(again, binding{ref, *held})
		// In its temporal dead zone again, until the cell comes to declare it.
		*held = uninitialized
	}
	return again, over
}

// settle gives the variables that a program declared again, but did not come
// to set, their old values back.
func (c *cell) settle(vm *vm) {
	for _, b := range c.again {
		if held := at[value](b.ref.Fpvalue); tag(*held) == lib.EJS_TAG_UNINITIALIZED {
			*held = b.old
		} else {
			vm.free(b.old)
		}
	}
	for _, name := range c.over {
		vm.unshadow(name)
		lib.XJS_FreeAtom(vm.tls, vm.ctx, name)
	}
}

// unshadow takes a let, const or class away that its program did not come to set, so
// that its name is again that of the variable or function behind it.
func (vm *vm) unshadow(name lib.TJSAtom) {
	lexical := at[lib.TJSContext](vm.ctx).Fglobal_var_obj
	p, slot := findProperty(lexical, name)
	if p == nil || tag(*at[value](at[lib.TJSVarRef](*slot).Fpvalue)) != lib.EJS_TAG_UNINITIALIZED {
		return
	}
	p.F__ccgo0 |= lib.MJS_PROP_CONFIGURABLE << propFlags
	if lib.XJS_DeleteProperty(vm.tls, vm.ctx, lexical, name, 0) < 0 {
		vm.dropException() // no memory: the name stays as it is
	}
}

// allowShadow lets a let, const or class have the name of a variable or
// function that an earlier program declared, and reports whether there is one.
func allowShadow(global value, name lib.TJSAtom) bool {
	const variable = lib.MJS_PROP_VARREF << propFlags
	p, _ := findProperty(global, name)
	if p != nil && p.F__ccgo0&(lib.MJS_PROP_TMASK<<propFlags) == variable {
		// The language refuses it only where the property cannot be configured.
		p.F__ccgo0 |= lib.MJS_PROP_CONFIGURABLE << propFlags
	}
	return p != nil
}

// shapeProperties returns where a shape's list of properties begins.
func shapeProperties(shape uintptr) uintptr {
	return shape + unsafe.Sizeof(lib.TJSShape{}) + (uintptr(at[lib.TJSShape](shape).Fprop_hash_mask)+1)*4
}

// findProperty returns an own property of a plain object and the first word of
// its slot, nil where there is none.
func findProperty(v value, atom lib.TJSAtom) (*lib.TJSShapeProperty, *uintptr) {
	obj := at[lib.TJSObject](ptr(v))
	shape := at[lib.TJSShape](obj.Fshape)
	hash := obj.Fshape + unsafe.Sizeof(lib.TJSShape{})
	props := shapeProperties(obj.Fshape)
	i := *at[uint32](hash + uintptr(uint32(atom)&uint32(shape.Fprop_hash_mask))*4)
	for i != 0 {
		p := at[lib.TJSShapeProperty](props + uintptr(i-1)*unsafe.Sizeof(lib.TJSShapeProperty{}))
		if p.Fatom == atom {
			return p, at[uintptr](obj.Fprop + uintptr(i-1)*unsafe.Sizeof(lib.TJSProperty{}))
		}
		i = p.F__ccgo0 & propNext
	}
	return nil, nil
}
