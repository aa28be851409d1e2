package python

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/machine"
)

// A saved file holds the interpreter as it is after its start: a checksum, the addresses
// of the words, the length of the version, the version, and the memory.
const (
	maxVersion = 64
	headSize   = sha256.Size + 4*4
	pageSize   = 64 << 10
)

// savedName returns the file in the cache for an interpreter that starts from all this.
func savedName(dir string, pack fs.FS, source []byte) (string, error) {
	library, err := fs.ReadFile(pack, "stdlib.zip")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range [][]byte{source, library, bootSource()} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	return filepath.Join(dir, "python-"+hex.EncodeToString(h.Sum(nil)[:16])+".image"), nil
}

// load takes the interpreter from a file, if there is a whole one.
func (e *Engine) load(file string) bool {
	data, err := os.ReadFile(file)
	if err != nil || len(data) < headSize {
		return false
	}
	if sum := sha256.Sum256(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return false
	}
	for i := range e.words {
		e.words[i] = binary.LittleEndian.Uint32(data[sha256.Size+4*i:])
	}
	n := binary.LittleEndian.Uint32(data[sha256.Size+12:])
	memory := data[headSize:]
	if n > maxVersion || int(n) > len(memory) || (len(memory)-int(n))%pageSize != 0 {
		return false
	}
	e.version, memory = string(memory[:n]), memory[n:]
	for _, at := range e.words {
		if uint64(at)+4 > uint64(len(memory)) {
			return false
		}
	}
	e.image, err = machine.NewImage(memory)
	return err == nil
}

// save writes the interpreter to a file. That it cannot is no error: it is made again.
func (e *Engine) save(file string, memory []byte) {
	data := make([]byte, sha256.Size, headSize+len(e.version)+len(memory))
	for _, at := range e.words {
		data = binary.LittleEndian.AppendUint32(data, at)
	}
	data = append(binary.LittleEndian.AppendUint32(data, uint32(len(e.version))), e.version...)
	data = append(data, memory...)
	sum := sha256.Sum256(data[sha256.Size:])
	copy(data, sum[:])
	f, err := os.CreateTemp(filepath.Dir(file), ".image-*") // for this user only
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
}
