package python

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// A savedHead begins a file with the interpreter as it is after its start, behind the
// checksum of all that follows. Its memory comes after it.
type savedHead struct {
	Words   [3]uint32
	Server  uint32
	Version string
	Stub    []byte // of its module
	Size    int64  // of the memory
}

const (
	maxSaved = 512 << 20
	pageSize = 64 << 10
)

// load takes the interpreter from a file, if there is a whole one. Its memory and its
// native code are read at the same time.
func (e *Engine) load(ctx context.Context, file string, o *machine.Options) (ok bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	var want [sha256.Size]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return false, nil
	}
	sum := sha256.New()
	from := gob.NewDecoder(io.TeeReader(f, sum))
	var head savedHead
	if err := from.Decode(&head); err != nil || head.Size < 0 || head.Size > maxSaved || head.Size%pageSize != 0 {
		return false, nil
	}
	done := make(chan error, 1)
	go func() {
		var err error
		e.image, err = machine.FillImage(head.Size, func(memory []byte) error { return readMemory(from, memory) })
		if err == nil && !bytes.Equal(sum.Sum(nil), want[:]) {
			err = errSaved
		}
		done <- err
	}()
	e.words, e.server, e.version = head.Words, head.Server, head.Version
	e.module, err = machine.Load(ctx, head.Stub, o)
	if damaged := <-done; err == nil && damaged == nil && e.module != nil && e.check() == nil {
		return true, nil
	}
	return false, errors.Join(err, e.unload())
}

// save writes the interpreter to a file, as far as it can.
func (e *Engine) save(file string, memory []byte) {
	b := bytes.NewBuffer(make([]byte, sha256.Size))
	if writeState(b, savedHead{e.words, e.server, e.version, e.module.Stub(), int64(len(memory))}, memory) != nil {
		return
	}
	sum := sha256.Sum256(b.Bytes()[sha256.Size:])
	copy(b.Bytes(), sum[:])
	f, err := os.CreateTemp(filepath.Dir(file), ".image-*") // for this user only
	if err != nil {
		return
	}
	_, err = f.Write(b.Bytes())
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
}
