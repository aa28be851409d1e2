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
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("secret"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := readable(at("fifo")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(at("fifo")); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("the FIFO: %v, %v", info, err)
	}
	for _, name := range []string{"link", "secret"} {
		if readable(at(name)) == nil {
			t.Errorf("%s was taken for a FIFO", name)
		}
	}
	if info, err := os.Stat(at("secret")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file of the host's: %v, %v", info, err)
	}
}
