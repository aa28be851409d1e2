package python

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// A state begins an instance that is saved between runs. Its memory follows.
type state struct {
	Runs    int
	Offered []string
	Size    int64
}

var (
	_ engine.Loader = (*Engine)(nil)
	_ engine.Saver  = (*instance)(nil)
)

// Identity implements engine.Loader: the pack, the driver and what changes the module.
func (e *Engine) Identity() (string, error) { return e.identity, nil }

// Save implements engine.Saver.
func (in *instance) Save() ([]byte, error) {
	if n := in.guest.system.OpenFiles(); n > 0 {
		return nil, fmt.Errorf("%w: the program has %d files open: it has to close them first", codeinterp.ErrInvalid, n)
	}
	memory := in.guest.machine.Memory()
	var b bytes.Buffer
	err := writeState(&b, state{in.runs, in.offered, int64(len(memory))}, memory)
	return b.Bytes(), err
}

// Load implements engine.Loader.
func (e *Engine) Load(c engine.Config, data []byte) (engine.Instance, error) {
	from := gob.NewDecoder(bytes.NewReader(data))
	var s state
	if err := from.Decode(&s); err != nil {
		return nil, fmt.Errorf("%w: the image: %v", codeinterp.ErrInvalid, err)
	}
	in := &instance{engine: e, config: c, runs: s.Runs, offered: s.Offered, forked: true}
	in.guest = newGuest(e, c.Files)
	mc := machine.Config{Image: e.image, Memory: c.Limits.Memory, Budget: c.Budget, Host: in.guest}
	m, err := e.module.Restore(mc, s.Size, func(memory []byte) error {
		if err := readMemory(from, memory); err != nil {
			return fmt.Errorf("%w: the image: %v", codeinterp.ErrInvalid, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.with(m), nil
}
