package python

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

var errSaved = errors.New("no interpreter is saved there")

// A savedHead begins a file with the interpreter as it is after its start. The version,
// the stub of its module and the parts of its memory that are not zero follow.
type savedHead struct {
	Sum                   [sha256.Size]byte // of what follows it
	Words                 [3]uint32
	Server                uint32
	Version, Stub, Memory uint32 // sizes
}

const (
	maxVersion = 64
	maxStub    = 16 << 20
	maxSaved   = 512 << 20
	pageSize   = 64 << 10
)

func (h *savedHead) valid() bool {
	return h.Version <= maxVersion && h.Stub <= maxStub && h.Memory <= maxSaved && h.Memory%pageSize == 0
}

// load takes the interpreter from a file, if there is a whole one. Its memory and its
// native code are read at the same time.
func (e *Engine) load(ctx context.Context, file string, o *machine.Options) (ok bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	var head savedHead
	if err := binary.Read(f, binary.LittleEndian, &head); err != nil || !head.valid() {
		return false, nil
	}
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, append(head.Words[:], head.Server, head.Version, head.Stub, head.Memory)) // which does not fail
	r := io.TeeReader(f, sum)
	texts := make([]byte, head.Version+head.Stub)
	if _, err := io.ReadFull(r, texts); err != nil {
		return false, nil
	}
	done := make(chan error, 1)
	go func() {
		var err error
		e.image, err = machine.FillImage(int64(head.Memory), func(memory []byte) error { return readParts(r, memory) })
		if err == nil && !bytes.Equal(sum.Sum(nil), head.Sum[:]) {
			err = errSaved
		}
		done <- err
	}()
	e.words, e.server, e.version = head.Words, head.Server, string(texts[:head.Version])
	e.module, err = machine.Load(ctx, texts[head.Version:], o)
	if damaged := <-done; err == nil && damaged == nil && e.module != nil && e.check() == nil {
		return true, nil
	}
	return false, errors.Join(err, e.unload())
}

// readParts reads the parts of a memory: an offset, a size, the content.
func readParts(r io.Reader, memory []byte) error {
	for {
		var part struct{ Offset, Size uint32 }
		if err := binary.Read(r, binary.LittleEndian, &part); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if uint64(part.Offset)+uint64(part.Size) > uint64(len(memory)) {
			return errSaved
		}
		if _, err := io.ReadFull(r, memory[part.Offset:part.Offset+part.Size]); err != nil {
			return err
		}
	}
}

// save writes the interpreter to a file.
func (e *Engine) save(file string, memory []byte) {
	f, err := os.CreateTemp(filepath.Dir(file), ".image-*") // for this user only
	if err != nil {
		return
	}
	err = e.write(f, memory)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
}

func (e *Engine) write(f *os.File, memory []byte) error {
	s := e.module.Stub()
	head := savedHead{Words: e.words, Server: e.server, Version: uint32(len(e.version)), Stub: uint32(len(s)), Memory: uint32(len(memory))}
	if _, err := f.Seek(sha256.Size, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	w := bufio.NewWriter(io.MultiWriter(f, sum))
	_ = binary.Write(w, binary.LittleEndian, append(head.Words[:], head.Server, head.Version, head.Stub, head.Memory)) // Flush returns it
	_, _ = w.WriteString(e.version)
	_, _ = w.Write(s)
	_ = machine.Runs(memory, func(offset int64, part []byte) error {
		_ = binary.Write(w, binary.LittleEndian, []uint32{uint32(offset), uint32(len(part))})
		_, err := w.Write(part)
		return err
	})
	err := w.Flush()
	if err == nil {
		_, err = f.WriteAt(sum.Sum(nil), 0)
	}
	return err
}
