//go:build real

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/packtest"
)

// TestPython: where Python is installed, the model writes it.
func TestPython(t *testing.T) {
	root, from := t.TempDir(), packtest.Dir(t)
	t.Setenv("TOOLCELL_ENGINES", root)
	dir := filepath.Join(root, "python-small-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"python.wasm": "", "stdlib.zip": "", "manifest.json": "", "native": packtest.Cache("")} {
		if to == "" {
			to = name
		}
		if err := os.Symlink(filepath.Join(from, to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var out watched
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	rest := out.text.String()
	for _, want := range []string{"python (CPython 3.", `{"language":"python"}`, "This century has 172 of them.", "row 4", "display: image/png", "The best month was 2026-04"} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("no %q in what is left:\n%s", want, rest)
		}
		rest = rest[i+len(want):]
	}
}
