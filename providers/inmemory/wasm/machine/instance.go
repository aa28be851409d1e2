package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// Errors of Call.
var (
	// ErrKilled: the program did not end by itself when it had to.
	ErrKilled = errors.New("the program was killed")

	// ErrException: an exception of the program has left it.
	ErrException = errors.New("an exception that the program does not catch")
)

const pageSize = 64 << 10

// Config is what an instance gets.
type Config struct {
	// Image is what its memory begins as.
	Image *Image
	// Memory bounds its memory, in bytes.
	Memory int64
	// Budget is asked before the memory grows.
	Budget *engine.Budget
	// Host is for the imports.
	Host any
}

// An Instance is a module that runs, with a memory of its own. Its methods, except those
// of Watch, are for one goroutine at a time.
type Instance struct {
	Watch
	Host   any
	module api.Module
	thrown api.Global // what rewrite.Pending says; nil where no exceptions are
	memory *memory
	image  *Image
	ctx    context.Context
	known  int // of memory.refused
	begun  time.Time
}

// Start returns an instance. No code of it runs before Call.
func (m *Module) Start(c *Config) (*Instance, error) { return m.start(c, c.Image.Size()) }

// start returns an instance with a memory of so many bytes, as many as the image has at least.
func (m *Module) start(c *Config, size int64) (*Instance, error) {
	if c.Memory < size {
		return nil, fmt.Errorf("%w: a memory limit of %d bytes; the program has %d", codeinterp.ErrInvalid, c.Memory, size)
	}
	in := &Instance{Host: c.Host, image: c.Image}
	var err error
	if in.memory, err = c.Image.open(c.Memory, c.Budget); err != nil {
		return nil, err
	}
	in.ctx = context.WithValue(context.Background(), instanceKey{}, in)
	ctx := experimental.WithMemoryAllocator(in.ctx, experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return in.memory }))
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	if in.module, err = m.runtime.InstantiateModule(ctx, m.compiled, config); err != nil {
		in.memory.Free()
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	in.thrown = in.module.ExportedGlobal(rewrite.Pending)
	mem := in.module.Memory()
	if lacks := size - int64(mem.Size()); lacks > 0 {
		if _, ok := mem.Grow(uint32(lacks / pageSize)); !ok {
			in.Close()
			return nil, fmt.Errorf("%w: no memory is left for the program", codeinterp.ErrCapacity)
		}
	}
	return in, nil
}

// Call calls a function that the module exports and returns its result, 0 if it has none.
// After an error the instance is only good for Close.
func (in *Instance) Call(name string, args ...uint64) (uint64, error) {
	// A function keeps the stack that it needed, so none is kept.
	f := in.module.ExportedFunction(name)
	if f == nil {
		return 0, fmt.Errorf("%w: no function %s", codeinterp.ErrInvalid, name)
	}
	results, err := f.Call(in.ctx, args...)
	if err == nil && in.thrown != nil && in.thrown.Get() != 0 {
		err = ErrException
	}
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return results[0], nil
}

// Memory returns the memory, until it grows.
func (in *Instance) Memory() []byte {
	mem := in.module.Memory()
	b, _ := mem.Read(0, mem.Size())
	return b
}

// Restore returns an instance with a memory of so many bytes, whose parts that are not zero
// fill writes to a memory of zeros.
func (m *Module) Restore(c Config, size int64, fill func(memory []byte) error) (*Instance, error) {
	if size < c.Image.Size() || size%pageSize != 0 || c.Memory < size {
		return nil, fmt.Errorf("%w: a memory of %d bytes; the limit is %d", codeinterp.ErrInvalid, size, c.Memory)
	}
	memory := make([]byte, size)
	if err := fill(memory); err != nil {
		return nil, err
	}
	n, err := m.start(&c, size)
	if err != nil {
		return nil, err
	}
	to := n.Memory()
	copyChanged(to, memory, to)
	return n, nil
}

// Fork returns an instance whose memory begins as that of in, which is between two calls.
// Only what in has written is copied. c.Image is not used.
func (m *Module) Fork(in *Instance, c Config) (*Instance, error) {
	c.Image = in.image
	from := in.Memory()
	n, err := m.start(&c, int64(len(from)))
	if err != nil {
		return nil, err
	}
	begins, err := in.image.content()
	if err != nil {
		n.Close()
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrCapacity, err)
	}
	to := n.Memory()
	expectWrites(to[len(begins)+pageSize-1-(len(begins)+pageSize-1)%pageSize:])
	copyChanged(to, from, begins)
	return n, nil
}

// copyChanged copies the pages of a memory that are not as it began.
func copyChanged(to, from, begins []byte) {
	for at := 0; at < len(from); at += hostPage {
		page := from[at : at+hostPage]
		if at < len(begins) && bytes.Equal(page, begins[at:at+hostPage]) || at >= len(begins) && isZero(page) {
			continue
		}
		copy(to[at:], page)
	}
}

// Snapshot returns an image of the memory. The instance is between two calls.
func (in *Instance) Snapshot() (*Image, error) { return NewImage(in.Memory()) }

// Close gives the instance's memory back.
func (in *Instance) Close() {
	_ = in.module.Close(in.ctx) // it runs no code
	in.memory.Free()
}

// Refused reports whether the memory could not grow since Watch.Begin.
func (in *Instance) Refused() bool { return in.memory.refused > in.known }

// unsettled is how long a run may take whose writes to the image are not counted at once.
const unsettled = time.Millisecond

// Begin prepares for a run of the program.
func (in *Instance) Begin() {
	in.known, in.begun = in.memory.refused, time.Now()
	in.Watch.Begin()
}

// End counts what the run has written. Between Begin and End the budget may be exceeded
// by the size of the image.
func (in *Instance) End() {
	if time.Since(in.begun) > unsettled {
		in.memory.settle()
	}
}
