package science

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// sectionOf returns a section of a module.
func sectionOf(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }

// twice is a module whose function named twice returns its parameter and itself.
var twice = bytes.Join([][]byte{[]byte("\x00asm\x01\x00\x00\x00"),
	sectionOf(1, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 0, 0), sectionOf(3, 1, 0),
	sectionOf(7, 1, 1, 'f', 0, 0), sectionOf(10, 1, 9, 1, 1, 0x7f, 0x20, 0, 0x20, 0, 0x6a, 0x0b),
	sectionOf(0, []byte("\x04name\x01\x08\x01\x00\x05twice")...)}, nil)

// changed runs f of twice with changes.
func changed(t *testing.T, text string) uint64 {
	t.Helper()
	rt := wazero.NewRuntime(t.Context())
	defer rt.Close(t.Context())
	module, err := readChanges(text).apply(twice, "twice")
	if err != nil {
		t.Fatal(err)
	}
	m, err := rt.Instantiate(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.ExportedFunction("twice").Call(t.Context(), 21)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestChange: functions are changed by name, inside and before their code.
func TestChange(t *testing.T) {
	if got := changed(t, ""); got != 42 {
		t.Errorf("unchanged: %d", got)
	}
	if got := changed(t, "replace twice 1 #20006a => #41016a"); got != 22 {
		t.Errorf("replaced: %d", got)
	}
	if got := changed(t, "define thousand -1000\nbefore twice $n :\n\t$m:i32 #41 thousand #22 $m #21 $n ;; n = m = -1000\ndefine i32 #7f"); got != 1<<32-2000 {
		t.Errorf("prefixed: %d", got)
	}
}

// TestRevision: packs with other changes have another revision.
func TestRevision(t *testing.T) {
	const known = "139296467843ed5939413c619f6a65ddcecc77de07405c8829714add003dbb78"
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(changesText))); sum != known {
		t.Errorf("changes.txt has the sum %s: raise the revision if the module differs", sum)
	}
}

// TestRefused: code that is not as expected is not changed, nor another wheel taken.
func TestRefused(t *testing.T) {
	for _, source := range [][]byte{nil, twice[:20], twice} {
		if _, err := patch(source); !errors.Is(err, rewrite.ErrModule) {
			t.Errorf("got the error %v", err)
		}
	}
	if _, err := readChanges("replace twice 1 #2000 => #4101").apply(twice); !errors.Is(err, rewrite.ErrModule) {
		t.Errorf("got the error %v", err)
	}
	var b bytes.Buffer
	if err := zip.NewWriter(&b).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), b.Bytes(), t.TempDir()); !errors.Is(err, ErrWheel) {
		t.Errorf("got the error %v", err)
	}
}
