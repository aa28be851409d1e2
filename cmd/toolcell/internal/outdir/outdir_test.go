package outdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWrite: a file that is written anew keeps its permissions, and no directory is removed.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(root, "sub", nil, 0o600); err == nil {
		t.Error("a file took the place of a directory")
	}
	file := filepath.Join(dir, "file")
	for _, mode := range []os.FileMode{0o644, 0o606, 0o600} {
		if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(root, "file", []byte("new"), 0o640); err != nil || read(t, file) != "new" {
			t.Errorf("%v, %q", err, read(t, file))
		}
		if after, err := os.Stat(file); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%v, %v; it was %v", after, err, before.Mode())
		}
	}
}
