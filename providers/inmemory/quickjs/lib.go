package quickjs

import (
	"embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/internal/jsvalue"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

//go:embed lib
var sources embed.FS

// A library's bytecode is the same for every engine of the process. It is made when the
// library is first needed, on a VM of its own: no program's limits apply.
type library struct {
	mu   sync.Mutex
	code atomic.Pointer[[]byte] // nil before the first use
}

var libraries = map[string]*library{"driver": {}, "intl": {}, "language": {}, "node": {}, "tools": {}, "web": {}}

// bytecode returns the bytecode of the library.
func (l *library) bytecode(name string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if code := l.code.Load(); code != nil {
		return *code, nil
	}
	src, err := librarySource(name)
	if err != nil {
		return nil, err
	}
	var p pool
	defer p.drop()
	vm, err := newVM(engine.Config{Limits: engine.Limits{Memory: defaultMemory, Stack: defaultStack}, Budget: engine.NewBudget(2 * defaultMemory)}, &p)
	if err != nil {
		return nil, err
	}
	defer vm.close()
	code, err := vm.compileBytecode(src, "node:internal/"+name)
	if err != nil {
		return nil, fmt.Errorf("library %s: %w", name, err)
	}
	l.code.Store(&code)
	return code, nil
}

// librarySource returns a library's script: a file of its name, or the files of
// a folder of its name, in order, as the body of one function.
func librarySource(name string) (string, error) {
	if src, err := sources.ReadFile("lib/" + name + ".js"); err == nil {
		return jsvalue.Into(string(src)), nil
	}
	files, err := sources.ReadDir("lib/" + name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("(function (host) {\n\"use strict\";\n")
	for _, f := range files {
		src, err := sources.ReadFile("lib/" + name + "/" + f.Name())
		if err != nil {
			return "", err
		}
		b.Write(src)
	}
	b.WriteString("});\n")
	return jsvalue.Into(b.String()), nil
}

func (vm *vm) compileBytecode(src, name string) ([]byte, error) {
	fn := vm.eval(src, name, lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY|lib.MJS_EVAL_FLAG_STRICT)
	if isException(fn) {
		e := lib.XJS_GetException(vm.tls, vm.ctx)
		defer vm.free(e)
		message, _ := vm.ownClipped(e, "message", maxMessage)
		return nil, errors.New(message)
	}
	defer vm.free(fn)
	p := lib.XJS_WriteObject(vm.tls, vm.ctx, vm.scratch, fn, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		vm.dropException()
		return nil, errors.New("out of memory")
	}
	defer lib.Xjs_free(vm.tls, vm.ctx, p)
	return span{p, int(*at[lib.Tsize_t](vm.scratch))}.bytes(), nil
}

// load returns the exports of a library, which it runs in the current realm
// when it is first needed. A library is a script that evaluates to a function
// of the host's functions.
func (in *instance) load(name string) value {
	if v, ok := in.loaded[name]; ok {
		return in.vm.dup(v)
	}
	v := in.run(name)
	if !isException(v) {
		if in.loaded == nil {
			in.loaded = map[string]value{}
		}
		in.loaded[name] = in.vm.dup(v)
	}
	return v
}

func (in *instance) run(name string) value {
	vm := in.vm
	var code []byte
	var err error
	if made := libraries[name].code.Load(); made != nil {
		code = *made
	} else { // while it is compiled, other programs have their turn
		in.idle(func() { code, err = libraries[name].bytecode(name) })
	}
	if in.stop.Err() != nil {
		vm.stopping.Store(true)
		return vm.throwUncatchable()
	}
	if err != nil {
		return vm.throw("InternalError", err.Error())
	}
	obj := vm.lent(asText(code), func(p uintptr) value {
		return lib.XJS_ReadObject(vm.tls, vm.ctx, p, lib.Tsize_t(len(code)), lib.MJS_READ_OBJ_BYTECODE)
	})
	if isException(obj) {
		return exception
	}
	fn := lib.XJS_EvalFunction(vm.tls, vm.ctx, obj)
	if isException(fn) {
		return exception
	}
	defer vm.free(fn)
	host := in.hostObject()
	defer vm.free(host)
	return vm.call(fn, undefined, host)
}

// hostObject returns an object with the host functions for a library.
func (in *instance) hostObject() value {
	vm := in.vm
	obj := lib.XJS_NewObjectProto(vm.tls, vm.ctx, null)
	for i, f := range in.table.functions[:in.table.hosts] {
		vm.set(obj, f.name, in.newFunction(i), lib.MJS_PROP_C_W_E)
	}
	return obj
}

// A builtin is a method of the language that the engine lacks or gets wrong.
// It stands in the realm from the start and loads the library that implements
// it when it is first called, so that a context costs no more for it.
type builtin struct {
	object string // the name of the global; the method is on its prototype
	static bool   // the method is on the global itself
	name   string
	arity  int
	lib    string
	export string
}

var builtinMethods = []builtin{
	{"Number", false, "toLocaleString", 0, "intl", "numberToLocaleString"},
	{"BigInt", false, "toLocaleString", 0, "intl", "bigintToLocaleString"},
	{"Date", false, "toLocaleString", 0, "intl", "dateToLocaleString"},
	{"Date", false, "toLocaleDateString", 0, "intl", "dateToLocaleDateString"},
	{"Date", false, "toLocaleTimeString", 0, "intl", "dateToLocaleTimeString"},
	{"Date", false, "toString", 0, "intl", "dateToString"},
	{"Date", false, "toTimeString", 0, "intl", "dateToTimeString"},
	{"String", false, "localeCompare", 1, "intl", "localeCompare"},
	{"String", false, "toLocaleLowerCase", 0, "language", "toLocaleLowerCase"},
	{"String", false, "toLocaleUpperCase", 0, "language", "toLocaleUpperCase"},
	{"Array", false, "toLocaleString", 0, "language", "arrayToLocaleString"},
	{"Array", true, "fromAsync", 1, "language", "fromAsync"},
	{"Promise", true, "any", 1, "language", "promiseAny"},
	{"Error", true, "captureStackTrace", 2, "language", "captureStackTrace"},
	{"Iterator", false, "map", 1, "language", "iteratorMap"},
	{"Iterator", false, "filter", 1, "language", "iteratorFilter"},
	{"Iterator", false, "flatMap", 1, "language", "iteratorFlatMap"},
	{"Iterator", false, "take", 1, "language", "iteratorTake"},
	{"Iterator", false, "drop", 1, "language", "iteratorDrop"},
}

// builtinFunctions are the host functions behind builtinMethods, in their
// order.
func builtinFunctions() []function {
	list := make([]function, len(builtinMethods))
	for i, b := range builtinMethods {
		list[i] = function{b.name, b.arity, func(in *instance, this value, args []value) value {
			return in.callLibrary(b.lib, b.export, this, args)
		}}
	}
	return list
}

func (in *instance) callLibrary(name, export string, this value, args []value) value {
	exports := in.load(name)
	if isException(exports) {
		return exception
	}
	defer in.vm.free(exports)
	fn := in.vm.own(exports, export)
	defer in.vm.free(fn)
	return in.vm.call(fn, this, args...)
}

// installBuiltins puts builtinMethods into a new realm and keeps what they
// replace for hostOriginal. Their host functions begin at index first.
func (in *instance) installBuiltins(global value, first int) {
	vm := in.vm
	in.originals = make([]value, len(builtinMethods))
	object := undefined
	for i, b := range builtinMethods {
		if i == 0 || b.object != builtinMethods[i-1].object || b.static != builtinMethods[i-1].static {
			vm.free(object)
			object = in.builtinObject(global, b)
		}
		in.originals[i] = vm.own(object, b.name)
		vm.set(object, b.name, in.newFunction(first+i), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	}
	vm.free(object)
}

// builtinObject returns the object that has a built-in method.
func (in *instance) builtinObject(global value, b builtin) value {
	object := in.vm.own(global, b.object)
	if b.static || !isObject(object) {
		return object
	}
	defer in.vm.free(object)
	return in.vm.own(object, "prototype")
}

// hostOriginal returns the engine's own method behind an export of a library.
func (in *instance) hostOriginal(_ value, args []value) value {
	export, _, ok := in.vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	for i, b := range builtinMethods {
		if b.export == export {
			return in.vm.dup(in.originals[i])
		}
	}
	return undefined
}
