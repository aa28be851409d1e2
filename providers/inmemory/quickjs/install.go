package quickjs

import (
	"fmt"
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
}

var hostTable = sync.OnceValue(func() *table {
	all, globals, consoles, hosts := functions()
	t := &table{functions: all, hosts: hosts, lazy: lazyGlobals()}
	const size = entrySize
	mem := &permanent{}
	entry := func(list uintptr, i int) *lib.TJSCFunctionListEntry {
		return at[lib.TJSCFunctionListEntry](list + uintptr(i)*size)
	}
	fill := func(e *lib.TJSCFunctionListEntry, i int) {
		f := all[i]
		*e = lib.TJSCFunctionListEntry{Fname: mem.string(f.name), Fprop_flags: lib.MJS_PROP_WRITABLE | lib.MJS_PROP_CONFIGURABLE,
			Fdef_type: lib.MJS_DEF_CFUNC, Fmagic: int16(i)}
		e.Fu.Ffunc1.Flength = uint8(f.arity)
		e.Fu.Ffunc1.Fcproto = lib.EJS_CFUNC_generic_magic
		*(*uintptr)(unsafe.Pointer(&e.Fu.Ffunc1.Fcfunc)) = funcPtr(cFunction)
	}
	console := mem.alloc(uintptr(consoles-globals) * size)
	for i := globals; i < consoles; i++ {
		fill(entry(console, i-globals), i)
		entry(console, i-globals).Fprop_flags |= lib.MJS_PROP_ENUMERABLE // as in node, where programs wrap them
	}
	t.nglobals = globals + 1 + len(t.lazy)
	t.globals = mem.alloc(uintptr(t.nglobals) * size)
	for i := range globals {
		fill(entry(t.globals, i), i)
	}
	e := entry(t.globals, globals)
	*e = lib.TJSCFunctionListEntry{Fname: mem.string("console"), Fprop_flags: lib.MJS_PROP_WRITABLE | lib.MJS_PROP_CONFIGURABLE,
		Fdef_type: lib.MJS_DEF_OBJECT}
	list := (*[2]uintptr)(unsafe.Pointer(&e.Fu))
	list[0] = console
	*(*int32)(unsafe.Pointer(&list[1])) = int32(consoles - globals)
	for i, g := range t.lazy {
		e := entry(t.globals, globals+1+i)
		*e = lib.TJSCFunctionListEntry{Fname: mem.string(g.name), Fprop_flags: lib.MJS_PROP_CONFIGURABLE,
			Fdef_type: lib.MJS_DEF_CGETSET_MAGIC, Fmagic: int16(i)}
		access := (*[2]uintptr)(unsafe.Pointer(&e.Fu))
		access[0], access[1] = funcPtr(cLazyGet), funcPtr(cLazySet)
	}
	return t
})

const entrySize = unsafe.Sizeof(lib.TJSCFunctionListEntry{})

// permanent hands out memory outside of Go's heap that is never given back.
type permanent struct{ left []byte }

func (p *permanent) alloc(n uintptr) uintptr {
	n = (n + 7) &^ 7
	if uintptr(len(p.left)) < n {
		mem, err := system.MapMemory(int(max(n, pageSize)+pageSize-1) &^ (pageSize - 1))
		if err != nil {
			panic("quickjs: " + err.Error())
		}
		p.left = mem
	}
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(p.left)))
	p.left = p.left[n:]
	return addr
}

func (p *permanent) string(s string) uintptr {
	addr := p.alloc(uintptr(len(s)) + 1)
	span{addr, len(s) + 1}.writeString(s)
	return addr
}

// install gives a new realm its globals.
func (in *instance) install() error {
	vm, t := in.vm, in.table
	lib.XJS_SetHostPromiseRejectionTracker(vm.tls, vm.rt, funcPtr(cRejected), uintptr(unsafe.Pointer(vm)))
	lib.XJS_SetModuleLoaderFunc2(vm.tls, vm.rt, funcPtr(cNormalize), funcPtr(cLoad), 0, uintptr(unsafe.Pointer(vm)))
	g := lib.XJS_GetGlobalObject(vm.tls, vm.ctx)
	defer vm.free(g)
	if lib.XJS_SetPropertyFunctionList(vm.tls, vm.ctx, g, t.globals, int32(t.nglobals)) < 0 {
		vm.dropException()
		return fmt.Errorf("%w: the memory limit is too small for a context", codeinterp.ErrInvalid)
	}
	in.installBuiltins(g, t.hosts)
	in.installErrors(g)
	vm.set(g, "global", vm.dup(g), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	return nil
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

// cLazyGet loads the library that defines a global.
func cLazyGet(tls *libc.TLS, ctx uintptr, _ value, magic int32) value {
	vm := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	g := vm.in.table.lazy[magic]
	if g.lib == "tools" { // which differ from run to run
		return vm.in.tools(g.name)
	}
	if !vm.in.loadGlobals(g.lib) {
		return exception
	}
	obj := lib.XJS_GetGlobalObject(tls, ctx)
	defer vm.free(obj)
	return vm.own(obj, g.name)
}

// cLazySet puts a program's own value in the place of a global.
func cLazySet(tls *libc.TLS, ctx uintptr, _, v value, magic int32) value {
	vm := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	obj := lib.XJS_GetGlobalObject(tls, ctx)
	defer vm.free(obj)
	vm.set(obj, vm.in.table.lazy[magic].name, vm.dup(v),
		lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	return undefined
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
