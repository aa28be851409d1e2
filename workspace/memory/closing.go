package memory

import (
	"io/fs"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// code is the interpreter of a workspace, whose files end with it.
type code struct {
	*inmemory.Stateful
	closed *atomic.Bool
}

func (c code) Close() error {
	c.closed.Store(true)
	return c.Stateful.Close()
}

// directory is the files of a workspace, of which nothing can be used once it is
// closed. The file system itself may be somebody's who goes on to use it.
type directory struct {
	fsys   codeinterp.FS
	closed *atomic.Bool
}

// fault returns the error of an operation once the workspace is closed.
func fault(closed *atomic.Bool, op, name string) error {
	if closed.Load() {
		return &fs.PathError{Op: op, Path: name, Err: codeinterp.ErrClosed}
	}
	return nil
}

// at does something with the directory unless that is closed.
func at[T any](d directory, op, name string, do func(codeinterp.FS) (T, error)) (t T, err error) {
	if err := fault(d.closed, op, name); err != nil {
		return t, err
	}
	return do(d.fsys)
}

func (d directory) do(op, name string, do func(codeinterp.FS) error) error {
	if err := fault(d.closed, op, name); err != nil {
		return err
	}
	return do(d.fsys)
}

func (d directory) Open(name string) (fs.File, error) {
	f, err := at(d, "open", name, func(fsys codeinterp.FS) (fs.File, error) { return fsys.Open(name) })
	if err != nil {
		return nil, err
	}
	if dir, ok := f.(fs.ReadDirFile); ok {
		return dir, nil // what it lists was listed before
	}
	return file{f, d.closed, name}, nil
}

func (d directory) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	f, err := at(d, "open", name, func(fsys codeinterp.FS) (codeinterp.File, error) { return fsys.OpenFile(name, flag, perm) })
	if err != nil {
		return nil, err
	}
	return openFile{file{f, d.closed, name}, f}, nil
}

func (d directory) Stat(name string) (fs.FileInfo, error) {
	return at(d, "stat", name, func(fsys codeinterp.FS) (fs.FileInfo, error) { return fsys.Stat(name) })
}

func (d directory) Lstat(name string) (fs.FileInfo, error) {
	return at(d, "lstat", name, func(fsys codeinterp.FS) (fs.FileInfo, error) { return fsys.Lstat(name) })
}

func (d directory) ReadDir(name string) ([]fs.DirEntry, error) {
	return at(d, "readdir", name, func(fsys codeinterp.FS) ([]fs.DirEntry, error) { return fsys.ReadDir(name) })
}

func (d directory) Mkdir(name string, perm fs.FileMode) error {
	return d.do("mkdir", name, func(fsys codeinterp.FS) error { return fsys.Mkdir(name, perm) })
}

func (d directory) MkdirAll(name string, perm fs.FileMode) error {
	return d.do("mkdir", name, func(fsys codeinterp.FS) error { return fsys.MkdirAll(name, perm) })
}

func (d directory) Remove(name string) error {
	return d.do("remove", name, func(fsys codeinterp.FS) error { return fsys.Remove(name) })
}

func (d directory) RemoveAll(name string) error {
	return d.do("remove", name, func(fsys codeinterp.FS) error { return fsys.RemoveAll(name) })
}

func (d directory) Rename(from, to string) error {
	return d.do("rename", from, func(fsys codeinterp.FS) error { return fsys.Rename(from, to) })
}

// file is an open file of a directory.
type file struct {
	fs.File
	closed *atomic.Bool
	name   string
}

func (f file) Stat() (fs.FileInfo, error) {
	if err := fault(f.closed, "stat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f file) Read(p []byte) (int, error) {
	if err := fault(f.closed, "read", f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

type openFile struct {
	file
	of codeinterp.File
}

func (f openFile) Write(p []byte) (int, error) {
	if err := fault(f.closed, "write", f.name); err != nil {
		return 0, err
	}
	return f.of.Write(p)
}

func (f openFile) Seek(offset int64, whence int) (int64, error) {
	if err := fault(f.closed, "seek", f.name); err != nil {
		return 0, err
	}
	return f.of.Seek(offset, whence)
}
