package machine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

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
	// Yield is the import that Instance.Watch is behind, as "module.name".
	Yield string
	// Cache is a directory for native code, made where it is not there. Empty means that
	// the module is compiled anew in every process.
	Cache string
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
}

type instanceKey struct{}

// Compile makes a module of its source. Errors wrap rewrite.ErrModule where that is at
// fault, and codeinterp.ErrUnavailable where this machine is.
func Compile(ctx context.Context, source []byte, o *Options) (_ *Module, err error) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("%w: no compiler for %s", codeinterp.ErrUnavailable, runtime.GOARCH)
	}
	changed, err := rewrite.Module(source, &rewrite.Options{Yield: o.Yield})
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfigCompiler().WithDebugInfoEnabled(false)
	if o.Cache != "" {
		cache, err := openCache(o.Cache)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	m := &Module{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if err := m.register(ctx, o); err != nil {
		return nil, err
	}
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	if m.compiled, err = m.runtime.CompileModule(ctx, changed.Code); err != nil {
		return nil, fmt.Errorf("%w: %v", rewrite.ErrModule, err)
	}
	memory := make([]byte, changed.Memory)
	for _, s := range changed.Data {
		copy(memory[s.Offset:], s.Data)
	}
	m.image, err = NewImage(memory)
	return m, err
}

// register makes the host's functions known.
func (m *Module) register(ctx context.Context, o *Options) error {
	builders := map[string]wazero.HostModuleBuilder{}
	add := func(module, name string, params, results []api.ValueType, f api.GoModuleFunc) {
		if builders[module] == nil {
			builders[module] = m.runtime.NewHostModuleBuilder(module)
		}
		builders[module].NewFunctionBuilder().WithGoModuleFunction(f, params, results).Export(name)
	}
	module, name, _ := strings.Cut(o.Yield, ".")
	add(module, name, nil, nil, func(ctx context.Context, _ api.Module, _ []uint64) { instanceOf(ctx).look() })
	for _, i := range o.Imports {
		var params, results []api.ValueType
		for _, p := range i.Params {
			params = append(params, map[rune]api.ValueType{'i': api.ValueTypeI32, 'I': api.ValueTypeI64}[p])
		}
		if i.Result {
			results = []api.ValueType{api.ValueTypeI32}
		}
		add(i.Module, i.Name, params, results, func(ctx context.Context, _ api.Module, stack []uint64) {
			r := i.Call(instanceOf(ctx), stack)
			if i.Result {
				stack[0] = uint64(r)
			}
		})
	}
	for _, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("%w: %v", codeinterp.ErrInvalid, err)
		}
	}
	return nil
}

func instanceOf(ctx context.Context) *Instance { return ctx.Value(instanceKey{}).(*Instance) }

// Image returns what the memory of a module begins as.
func (m *Module) Image() *Image { return m.image }

// Close gives the module back. No instance of it may be left.
func (m *Module) Close() error {
	err := m.runtime.Close(context.Background())
	if m.image != nil {
		err = errors.Join(err, m.image.Close())
	}
	return err
}
