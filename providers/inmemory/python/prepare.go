package python

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// firstMemory bounds the interpreter that others are copies of.
const firstMemory = 512 << 20

// open takes the interpreter from the cache, or starts one.
func (e *Engine) open(ctx context.Context, o *Options) error {
	id, err := identify(o.Pack)
	if err != nil {
		return err
	}
	mo := &machine.Options{Imports: imports(), Yield: "toolcell.yield", Cache: o.Cache, OnCompile: o.OnCompile}
	file := ""
	if o.Cache != "" {
		file = id.file(o.Cache)
		if ok, err := e.load(ctx, file, mo); ok || err != nil {
			return err
		}
	}
	source, err := id.source(o.Pack)
	if err != nil {
		return err
	}
	if e.module, err = machine.Compile(ctx, source, mo); err != nil {
		return fmt.Errorf("the pack: %w", err)
	}
	return e.prepare(file)
}

// check compares the addresses of the words with what the interpreter says. It also lets
// the machine prepare for its first trap, which takes a while and is not to be that of a
// program that has to end in time.
func (e *Engine) check() error {
	in, err := e.module.Start(&machine.Config{Image: e.image, Memory: firstMemory, Host: newGuest(e, memfs.New(nil))})
	if err != nil {
		return err
	}
	defer in.Close()
	for i, at := range e.words {
		if v, err := in.Call("word", uint64(i)); err != nil || v != uint64(at) || v+4 > uint64(len(in.Memory())) {
			return fmt.Errorf("%w: the pack has no words of interrupts: %v", codeinterp.ErrInvalid, err)
		}
	}
	if _, err := in.Call("word", 1<<20); err == nil {
		return fmt.Errorf("%w: the pack has words without end", codeinterp.ErrInvalid)
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
	for i := range e.words {
		v, _ := g.machine.Call("word", uint64(i)) // which check tries
		e.words[i] = uint32(v)
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
	result, err := g.machine.Call("start")
	if err == nil && (result != 0 || g.version == "") {
		err = fmt.Errorf("result %d", int32(result))
	}
	if err != nil && g.log != "" {
		err = errors.New(g.log)
	}
	return err
}
