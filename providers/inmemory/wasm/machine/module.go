package machine

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// Options tunes a module.
type Options struct {
	// Imports are the host's functions that the module may import.
	Imports []Import
	// Yield is the one of Imports that is called again and again, as "module.name". It calls
	// Instance.Look.
	Yield string
	// Cache is a directory for native code, made where it is not there. Empty means that
	// the module is compiled anew in every process.
	Cache string
	// OnCompile, if set, is called before the module is compiled, which takes seconds.
	OnCompile func()
}

// An Import is a function of the host.
type Import struct {
	Module, Name string
	// Params are its parameters: i for 32 bits, I for 64.
	Params string
	// Result tells that it returns 32 bits.
	Result bool
	// Call is called on the goroutine that called the instance. A panic ends the module:
	// Instance.Call returns it, if it is an error.
	Call func(in *Instance, args []uint64) uint32
}

// A Module is compiled. Its methods may be called from any goroutine.
type Module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	image    *Image
	cache    wazero.CompilationCache // nil where there is none
	stub     stub
}

type instanceKey struct{}

// Compile makes a module of its source. Errors wrap rewrite.ErrModule where that is at
// fault, and codeinterp.ErrUnavailable where this machine is.
func Compile(ctx context.Context, source []byte, o *Options) (*Module, error) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("%w: no compiler for %s", codeinterp.ErrUnavailable, runtime.GOARCH)
	}
	changed, err := rewrite.Module(source, o.Yield)
	if err != nil {
		return nil, err
	}
	s := stubOf(changed.Code)
	m, err := cached(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if m == nil {
		if o.OnCompile != nil {
			o.OnCompile()
		}
		code := changed.Code
		changed.Code = nil // wazero has its own copy while it compiles
		if m, err = compile(ctx, code, s, o); err != nil {
			return nil, err
		}
	}
	m.stub = s
	memory := make([]byte, changed.Memory)
	for _, s := range changed.Data {
		copy(memory[s.Offset:], s.Data)
	}
	if m.image, err = NewImage(memory); err != nil {
		_ = m.Close() // the first error says more
		return nil, err
	}
	return m, nil
}

// Load makes a module of what Stub returned for one, with native code in the cache. The
// module is nil where the cache has none for this processor, and has no Image.
func Load(ctx context.Context, s []byte, o *Options) (*Module, error) {
	if stub(s).module() == "" {
		return nil, nil
	}
	return cached(ctx, s, o)
}

// newModule compiles code, or takes native code from wazero's cache in a directory.
func newModule(ctx context.Context, code []byte, dir string, o *Options) (_ *Module, err error) {
	config := wazero.NewRuntimeConfigCompiler().WithDebugInfoEnabled(false)
	m := &Module{}
	if dir != "" {
		if m.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
		}
		config = config.WithCompilationCache(m.cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err = m.register(ctx, o); err == nil {
		ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
		if m.compiled, err = m.runtime.CompileModule(ctx, code); err != nil {
			err = fmt.Errorf("%w: %v", rewrite.ErrModule, err)
		}
	}
	if err != nil {
		_ = m.Close() // the first error says more
		return nil, err
	}
	return m, nil
}

// register makes the host's functions known.
func (m *Module) register(ctx context.Context, o *Options) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for _, i := range o.Imports {
		var params, results []api.ValueType
		for _, p := range i.Params {
			params = append(params, map[rune]api.ValueType{'i': api.ValueTypeI32, 'I': api.ValueTypeI64}[p])
		}
		if i.Result {
			results = []api.ValueType{api.ValueTypeI32}
		}
		if builders[i.Module] == nil {
			builders[i.Module] = m.runtime.NewHostModuleBuilder(i.Module)
		}
		call := func(ctx context.Context, _ api.Module, stack []uint64) {
			r := i.Call(ctx.Value(instanceKey{}).(*Instance), stack)
			if i.Result {
				stack[0] = uint64(r)
			}
		}
		builders[i.Module].NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(call), params, results).Export(i.Name)
	}
	for _, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("%w: %v", codeinterp.ErrInvalid, err)
		}
	}
	return nil
}

// Image returns what the memory of a module begins as.
func (m *Module) Image() *Image { return m.image }

// Stub returns what Load needs. It is not to be changed.
func (m *Module) Stub() []byte { return m.stub }

// Close gives the module back. No instance of it may be left.
func (m *Module) Close() error {
	err := m.runtime.Close(context.Background())
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(context.Background()))
	}
	if m.image != nil {
		err = errors.Join(err, m.image.Close())
	}
	return err
}
