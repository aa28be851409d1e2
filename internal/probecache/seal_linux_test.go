package probecache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestChangedByAnother: a file that a program has changed or put there says nothing.
func TestChangedByAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "probes")
	c := Open(dir)
	c.Store("key", nil, "result")
	var got string
	if !c.Load("key", 0, &got) {
		if errors.Is(syscall.Setxattr(dir, attribute, nil, 0), syscall.ENOTSUP) {
			t.Skip("the file system of the temporary directory has no extended attributes")
		}
		t.Fatal("the result is lost")
	}
	file := c.file("key")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	poisoned := bytes.Replace(b, []byte("result"), []byte("poison"), 1)
	for name, change := range map[string]func() error{
		"written": func() error { return os.WriteFile(file, poisoned, 0o600) },
		"replaced": func() error {
			return errors.Join(os.Remove(file), os.WriteFile(file, poisoned, 0o600))
		},
		"another's": func() error { // with the attribute of another result
			c.Store("other", nil, "other")
			return errors.Join(os.Rename(c.file("other"), file), os.WriteFile(file, poisoned, 0o600))
		},
		"renamed": func() error {
			c.Store("other", nil, "other")
			return os.Rename(c.file("other"), file)
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if c.Load("key", 0, &got) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if c.Store("key", nil, "again"); !c.Load("key", 0, &got) || got != "again" {
		t.Errorf("got %q after the next probe", got)
	}
}
