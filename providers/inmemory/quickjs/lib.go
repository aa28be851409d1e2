//go:build !(386 || arm || s390x)

package quickjs

import (
	"embed"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

//go:embed lib/*.js
var sources embed.FS

// libraries are what all instances of an engine share: the JavaScript part of
// the runtime in compiled form, and what closed instances left behind.
type libraries struct {
	pool pool

	mu   sync.Mutex
	code map[string][]byte
}

// bytecode returns a library as the engine's bytecode. The first use compiles
// it, on a VM of its own, so that no program's limits apply.
func (l *libraries) bytecode(name string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.code[name]; ok {
		return b, nil
	}
	src, err := sources.ReadFile("lib/" + name + ".js")
	if err != nil {
		return nil, err
	}
	vm, err := newVM(engine.Config{Limits: engine.Limits{Memory: defaultMemory, Stack: defaultStack}, Budget: noBudget{}}, &l.pool)
	if err != nil {
		return nil, err
	}
	defer vm.close()
	b, err := vm.compileBytecode(string(src), "node:internal/"+name)
	if err != nil {
		return nil, fmt.Errorf("library %s: %w", name, err)
	}
	if l.code == nil {
		l.code = map[string][]byte{}
	}
	l.code[name] = b
	return b, nil
}

// noBudget is the budget of a VM that no program runs in.
type noBudget struct{}

func (noBudget) Take(int64) bool { return true }
func (noBudget) Give(int64)      {}

func (vm *vm) compileBytecode(src, name string) ([]byte, error) {
	fn := vm.eval(src, name, lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY|lib.MJS_EVAL_FLAG_STRICT)
	if isException(fn) {
		e := lib.XJS_GetException(vm.tls, vm.ctx)
		defer vm.free(e)
		return nil, errors.New(vm.ownString(e, "message") + " " + vm.ownString(e, "stack"))
	}
	defer vm.free(fn)
	p := lib.XJS_WriteObject(vm.tls, vm.ctx, vm.scratch, fn, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		vm.dropException()
		return nil, errors.New("out of memory")
	}
	defer lib.Xjs_free(vm.tls, vm.ctx, p)
	return append([]byte(nil), unsafe.Slice(at[byte](p), *at[lib.Tsize_t](vm.scratch))...), nil
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
	in.outside.Store(true)
	code, err := in.libs.bytecode(name)
	in.outside.Store(false)
	if err != nil {
		return vm.throw("InternalError", err.Error())
	}
	p := vm.heap.alloc(uintptr(len(code)))
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	copy(unsafe.Slice(at[byte](p), len(code)), code)
	obj := lib.XJS_ReadObject(vm.tls, vm.ctx, p, lib.Tsize_t(len(code)), lib.MJS_READ_OBJ_BYTECODE)
	vm.heap.release(p)
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
	for i, f := range in.table.functions {
		vm.set(obj, f.name, lib.XJS_NewCFunction2(vm.tls, vm.ctx, funcPtr(cFunction), vm.cName(f.name),
			int32(f.arity), lib.EJS_CFUNC_generic_magic, int32(i)), lib.MJS_PROP_C_W_E)
	}
	return obj
}
