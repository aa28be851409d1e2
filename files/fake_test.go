package files_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
)

// A rootFS is a directory of the host.
type rootFS struct{ *os.Root }

func (r rootFS) Open(name string) (fs.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

func (r rootFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	f, err := r.Root.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.Join(codeinterp.ErrSpecial, err)}
	}
	return f, nil
}

func (r rootFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS(), name) }

// newService returns a Service over a directory with the files, and the
// directory.
func newService(t testing.TB, o *files.Options, contents map[string]string) (*files.Service, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	s := files.New(rootFS{root}, o)
	for name, text := range contents {
		if err := s.Write(t.Context(), name, []byte(text), files.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir
}
