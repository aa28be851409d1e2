//go:build !(386 || arm || s390x)

package quickjs

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/toolcell/toolcell/internal/typescript"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs/source"
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
	offset := source.DeclarationAt(src, text, words, vm.stopping.Load)
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

// atDeclaration reports whether the exception may be about an import or export
// declaration, which no script has: such a message says nothing of what is wrong in it.
func (in *instance) atDeclaration() bool {
	vm := in.vm
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	message := vm.ownString(e, "message")
	lib.XJS_Throw(vm.tls, vm.ctx, e)
	return message == "expecting '('" || strings.HasPrefix(message, "unsupported keyword: ")
}

// The engine does not await return() of an iterator that a for await loop leaves, and
// calls it where the iterator has ended. So such loops are written anew: what they
// iterate over is watched by an object of library language, which says behind the loop
// what is to be awaited. Programs without them are compiled as they are.

// awaitedLoop is the global that makes the object, and the variable of a loop's own.
const awaitedLoop = "__for__await"

var guardOfLoops = typescript.Guard{
	Before: "{const " + awaitedLoop + "_=" + awaitedLoop + "();try{",
	Open:   awaitedLoop + "_.of(",
	Close: func(of string) string {
		if source.IsIdentifier(of) && len(of) < maxName {
			return `,"` + of + `")`
		}
		return ")"
	},
	After: "}catch(e){" + awaitedLoop + "_.failed=true;throw e}finally{if(" + awaitedLoop + "_.left)" +
		awaitedLoop + "_.check(await " + awaitedLoop + "_.end())}}",
}

var mayAwaitLoops = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bfor\s+await\b`) })

// awaited returns a source with its for await loops as they are run, and has errors in
// the file tell the positions of the source. ok is false where there are no such
// loops, or they are not to be found: the source is no JavaScript.
func (in *instance) awaited(code, file string, position func(line, column int) (int, int)) (guarded string, ok bool) {
	if !mayAwaitLoops().MatchString(code) {
		return "", false
	}
	vm, mark := in.vm, in.vm.borrowed
	defer vm.giveBack(mark)
	if len(code) > small && !vm.tryBorrow(int(typescript.Memory(len(code)))) {
		return "", false
	}
	pr, err := typescript.GuardLoops(breather{in.stop, vm}, code, guardOfLoops)
	if err != nil || pr == nil {
		return "", false
	}
	in.reveal(awaitedLoop)
	at := pr.Position
	if position != nil {
		at = func(line, column int) (int, int) { return position(pr.Position(line, column)) }
	}
	in.positions.moved(file, at, pr.Size())
	return pr.Code, true
}

// breather lets other programs run whenever it is asked whether to go on.
type breather struct {
	context.Context
	vm *vm
}

// Err implements context.Context.
func (b breather) Err() error {
	b.vm.breathe()
	return b.Context.Err()
}

// positions are those of the program in progress and of the latest before it, as
// far as they were made from other sources.
type positions struct {
	of    map[string]func(line, column int) (int, int) // by the program's name
	order []mappedSize                                 // the oldest first
	size  int64

	required map[string]bool // files that were compiled behind commonStart
}

type mappedSize struct {
	name string
	size int64
}

func (ps *positions) add(p engine.Program) {
	if ps.of == nil {
		ps.of = map[string]func(int, int) (int, int){}
	}
	ps.of[p.Name] = p.Position
	ps.order = append(ps.order, mappedSize{p.Name, p.PositionSize})
	ps.size += p.PositionSize
}

// moved is add for a file, or once more for the program in progress.
func (ps *positions) moved(name string, position func(line, column int) (int, int), size int64) {
	ps.add(engine.Program{Name: name, Position: position, PositionSize: size})
}

// maxRequired is how many files of require have the columns of their first line.
const maxRequired = 1 << 10

func (ps *positions) require(file string) {
	if ps.required == nil {
		ps.required = map[string]bool{}
	}
	if len(ps.required) < maxRequired {
		ps.required[file] = true
	}
}

// at returns where in the source of a file the engine's position is.
func (ps *positions) at(file string, row, column int) (int, int) {
	// The function's beginning stands before the file's first line.
	if row == 1 && column > len(commonStart) && ps.required[file] {
		column -= len(commonStart)
	}
	if position := ps.of[file]; position != nil {
		return position(row, max(column, 1))
	}
	return row, column
}

// trim drops the oldest, so that what a context keeps from run to run is little.
func (ps *positions) trim() {
	for len(ps.order) >= maxMapped || ps.size > maxMappedSize {
		delete(ps.of, ps.order[0].name)
		ps.size -= ps.order[0].size
		ps.order = ps.order[1:]
	}
}

// blame makes the exception of a program with import and export declarations say what
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
