//go:build unix

package probecache

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCache: a result is kept until a file that it was taken from changes, and is not
// read from a directory that others can write to.
func TestCache(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "probes"), filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(file, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Open(dir)
	c.Store("key", []string{file, file + "-missing"}, "result")
	var got string
	if !c.Load("key", 0, &got) || got != "result" {
		t.Errorf("got %q", got)
	}
	if c.Load("other", 0, &got) || c.Load("key", time.Nanosecond, &got) || (*Cache)(nil).Load("key", 0, &got) {
		t.Error("a result of another key, an old one, or one of no cache")
	}
	if err := os.WriteFile(file, []byte("another"), 0o755); err != nil {
		t.Fatal(err)
	}
	if c.Load("key", 0, &got) {
		t.Error("the file has changed")
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if Open(dir) != nil {
		t.Error("others can write to the directory")
	}
}
