package python

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

const (
	wasmName    = "python.wasm"
	libraryName = "stdlib.zip"
)

// An identity is the checksums of a pack's files.
type identity struct {
	name          string // of the pack
	wasm, library string
	listed        bool // in its manifest, so that they were not compared with the files yet
}

// identify takes the checksums from the pack's manifest, or of the files if there is none.
func identify(pack fs.FS) (*identity, error) {
	if data, err := fs.ReadFile(pack, "manifest.json"); err == nil {
		var m struct {
			Name  string
			Files []struct{ Name, SHA256 string }
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, fmt.Errorf("%w: the pack: its manifest: %v", codeinterp.ErrInvalid, err)
		}
		sums := map[string]string{}
		for _, f := range m.Files {
			sums[f.Name] = f.SHA256
		}
		if id := (&identity{m.Name, sums[wasmName], sums[libraryName], true}); id.wasm != "" && id.library != "" {
			return id, nil
		}
	}
	return sumsOf(pack)
}

func sumsOf(pack fs.FS) (*identity, error) {
	id := &identity{}
	for name, to := range map[string]*string{wasmName: &id.wasm, libraryName: &id.library} {
		data, err := fs.ReadFile(pack, name)
		if err != nil {
			return nil, fmt.Errorf("%w: the pack: %v", codeinterp.ErrInvalid, err)
		}
		sum := sha256.Sum256(data)
		*to = hex.EncodeToString(sum[:])
	}
	return id, nil
}

// source returns the interpreter of the pack, whose files must be what its manifest says.
func (id *identity) source(pack fs.FS) ([]byte, error) {
	if id.listed {
		if is, err := sumsOf(pack); err != nil || is.wasm != id.wasm || is.library != id.library {
			return nil, fmt.Errorf("%w: the pack: its files differ from its manifest (%v)", codeinterp.ErrInvalid, err)
		}
	}
	data, err := fs.ReadFile(pack, wasmName)
	if err != nil {
		return nil, fmt.Errorf("%w: the pack: %v", codeinterp.ErrInvalid, err)
	}
	return data, nil
}

// sum stands for the interpreter that starts from the pack with the driver and the rewriter
// of this program.
func (id *identity) sum(boot []byte) string {
	rewriter := rewrite.Version()
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %x %s", id.wasm, id.library, rewriter, boot)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
