package leftover

import (
	"os"
	"testing"
)

// Dir returns a new directory that every user can reach, as a program of a root
// host has to, and that goes with the test. [testing.TB]'s own is closed to
// others.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dir-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
