package python

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// firstMemory bounds the interpreter that others are copies of.
const firstMemory = 512 << 20

// open takes the interpreter from the cache, or starts one.
func (e *Engine) open(ctx context.Context, o *Options, m *manifest) error {
	e.identity = m.identity(e.variant.boot())
	mo := &machine.Options{Imports: imports(), Yield: e.variant.yield, Cache: o.Cache, OnCompile: o.OnCompile}
	file := ""
	if o.Cache != "" {
		file = filepath.Join(o.Cache, "python-"+e.identity+".image")
		if ok, err := e.load(ctx, file, mo); ok || err != nil {
			return err
		}
	}
	source, err := m.source(o.Pack)
	if err != nil {
		return err
	}
	if e.module, err = machine.Compile(ctx, source, mo); err != nil {
		return fmt.Errorf("the pack: %w", err)
	}
	return e.prepare(file)
}

// check tries an instance. It also lets the machine prepare for its first trap, which takes a
// while and is not to be that of a program that has to end in time.
func (e *Engine) check() error {
	in, err := e.module.Start(&machine.Config{Image: e.image, Memory: firstMemory, Host: newGuest(e, memfs.New(nil))})
	if err != nil {
		return err
	}
	defer in.Close()
	for _, at := range e.words {
		if uint64(at)+4 > uint64(len(in.Memory())) {
			return fmt.Errorf("%w: the pack has a word of interrupts at %d", codeinterp.ErrInvalid, at)
		}
	}
	if _, err := in.Call(e.variant.trap, 1<<32-1<<16); err == nil {
		return fmt.Errorf("%w: the pack does not trap", codeinterp.ErrInvalid)
	}
	return nil
}

// prepare starts an interpreter, makes an image of it, and saves that in a file.
func (e *Engine) prepare(file string) error {
	g := newGuest(e, memfs.New(nil))
	var err error
	g.machine, err = e.module.Start(&machine.Config{Image: e.module.Image(), Memory: firstMemory, Host: g})
	if err != nil {
		return err
	}
	defer g.close()
	if err := g.start(); err != nil {
		return fmt.Errorf("%w: the interpreter of the pack does not start: %v", codeinterp.ErrInvalid, err)
	}
	if e.words, err = e.variant.words(g); err != nil {
		return fmt.Errorf("%w: the pack has no words of interrupts: %v", codeinterp.ErrInvalid, err)
	}
	if n := g.system.OpenFiles(); n > 0 {
		return fmt.Errorf("%w: the interpreter has %d files open", codeinterp.ErrInvalid, n)
	}
	e.version = g.version
	if e.image, err = g.machine.Snapshot(); err != nil {
		return err
	}
	if file != "" {
		e.save(file, g.machine.Memory()) // that it cannot is no error: it is made again
	}
	return e.check()
}

// start runs the interpreter until the driver waits for programs.
func (g *guest) start() error {
	if _, err := g.machine.Call("_initialize"); err != nil {
		return err
	}
	err := g.engine.variant.start(g)
	if err == nil && g.version == "" {
		err = errors.New("the driver does not answer")
	}
	if err != nil && g.log != "" {
		err = errors.New(g.log)
	}
	return err
}
