package python_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// tiny is a module with one page of memory that imports what every pack does, and exports
// nothing.
var tiny = bytes.Join([][]byte{[]byte("\x00asm\x01\x00\x00\x00"),
	{1, 4, 1, 0x60, 0, 0},
	append([]byte{2, 18, 1, 8}, "toolcell\x05yield\x00\x00"...),
	{5, 3, 1, 0, 1},
}, nil)

// listed returns a manifest of files.
func listed(files fstest.MapFS) *fstest.MapFile {
	var list []string
	for name, f := range files {
		list = append(list, fmt.Sprintf(`{"name": %q, "sha256": "%x"}`, name, sha256.Sum256(f.Data)))
	}
	return &fstest.MapFile{Data: []byte(`{"files": [` + strings.Join(list, ",") + `]}`)}
}

// TestDamagedPacks: what is no pack, or no whole one, is refused.
func TestDamagedPacks(t *testing.T) {
	var empty bytes.Buffer
	if err := zip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	library := &fstest.MapFile{Data: empty.Bytes()}
	for name, tt := range map[string]struct {
		pack fstest.MapFS
		want error
	}{
		"empty":          {fstest.MapFS{}, codeinterp.ErrInvalid},
		"no library":     {fstest.MapFS{"python.wasm": {Data: tiny}}, codeinterp.ErrInvalid},
		"broken library": {fstest.MapFS{"python.wasm": {Data: tiny}, "stdlib.zip": {Data: []byte("PK")}}, codeinterp.ErrInvalid},
		"no module":      {fstest.MapFS{"python.wasm": {Data: []byte("junk")}, "stdlib.zip": library}, rewrite.ErrModule},
		"cut module":     {fstest.MapFS{"python.wasm": {Data: tiny[:20]}, "stdlib.zip": library}, rewrite.ErrModule},
		"no Python":      {fstest.MapFS{"python.wasm": {Data: tiny}, "stdlib.zip": library}, codeinterp.ErrInvalid},
		"other files":    {fstest.MapFS{"python.wasm": {Data: tiny}, "stdlib.zip": library, "manifest.json": {Data: []byte("{}")}}, codeinterp.ErrInvalid},
	} {
		if name != "empty" && tt.pack["manifest.json"] == nil {
			tt.pack["manifest.json"] = listed(tt.pack)
		}
		if _, err := python.New(t.Context(), &python.Options{Pack: tt.pack}); !errors.Is(err, tt.want) {
			t.Errorf("%s: got the error %v, want %v", name, err, tt.want)
		}
	}
	if _, err := python.New(t.Context(), nil); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("no pack: %v", err)
	}
}
