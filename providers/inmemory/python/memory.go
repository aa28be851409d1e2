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

// writeMemory writes the parts of a memory that are not zero.
func writeMemory(to *gob.Encoder, memory []byte) error {
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

// readMemory reads what writeMemory wrote last, to a memory of zeros.
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
