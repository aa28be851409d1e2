// Package filestest tests an implementation of codeinterp.FS: that what is
// written is read back, and that every implementation has the same faults.
package filestest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
)

// Contents are what files may hold: nothing, every byte value, much.
func Contents() map[string][]byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return map[string][]byte{"empty": {}, "bytes": all, "lines": []byte("a\r\nb\n\n"), "long": bytes.Repeat(all, 3000)}
}

// Run tests fsys, which is empty, and leaves files behind.
func Run(t *testing.T, fsys codeinterp.FS) {
	t.Helper()
	contents(t, fsys)
	handles(t, fsys)
	faults(t, fsys)
	for _, dir := range []string{"", "dir/"} { // which TestFS reads byte by byte
		must(t, fsys.Remove(dir+"long"))
	}
	if err := fstest.TestFS(fsys, "dir/bytes", "bytes"); err != nil {
		t.Error(err)
	}
}

// Large writes a file of size bytes and reads it back.
func Large(t *testing.T, fsys codeinterp.FS, size int) {
	t.Helper()
	data := bytes.Repeat([]byte("01234567"), size/8)
	must(t, codeinterp.WriteFile(fsys, "large", bytes.NewReader(data), 0o600))
	if got, err := fs.ReadFile(fsys, "large"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes came back of %d, %v", len(got), len(data), err)
	}
	must(t, fsys.Remove("large"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents writes files, reads them back and lists them.
func contents(t *testing.T, fsys codeinterp.FS) {
	t.Helper()
	must(t, fsys.MkdirAll("dir/deep/er", 0o755))
	must(t, fsys.MkdirAll("dir/deep/er", 0o755))
	for _, dir := range []string{"", "dir/", "dir/deep/er/"} {
		for name, want := range Contents() {
			must(t, codeinterp.WriteFile(fsys, dir+name, strings.NewReader("before, and longer than some"), 0o644))
			must(t, codeinterp.WriteFile(fsys, dir+name, bytes.NewReader(want), 0o644))
			got, err := fs.ReadFile(fsys, dir+name)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", dir+name, len(got), err)
			}
			info, err := fsys.Stat(dir + name)
			if err != nil || info.Size() != int64(len(want)) || info.Name() != name || !info.Mode().IsRegular() {
				t.Errorf("%s: %v, %v", dir+name, info, err)
			}
		}
	}
	must(t, fsys.Mkdir("in the way", 0o755))
	must(t, fsys.Rename("dir/deep/er", "in the way"))
	must(t, fsys.Rename("in the way", "in the way"))
	must(t, fsys.Rename("in the way", "moved"))
	var names []string
	must(t, fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	const want = ". bytes dir dir/bytes dir/deep dir/empty dir/lines dir/long empty lines long moved moved/bytes moved/empty moved/lines moved/long"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("listed %s\nwant   %s", got, want)
	}
	must(t, fsys.RemoveAll("moved"))
	must(t, fsys.RemoveAll("moved"))
}

// handles reads, writes, appends and seeks.
func handles(t *testing.T, fsys codeinterp.FS) {
	t.Helper()
	f, err := fsys.OpenFile("handle", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	_, err = f.Write([]byte("0123456789"))
	must(t, err)
	at, err := f.Seek(-7, io.SeekEnd)
	if at != 3 || err != nil {
		t.Errorf("seek: %d, %v", at, err)
	}
	_, err = f.Write([]byte("ab"))
	must(t, err)
	rest, err := io.ReadAll(f)
	if string(rest) != "56789" || err != nil {
		t.Errorf("rest %q, %v", rest, err)
	}
	_, err = f.Seek(12, io.SeekStart)
	must(t, err)
	_, err = f.Write([]byte("z"))
	must(t, err)
	must(t, f.Close())
	a, err := fsys.OpenFile("handle", os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = a.Write([]byte("!"))
	must(t, err)
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("reading what was opened for writing: %v", err)
	}
	must(t, a.Close())
	if _, err := a.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("writing to a closed file: %v", err)
	}
	if got, err := fs.ReadFile(fsys, "handle"); string(got) != "012ab56789\x00\x00z!" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	r, err := fsys.OpenFile("handle", os.O_RDONLY, 0)
	must(t, err)
	if _, err := r.Write([]byte("x")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing to what was opened for reading: %v", err)
	}
	must(t, r.Close())
}

// faults has the calls that fail, and with what.
func faults(t *testing.T, fsys codeinterp.FS) {
	t.Helper()
	must(t, fsys.Mkdir("void", 0o755))
	open := func(name string, flag int) error {
		f, err := fsys.OpenFile(name, flag, 0o644)
		if err == nil {
			f.Close()
		}
		return err
	}
	stat := func(name string) error { _, err := fsys.Stat(name); return err }
	list := func(name string) error { _, err := fsys.ReadDir(name); return err }
	read := func(name string) error { _, err := fsys.Open(name); return err }
	const create, all = os.O_WRONLY | os.O_CREATE, 0o755
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"stat nothing", stat("none"), fs.ErrNotExist},
		{"stat through a file", stat("bytes/x"), codeinterp.ErrNotDir},
		{"open nothing", open("none", os.O_RDONLY), fs.ErrNotExist},
		{"create without a directory", open("none/x", create), fs.ErrNotExist},
		{"create what is there", open("bytes", create|os.O_EXCL), fs.ErrExist},
		{"open a directory for reading", open("dir", os.O_RDONLY), codeinterp.ErrIsDir},
		{"open a directory for writing", open("dir", create), codeinterp.ErrIsDir},
		{"an unknown flag", open("bytes", 1<<30), fs.ErrInvalid},
		{"list a file", list("bytes"), codeinterp.ErrNotDir},
		{"list nothing", list("none"), fs.ErrNotExist},
		{"mkdir on a file", fsys.Mkdir("bytes", all), fs.ErrExist},
		{"mkdir on a directory", fsys.Mkdir("dir", all), fs.ErrExist},
		{"mkdir of the directory itself", fsys.Mkdir(".", all), fs.ErrExist},
		{"mkdir without a parent", fsys.Mkdir("none/x", all), fs.ErrNotExist},
		{"mkdir all through a file", fsys.MkdirAll("bytes/x", all), codeinterp.ErrNotDir},
		{"mkdir all on a file", fsys.MkdirAll("bytes", all), codeinterp.ErrNotDir},
		{"remove nothing", fsys.Remove("none"), fs.ErrNotExist},
		{"remove what is not empty", fsys.Remove("dir"), codeinterp.ErrNotEmpty},
		{"remove itself", fsys.Remove("."), fs.ErrInvalid},
		{"remove all of itself", fsys.RemoveAll("."), fs.ErrInvalid},
		{"rename nothing", fsys.Rename("none", "x"), fs.ErrNotExist},
		{"rename a file over a directory", fsys.Rename("bytes", "void"), codeinterp.ErrIsDir},
		{"rename a directory over a file", fsys.Rename("void", "bytes"), codeinterp.ErrNotDir},
		{"rename a directory over a full one", fsys.Rename("void", "dir"), codeinterp.ErrNotEmpty},
		{"rename a directory into itself", fsys.Rename("dir", "dir/x"), fs.ErrInvalid},
		{"rename out", fsys.Rename("bytes", "../x"), fs.ErrInvalid},
		{"up", read("../x"), fs.ErrInvalid},
		{"up in between", stat("dir/../bytes"), fs.ErrInvalid},
		{"absolute", open("/etc/passwd", os.O_RDONLY), fs.ErrInvalid},
		{"empty", open("", create), fs.ErrInvalid},
		{"a NUL byte", open("a\x00b", create), fs.ErrInvalid},
		{"not UTF-8", open("a\xff", create), fs.ErrInvalid},
		{"a name of 300 bytes", open(strings.Repeat("n", 300), create), fs.ErrInvalid},
	} {
		if p := (*fs.PathError)(nil); !errors.Is(tt.err, tt.want) || !errors.As(tt.err, &p) {
			t.Errorf("%s: %v (%T), want %v", tt.name, tt.err, tt.err, tt.want)
		}
	}
}
