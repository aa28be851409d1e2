package python

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// Options tunes an engine.
type Options struct {
	// Pack holds python.wasm, the interpreter, stdlib.zip, its library, and manifest.json
	// with the checksums of both, as package pack makes it. os.DirFS of a directory is one.
	// The name ScienceName makes it the science pack.
	Pack fs.FS
	// Packages are packages in pure Python, which programs can import and not change: its
	// root is a directory of sys.path. os.DirFS of a site-packages is one. Nil means none.
	Packages fs.FS
	// Cache is a directory for native code, which a later process loads in a fraction of
	// a second. Empty means that New compiles, for some seconds of both time and processors.
	Cache string
	// OnCompile, if set, is called before New compiles.
	OnCompile func()
	// Ready is how many instances are kept ready, so that a context of Limits.Memory takes
	// no time to make. Each takes 0.2 MB.
	Ready int
	// Limits bound each instance. Memory is in bytes; where it is zero, 256 MiB, and 1 GiB
	// with the science pack. Stack is not used: Python has its own limit.
	Limits engine.Limits
}

// An Engine makes Python instances. Each begins as a copy of one interpreter, in which
// the usual modules are loaded.
type Engine struct {
	limits  engine.Limits
	module  *machine.Module
	image   *machine.Image
	pool    *machine.Pool // nil where none are kept ready
	library *library
	variant *variant
	server  uint32    // the address of the driver's function, in the science pack
	words   [3]uint32 // addresses of what an interrupt sets
	version string

	identity string // of the pack, the driver and the rewriter
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine. Errors wrap codeinterp.ErrInvalid where the pack is at fault,
// and codeinterp.ErrUnavailable where this machine is.
func New(ctx context.Context, o *Options) (_ *Engine, err error) {
	if o == nil || o.Pack == nil {
		return nil, fmt.Errorf("%w: no pack", codeinterp.ErrInvalid)
	}
	m, err := readManifest(o.Pack)
	if err != nil {
		return nil, err
	}
	d := DefaultLimits(m.Name)
	e := &Engine{variant: variantOf(m.Name), limits: engine.Limits{Memory: cmp.Or(o.Limits.Memory, d.Memory), Stack: cmp.Or(o.Limits.Stack, d.Stack)}}
	if e.library, err = openLibrary(o.Pack, path.Base(e.variant.libraryDir), o.Packages); err != nil {
		return nil, err
	}
	if err := e.open(ctx, o, m); err != nil {
		_ = e.Close() // the first error says more
		return nil, err
	}
	if o.Ready > 0 {
		e.pool = e.module.NewPool(o.Ready, e.image, e.limits.Memory)
	}
	return e, nil
}

// Close gives the memory of the engine back. No instance of it may be left.
func (e *Engine) Close() error {
	if e.pool != nil {
		e.pool.Close()
	}
	return errors.Join(e.unload(), e.library.close())
}

// unload closes the module and the image.
func (e *Engine) unload() (err error) {
	if e.image != nil {
		err = e.image.Close()
	}
	if e.module != nil {
		err = errors.Join(err, e.module.Close())
	}
	e.image, e.module = nil, nil
	return err
}

// Info implements engine.Engine.
func (e *Engine) Info() codeinterp.LanguageInfo { return e.variant.info(e.version) }

// Info returns what an engine with a pack and a version of Python says of itself.
func Info(pack, version string) codeinterp.LanguageInfo { return variantOf(pack).info(version) }

func (v *variant) info(version string) codeinterp.LanguageInfo {
	return codeinterp.LanguageInfo{
		Name: "python", Runtime: "CPython " + version + " (WebAssembly)", Functions: true, Completion: true, Forks: true,
		Notes: v.notes + "Top-level await works, and the last expression is the result; display(obj) shows rich objects. %magics work as in a notebook, !commands do not.",
	}
}

// DefaultLimits are those of an engine with a pack whose options set none.
func DefaultLimits(pack string) engine.Limits {
	return engine.Limits{Memory: variantOf(pack).memory, Stack: 1}
}

func variantOf(pack string) *variant {
	if pack == ScienceName {
		return science
	}
	return small
}

// Limits implements engine.Engine.
func (e *Engine) Limits() engine.Limits { return e.limits }

// OwnMemory implements engine.MemoryOwner.
func (e *Engine) OwnMemory() bool { return true }

// New implements engine.Engine.
func (e *Engine) New(c engine.Config) (engine.Instance, error) {
	in := &instance{engine: e, config: c, guest: newGuest(e, c.Files)}
	start := e.module.Start
	if e.pool != nil {
		start = e.pool.Start
	}
	m, err := start(&machine.Config{Image: e.image, Memory: c.Limits.Memory, Budget: c.Budget, Host: in.guest})
	if err != nil {
		return nil, err
	}
	return in.with(m), nil
}
