package python

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// A state is an instance between runs.
type state struct {
	Runs    int
	Offered []string
	Size    int64
	Parts   []part // of the memory that are not zero
}

type part struct {
	Offset int64
	Data   []byte
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
	s := state{Runs: in.runs, Offered: in.offered, Size: int64(len(memory))}
	_ = machine.Runs(memory, func(offset int64, data []byte) error {
		s.Parts = append(s.Parts, part{offset, data})
		return nil
	})
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

// Load implements engine.Loader.
func (e *Engine) Load(c engine.Config, data []byte) (engine.Instance, error) {
	var s state
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, fmt.Errorf("%w: the image: %v", codeinterp.ErrInvalid, err)
	}
	in := &instance{engine: e, config: c, runs: s.Runs, offered: s.Offered, forked: true}
	in.guest = newGuest(e, c.Files)
	var err error
	in.guest.machine, err = e.module.Restore(machine.Config{Image: e.image, Memory: c.Limits.Memory, Budget: c.Budget, Host: in.guest}, s.Size, func(memory []byte) error {
		for _, p := range s.Parts {
			if p.Offset < 0 || p.Offset > s.Size || int64(len(p.Data)) > s.Size-p.Offset {
				return fmt.Errorf("%w: the image is damaged", codeinterp.ErrInvalid)
			}
			copy(memory[p.Offset:], p.Data)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	in.guest.machine.Interrupt = in.guest.interrupt
	return in, nil
}
