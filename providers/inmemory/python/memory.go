package python

import (
	"encoding/gob"
	"errors"
	"io"
	"slices"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

var errSaved = errors.New("no memory is saved there")

// A part of a memory, which is not zero.
type part struct {
	Offset int64
	Data   []byte
}

const maxPart = 1 << 20

// writeState writes a head, and the parts of a memory that are not zero.
func writeState(w io.Writer, head any, memory []byte) error {
	to := gob.NewEncoder(w)
	if err := to.Encode(head); err != nil {
		return err
	}
	return machine.Runs(memory, func(offset int64, data []byte) error {
		for piece := range slices.Chunk(data, maxPart) {
			if err := to.Encode(part{offset, piece}); err != nil {
				return err
			}
			offset += int64(len(piece))
		}
		return nil
	})
}

// readMemory reads what writeState wrote behind the head, to a memory of zeros.
func readMemory(from *gob.Decoder, memory []byte) error {
	var p part
	for {
		p.Offset, p.Data = 0, p.Data[:0]
		err := from.Decode(&p)
		if err == io.EOF {
			return nil
		}
		if size := int64(len(memory)); err == nil && (p.Offset < 0 || p.Offset > size || int64(len(p.Data)) > size-p.Offset) {
			err = errSaved
		}
		if err != nil {
			return err
		}
		copy(memory[p.Offset:], p.Data)
	}
}
