//go:build unix

package subprocess

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadable: a program that replaces the FIFO of its input has no file of the
// host's opened to it.
func TestReadable(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if w, err := makeFIFO(at("made")); err != nil {
		t.Error(err)
	} else {
		w.Close()
	}
	if _, err := makeFIFO(at("made")); err == nil {
		t.Error("what was there was taken for a FIFO of its own")
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("secret"), at("link")); err != nil {
		t.Fatal(err)
	}
	if f, err := openReadable(at("fifo")); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if info, err := os.Stat(at("fifo")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the FIFO: %v, %v", info, err)
	}
	for _, name := range []string{"link", "secret"} {
		if _, err := openReadable(at(name)); err == nil {
			t.Errorf("%s was taken for a FIFO", name)
		}
	}
	if info, err := os.Stat(at("secret")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file of the host's: %v, %v", info, err)
	}
}
