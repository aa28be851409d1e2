package memfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

func TestFiles(t *testing.T) {
	filestest.Run(t, memfs.New(nil).Files("."))
	filestest.Large(t, memfs.New(&memfs.Options{MaxBytes: 256 << 20}).Files("."), 100<<20)
	f := memfs.New(nil)
	if err := f.MkdirAll("home/me", 0o755); err != nil {
		t.Fatal(err)
	}
	filestest.Run(t, f.Files("home/me"))
}

// TestHandleOfRemoved: a file that is open can be used after it was removed, as under
// Unix, and takes no room once it is closed.
func TestHandleOfRemoved(t *testing.T) {
	f := memfs.New(&memfs.Options{MaxBytes: 1000})
	h, err := f.Files(".").OpenFile("a", os.O_RDWR|os.O_CREATE, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		p    string
		want error
	}{{strings.Repeat("x", 600), nil}, {strings.Repeat("x", 600), codeinterp.ErrQuota}} {
		if _, err := h.Write([]byte(tt.p)); !errors.Is(err, tt.want) {
			t.Errorf("%v, want %v", err, tt.want)
		}
	}
	if err := f.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if n, _ := f.Used(); n != 601 {
		t.Errorf("%d bytes count while it is open", n)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if n, _ := f.Used(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

func TestChangedSince(t *testing.T) {
	f := memfs.New(nil)
	d := f.Files(".")
	write := func(name, text string) {
		if err := codeinterp.WriteFile(d, name, strings.NewReader(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	_ = d.MkdirAll("dir/sub", 0)
	for _, name := range []string{"same", "changed", "dir/sub/a", "gone", "cut"} {
		write(name, "text")
	}
	before := f.Changes()
	if got := f.ChangedSince(".", before); got != nil {
		t.Errorf("nothing was done, got %q", got)
	}
	write("changed", "TEXT")
	write("new", "")
	_ = d.Rename("dir", "moved")
	_ = d.Remove("gone")
	_ = f.Truncate("cut", 1)
	write("short-lived", "x")
	_ = d.Remove("short-lived")
	if got, want := f.ChangedSince(".", before), []string{"changed", "cut", "moved/sub/a", "new"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := f.ChangedSince("moved", before), []string{"sub/a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzContent compares writes at offsets with those to a slice.
func FuzzContent(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 0, 9})
	f.Fuzz(func(t *testing.T, steps []byte) {
		d := memfs.New(nil).Files(".")
		h, _ := d.OpenFile("f", os.O_RDWR|os.O_CREATE, 0)
		var want []byte
		for i := 0; i+1 < len(steps) && i < 40; i += 2 {
			off, p := int(steps[i])*997, bytes.Repeat([]byte{steps[i]}, int(steps[i+1])*501)
			if len(p) > 0 {
				want = append(want, make([]byte, max(0, off+len(p)-len(want)))...)
				copy(want[off:], p)
			}
			_, _ = h.Seek(int64(off), 0)
			if _, err := h.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := fs.ReadFile(d, "f"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
		}
	})
}

// TestClone: a copy has the files, also those that are open and were removed, and neither
// file system sees what is done to the other.
func TestClone(t *testing.T) {
	f := memfs.New(&memfs.Options{MaxBytes: 1000})
	d := f.Files(".")
	if err := codeinterp.WriteFile(d, "a", strings.NewReader("text"), 0); err != nil {
		t.Fatal(err)
	}
	h, err := d.OpenFile("gone", os.O_RDWR|os.O_CREATE, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Write([]byte("open")); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("gone"); err != nil {
		t.Fatal(err)
	}
	c, reopen := f.Clone()
	copied := reopen(h)
	for _, file := range []codeinterp.File{h, copied} {
		if _, err := file.Write([]byte("!")); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []*memfs.FS{f, c} {
		if n, files := of.Used(); n != 9 || files != 1 {
			t.Errorf("%d bytes and %d files", n, files)
		}
	}
	if err := c.WriteFile("a", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if data, err := f.ReadFile("a"); err != nil || string(data) != "text" {
		t.Errorf("the first has %q, %v", data, err)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
	if n, _ := c.Used(); n != 3 {
		t.Errorf("%d bytes after closing", n)
	}
}
