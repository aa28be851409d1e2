package python

import (
	"crypto/sha256"
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

// A manifest is what an engine takes of a pack's.
type manifest struct {
	Name  string
	Files []struct{ Name, SHA256 string }
}

func readManifest(pack fs.FS) (*manifest, error) {
	m := &manifest{}
	data, err := fs.ReadFile(pack, "manifest.json")
	if err == nil {
		err = json.Unmarshal(data, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the pack: its manifest: %v", codeinterp.ErrInvalid, err)
	}
	return m, nil
}

// sum returns the checksum of a file, as the manifest says.
func (m *manifest) sum(name string) string {
	for _, f := range m.Files {
		if f.Name == name {
			return f.SHA256
		}
	}
	return ""
}

// source returns the interpreter of the pack, whose files must be what its manifest says.
func (m *manifest) source(pack fs.FS) (source []byte, err error) {
	for _, name := range []string{libraryName, wasmName} {
		source, err = fs.ReadFile(pack, name)
		if err == nil && fmt.Sprintf("%x", sha256.Sum256(source)) != m.sum(name) {
			err = fmt.Errorf("%s differs from its manifest", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: the pack: %v", codeinterp.ErrInvalid, err)
		}
	}
	return source, nil
}

// identity stands for the interpreter that starts from the pack with the driver and the
// rewriter of this program.
func (m *manifest) identity(boot []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %x %s", m.sum(wasmName), m.sum(libraryName), rewrite.Version(), boot)
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}
