package python

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

const (
	defaultMemory = 256 << 20
	libraryDir    = "usr/lib/python"
)

// Options tunes an engine.
type Options struct {
	// Pack holds python.wasm, the interpreter, and stdlib.zip, its library. os.DirFS of
	// a directory is one.
	Pack fs.FS
	// Cache is a directory for native code, which a later process loads in a fraction of
	// a second. Empty means that New compiles, for some seconds of both time and processors.
	Cache string
	// OnCompile, if set, is called before New compiles.
	OnCompile func()
	// Ready is how many instances are kept ready, so that a context of Limits.Memory takes
	// no time to make. Each takes 0.2 MB.
	Ready int
	// Limits bound each instance. Memory is in bytes, 256 MiB where it is zero. Stack is
	// not used: Python has its own limit.
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
	words   [3]uint32 // addresses of what an interrupt sets
	version string
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine. Errors wrap codeinterp.ErrInvalid where the pack is at fault,
// and codeinterp.ErrUnavailable where this machine is.
func New(ctx context.Context, o *Options) (_ *Engine, err error) {
	if o == nil || o.Pack == nil {
		return nil, fmt.Errorf("%w: no pack", codeinterp.ErrInvalid)
	}
	d := DefaultLimits()
	e := &Engine{limits: engine.Limits{Memory: cmp.Or(o.Limits.Memory, d.Memory), Stack: cmp.Or(o.Limits.Stack, d.Stack)}}
	if e.library, err = openLibrary(o.Pack); err != nil {
		return nil, err
	}
	if err := e.open(ctx, o); err != nil {
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
func (e *Engine) Info() codeinterp.LanguageInfo { return Info(e.version) }

// Info returns what an engine with a version of Python says of itself.
func Info(version string) codeinterp.LanguageInfo {
	return codeinterp.LanguageInfo{
		Name: "python", Runtime: "CPython " + version + " (WebAssembly)", Functions: true, Completion: true, Forks: true,
		Notes: "The standard library only, with sqlite3, zlib, decimal and zoneinfo; no packages, network, threads, child processes, ssl or ctypes. " +
			"Top-level await works, and the last expression is the result; display(obj) shows rich objects. %magics work as in a notebook, !commands do not.",
	}
}

// DefaultLimits are those of an engine whose options set none.
func DefaultLimits() engine.Limits { return engine.Limits{Memory: defaultMemory, Stack: 1} }

// Limits implements engine.Engine.
func (e *Engine) Limits() engine.Limits { return e.limits }

// OwnMemory implements engine.MemoryOwner.
func (e *Engine) OwnMemory() bool { return true }

// New implements engine.Engine.
func (e *Engine) New(c engine.Config) (engine.Instance, error) {
	in := &instance{engine: e, config: c}
	in.guest = newGuest(e, c.Files)
	var err error
	start := e.module.Start
	if e.pool != nil {
		start = e.pool.Start
	}
	if in.guest.machine, err = start(&machine.Config{Image: e.image, Memory: c.Limits.Memory, Budget: c.Budget, Host: in.guest}); err != nil {
		return nil, err
	}
	in.guest.machine.Interrupt = in.guest.interrupt
	return in, nil
}
