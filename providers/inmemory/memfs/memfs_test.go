package memfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

func Example() {
	fsys := memfs.New(&memfs.Options{MaxBytes: 1 << 20})
	if err := fsys.MkdirAll("data/in", 0o755); err != nil {
		panic(err)
	}
	if err := fsys.WriteFile("data/in/a.txt", []byte("hello")); err != nil {
		panic(err)
	}
	b, err := fs.ReadFile(fsys, "data/in/a.txt")
	fmt.Println(string(b), err)
	// Output: hello <nil>
}

func ExampleClean() {
	fmt.Println(memfs.Clean("home", "a/./b/../c"), memfs.Clean("home", "/etc"), memfs.Clean("home", "../../.."))
	// Output: home/a/c etc .
}

func TestFS(t *testing.T) {
	f := memfs.New(nil)
	for _, step := range []error{
		f.Mkdir("a", 0o755), f.MkdirAll("a/b/c", 0o755), f.WriteFile("a/x", bytes.Repeat([]byte("0123456789"), 20000)), f.AppendFile("a/x", []byte("end")),
		f.WriteFile("a/b/y", nil), f.AppendFile("a/b/z", []byte("z")), f.Rename("a/b/z", "a/b/c/z"), f.Rename("a/b", "b"), f.Truncate("b/y", 5),
		f.Truncate("a/x", 65536), f.AppendFile("a/x", []byte("!")), f.RemoveAll("none/of/it"),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if err := fstest.TestFS(f, "a/x", "b/y", "b/c/z"); err != nil {
		t.Error(err)
	}
	b, err := f.ReadFile("a/x")
	if err != nil || len(b) != 65537 || string(b[65530:]) != "012345!" {
		t.Errorf("got %d bytes ending in %q, %v", len(b), b[max(0, len(b)-7):], err)
	}
	if n, files := f.Used(); n != 65537+5+1 || files != 6 {
		t.Errorf("%d bytes in %d files", n, files)
	}
	for _, name := range []string{"a", "b"} {
		if err := f.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	if n, files := f.Used(); n != 0 || files != 0 {
		t.Errorf("%d bytes in %d files after removing all", n, files)
	}
}

func TestFaults(t *testing.T) {
	f := memfs.New(&memfs.Options{MaxBytes: 10, MaxFiles: 4})
	for _, err := range []error{f.Mkdir("d", 0o755), f.WriteFile("d/f", []byte("12345")), f.Mkdir("e", 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) error { _, err := f.ReadFile(name); return err }
	list := func(name string) error { _, err := f.ReadDir(name); return err }
	for _, c := range []struct {
		name      string
		got, want error
	}{
		{"no file", read("x"), fs.ErrNotExist}, {"read a directory", read("d"), memfs.ErrIsDir}, {"list a file", list("d/f"), memfs.ErrNotDir},
		{"above the root", read("../x"), fs.ErrInvalid}, {"absolute", f.WriteFile("/x", nil), fs.ErrInvalid}, {"empty", f.Mkdir("", 0o755), fs.ErrInvalid},
		{"below a file", f.WriteFile("d/f/g", nil), memfs.ErrNotDir}, {"no directory", f.WriteFile("x/y", nil), fs.ErrNotExist}, {"exists", f.Mkdir("d", 0o755), fs.ErrExist},
		{"over a directory", f.WriteFile("d", nil), memfs.ErrIsDir}, {"not empty", f.Remove("d"), memfs.ErrNotEmpty}, {"remove nothing", f.Remove("x"), fs.ErrNotExist},
		{"remove the root", f.Remove("."), fs.ErrInvalid}, {"into itself", f.Rename("d", "d/g"), fs.ErrInvalid}, {"file over directory", f.Rename("d/f", "e"), memfs.ErrIsDir},
		{"directory over file", f.Rename("e", "d/f"), memfs.ErrNotDir}, {"long name", f.Mkdir(strings.Repeat("n", 256), 0o755), fs.ErrInvalid},
		{"too large", f.WriteFile("d/f", make([]byte, 11)), memfs.ErrQuota}, {"grows too large", f.AppendFile("d/f", make([]byte, 6)), memfs.ErrQuota},
		{"truncated too large", f.Truncate("d/f", 1<<50), memfs.ErrQuota}, {"negative", f.Truncate("d/f", -1), fs.ErrInvalid},
		{"file as a directory", f.MkdirAll("d/f/x", 0o755), memfs.ErrNotDir},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if err := f.WriteFile("g", nil); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile("h", nil); !errors.Is(err, memfs.ErrQuota) {
		t.Errorf("too many files: got %v", err)
	}
	if b, err := f.ReadFile("d/f"); err != nil || string(b) != "12345" {
		t.Errorf("the file became %q, %v", b, err)
	}
}

func TestConcurrent(t *testing.T) {
	f := memfs.New(nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("f%d", i%3)
			for range 200 {
				_ = f.AppendFile(name, []byte("x"))
				_, _ = f.ReadFile(name)
				_, _ = f.ReadDir(".")
				_ = f.Rename(name, "g")
				_ = f.Remove("g")
			}
		})
	}
	wg.Wait()
	for _, e := range mustReadDir(t, f) {
		if err := f.Remove(e.Name()); err != nil {
			t.Error(err)
		}
	}
	if n, files := f.Used(); n != 0 || files != 0 {
		t.Errorf("%d bytes in %d files are left", n, files)
	}
}

func mustReadDir(t *testing.T, f *memfs.FS) []fs.DirEntry {
	t.Helper()
	list, err := f.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDepth: what was made beneath one name gets no deeper, and no longer name, by
// being moved than it could have been made.
func TestDepth(t *testing.T) {
	f := memfs.New(nil)
	long := strings.Repeat("n", 250)
	for _, name := range []string{strings.Repeat("d/", 40) + "d", strings.Repeat("e/", 40) + "e", "f/" + strings.Repeat(long+"/", 3) + long, strings.Repeat(long+"/", 13) + long} {
		if err := f.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"d": strings.Repeat("e/", 40) + "d", "f": strings.Repeat(long+"/", 14) + "f"} {
		if err := f.Rename(from, to); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("rename %s to %.20q of %d bytes: %v", from, to, len(to), err)
		}
	}
	if err := f.Rename("d", "e/d"); err != nil {
		t.Error(err)
	}
	if err := f.MkdirAll(strings.Repeat(long+"/", 16)+long, 0o755); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name of more than 4,096 bytes: %v", err)
	}
}

// No path leads out, and every cleaned path is a valid name.
func FuzzClean(f *testing.F) {
	for _, p := range []string{"../../x", "/abs", "a/../../x", `..\x`, "C:\\x", "a//b", ".", "", "a\x00b"} {
		f.Add("dir", p)
	}
	f.Fuzz(func(t *testing.T, dir, p string) {
		if name := memfs.Clean(memfs.Clean(".", dir), p); strings.HasPrefix(name, "..") && (name == ".." || strings.HasPrefix(name, "../")) || strings.HasPrefix(name, "/") {
			t.Errorf("Clean(%q, %q) = %q", dir, p, name)
		}
	})
}

// TestHugeSizes asks for sizes whose sum with what is there exceeds an int64.
func TestHugeSizes(t *testing.T) {
	f := memfs.New(nil)
	for _, name := range []string{"a", "b"} {
		if err := f.WriteFile(name, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int64{math.MaxInt64, math.MaxInt64 - 1023, 1 << 62} {
		if err := f.Truncate("b", size); !errors.Is(err, memfs.ErrQuota) {
			t.Errorf("truncate to %d: %v", size, err)
		}
		h, err := f.Files(".").OpenFile("b", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Seek(size-10, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if n, err := h.Write([]byte("x")); n != 0 || !errors.Is(err, memfs.ErrQuota) {
			t.Errorf("write at %d: %d, %v", size-10, n, err)
		}
	}
	if n, _ := f.Used(); n != 8192 {
		t.Errorf("%d bytes are used", n)
	}
}

// What is cut off a file is not kept: it no longer counts.
func TestTruncatedFilesAreSmall(t *testing.T) {
	f := memfs.New(nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	block := make([]byte, 64<<10)
	for i := range 1000 {
		name := fmt.Sprint("f", i)
		if err := f.WriteFile(name, block); err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(name, 1); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 16<<20 {
		t.Errorf("%d MiB are kept", n>>20)
	}
	runtime.KeepAlive(f)
}
