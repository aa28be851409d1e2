package quickjs

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs/system"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// A function is a host function. Its arguments are borrowed; args has at
// least as many elements as the function's arity. It returns a value, or
// exception with one pending.
type function struct {
	name  string
	arity int
	call  func(in *instance, this value, args []value) value
}

// A global is a name that the realm gets when it is first used.
type global struct{ name, lib string }

// functions returns all host functions; their index is their magic number.
// The first are global, then come those of console, those that only the
// libraries see, and those behind builtinMethods.
func functions() (all []function, globals, consoles, hosts int) {
	all = append(all, globalFunctions()...)
	globals = len(all)
	all = append(all, consoleFunctions()...)
	consoles = len(all)
	all = append(all, hostFunctions()...)
	hosts = len(all)
	return append(all, builtinFunctions()...), globals, consoles, hosts
}

// lazyGlobals lists what the libraries define.
func lazyGlobals() []global {
	var list []global
	for _, name := range []string{
		"URL", "URLSearchParams", "TextEncoder", "TextDecoder", "structuredClone", "Event", "EventTarget",
		"CustomEvent", "AbortController", "AbortSignal", "DOMException", "performance", "crypto",
		"Headers", "Request", "Response", "fetch",
	} {
		list = append(list, global{name, "web"})
	}
	for _, name := range []string{"process", "Buffer", "require", "module", "exports", "__filename", "__dirname"} {
		list = append(list, global{name, "node"})
	}
	list = append(list, global{"Intl", "intl"})
	list = append(list, global{"tools", "tools"}, global{"ToolError", "tools"})
	// For programs that are rewritten.
	return append(list, global{importMeta, "node"}, global{importNamed, "node"}, global{awaitedLoop, "language"})
}

// A table lists the host functions for the engine. It is outside of Go's heap and is never
// freed, as engines keep pointers into it.
type table struct {
	functions []function
	hosts     int     // how many of them come before those of builtinMethods
	globals   uintptr // TJSCFunctionListEntry of the global object
	nglobals  int
	lazy      []global
	lazyNames []uintptr // as the engine takes them
	noName    uintptr   // an empty one
}

var hostTable = sync.OnceValue(func() *table {
	all, globals, consoles, hosts := functions()
	t := &table{functions: all, hosts: hosts, lazy: lazyGlobals()}
	const flags = lib.MJS_PROP_WRITABLE | lib.MJS_PROP_CONFIGURABLE
	var text []byte // the names, each with a NUL
	place := map[string]uintptr{}
	for _, f := range append(slices.Clone(all), function{name: "console"}) {
		place[f.name] = uintptr(len(text))
		text = append(append(text, f.name...), 0)
	}
	for _, g := range t.lazy {
		place[g.name] = uintptr(len(text))
		text = append(append(text, g.name...), 0)
	}
	names := permanent(text)
	entry := func(i int, flags uint8) lib.TJSCFunctionListEntry {
		e := lib.TJSCFunctionListEntry{Fname: names + place[all[i].name], Fprop_flags: flags, Fdef_type: lib.MJS_DEF_CFUNC, Fmagic: int16(i)}
		e.Fu.Ffunc1.Flength = uint8(all[i].arity)
		e.Fu.Ffunc1.Fcproto = lib.EJS_CFUNC_generic_magic
		*(*uintptr)(unsafe.Pointer(&e.Fu.Ffunc1.Fcfunc)) = funcPtr(cFunction)
		return e
	}
	var console, list []lib.TJSCFunctionListEntry
	for i := globals; i < consoles; i++ {
		console = append(console, entry(i, flags|lib.MJS_PROP_ENUMERABLE)) // as in node, where programs wrap them
	}
	for i := range globals {
		list = append(list, entry(i, flags))
	}
	e := lib.TJSCFunctionListEntry{Fname: names + place["console"], Fprop_flags: flags, Fdef_type: lib.MJS_DEF_OBJECT}
	object := (*[2]uintptr)(unsafe.Pointer(&e.Fu))
	object[0] = permanent(console)
	*(*int32)(unsafe.Pointer(&object[1])) = int32(len(console))
	list = append(list, e)
	for _, g := range t.lazy {
		t.lazyNames = append(t.lazyNames, names+place[g.name])
	}
	t.noName = names + uintptr(len(text)) - 1
	t.globals, t.nglobals = permanent(list), len(list)
	return t
})

// permanent returns the address of a copy of a list in memory that is never given back.
func permanent[T any](list []T) uintptr {
	size := unsafe.Sizeof(list[0])
	mem, err := system.MapMemory((len(list)*int(size) + pageSize - 1) &^ (pageSize - 1))
	if err != nil {
		panic("quickjs: " + err.Error())
	}
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	for i, x := range list {
		*at[T](addr + uintptr(i)*size) = x
	}
	return addr
}

// install gives a new realm its globals.
func (in *instance) install() error {
	vm, t := in.vm, in.table
	lib.XJS_SetHostPromiseRejectionTracker(vm.tls, vm.rt, funcPtr(cRejected), uintptr(unsafe.Pointer(vm)))
	lib.XJS_SetModuleLoaderFunc2(vm.tls, vm.rt, funcPtr(cNormalize), funcPtr(cLoad), 0, uintptr(unsafe.Pointer(vm)))
	g := lib.XJS_GetGlobalObject(vm.tls, vm.ctx)
	defer vm.free(g)
	if lib.XJS_SetPropertyFunctionList(vm.tls, vm.ctx, g, t.globals, int32(t.nglobals)) < 0 || !in.installLazy(g) {
		vm.dropException()
		return fmt.Errorf("%w: the memory limit is too small for a context", codeinterp.ErrInvalid)
	}
	in.installBuiltins(g, t.hosts)
	in.lastAtom = vm.atom("_")
	vm.hookErrors()
	vm.set(g, "global", vm.dup(g), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	return nil
}

// installLazy defines the globals that the libraries define when they are first used. The
// engine would take as long to name each getter and setter as to make it: one function
// without a name is both. It returns false, with an exception pending, if there is too
// little memory.
func (in *instance) installLazy(globals value) bool {
	vm, t := in.vm, in.table
	for i, name := range t.lazyNames {
		f := lib.XJS_NewCFunction2(vm.tls, vm.ctx, funcPtr(cLazy), t.noName, 0, lib.EJS_CFUNC_generic_magic, int32(i))
		if isException(f) {
			return false
		}
		atom := lib.XJS_NewAtom(vm.tls, vm.ctx, name)
		defined := lib.XJS_DefinePropertyGetSet(vm.tls, vm.ctx, globals, atom, f, vm.dup(f), lib.MJS_PROP_CONFIGURABLE)
		lib.XJS_FreeAtom(vm.tls, vm.ctx, atom)
		if defined < 0 {
			return false
		}
	}
	return true
}

// newFunction returns the host function of an index.
func (in *instance) newFunction(i int) value {
	vm, f := in.vm, in.table.functions[i]
	return lib.XJS_NewCFunction2(vm.tls, vm.ctx, funcPtr(cFunction), vm.cName(f.name), int32(f.arity), lib.EJS_CFUNC_generic_magic, int32(i))
}

// cFunction is what the engine calls for every host function.
func cFunction(tls *libc.TLS, ctx uintptr, this value, argc int32, argv uintptr, magic int32) value {
	vm := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	f := &vm.in.table.functions[magic]
	// The engine pads the arguments to the function's arity.
	args := values(argv, max(int(argc), f.arity))
	home, mark := vm.ctx, vm.borrowed
	// The function's own realm, which need not be the one that called it.
	vm.ctx = ctx
	v := f.call(vm.in, this, args)
	vm.ctx = home
	vm.giveBack(mark)
	return v
}

// cLazy is what the engine calls to read a lazy global, and with a value to set it.
func cLazy(tls *libc.TLS, ctx uintptr, _ value, argc int32, argv uintptr, magic int32) value {
	vm := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	g := vm.in.table.lazy[magic]
	globals := at[lib.TJSContext](ctx).Fglobal_obj
	switch {
	case argc > 0:
		vm.set(globals, g.name, vm.dup(values(argv, 1)[0]), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
		return undefined
	case g.lib == "tools": // which differ from run to run
		return vm.in.tools(g.name)
	case !vm.in.loadGlobals(g.lib):
		return exception
	}
	return vm.own(globals, g.name)
}

// loadGlobals runs a library and defines those of its globals that the
// program has not replaced.
func (in *instance) loadGlobals(name string) bool {
	vm := in.vm
	exports := in.load(name)
	if isException(exports) {
		return false
	}
	defer vm.free(exports)
	g := lib.XJS_GetGlobalObject(vm.tls, vm.ctx)
	defer vm.free(g)
	for _, l := range in.table.lazy {
		if l.lib == name && vm.isAccessor(g, l.name) {
			vm.set(g, l.name, vm.own(exports, l.name), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
		}
	}
	return true
}

// isAccessor reports whether an own property is a getter and setter.
func (vm *vm) isAccessor(obj value, name string) bool {
	v, flags, _ := vm.property(obj, name)
	vm.free(v)
	return flags&lib.MJS_PROP_GETSET != 0
}
