//go:build unix

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
)

// Mkdir implements codeinterp.FS.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	if err := f.take(0, 1); err != nil {
		return fault("mkdir", name, err)
	}
	return f.do("mkdir", name, func() error { return f.root.Mkdir(name, perm&fs.ModePerm) })
}

// MkdirAll implements codeinterp.FS.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.take(0, 1+strings.Count(name, "/")); err != nil {
		return fault("mkdir", name, err)
	}
	err := f.do("mkdir", name, func() error { return f.root.MkdirAll(name, perm&fs.ModePerm) })
	if errors.Is(err, fs.ErrExist) {
		return fault("mkdir", name, codeinterp.ErrNotDir)
	}
	return err
}

// Remove implements codeinterp.FS.
func (f *FS) Remove(name string) error {
	if name == "." {
		return fault("remove", name, fs.ErrInvalid)
	}
	return f.do("remove", name, func() error { return f.root.Remove(name) })
}

// RemoveAll implements codeinterp.FS. However deep a program has nested its
// directories, it holds few descriptors; os.Root holds one a level.
func (f *FS) RemoveAll(name string) error {
	if name == "." {
		return fault("remove", name, fs.ErrInvalid)
	}
	return f.do("remove", name, func() error {
		dir, err := f.root.Open(path.Dir(name))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		defer dir.Close()
		return rmtree.RemoveAt(dir, path.Base(name))
	})
}

// Rename implements codeinterp.FS.
func (f *FS) Rename(from, to string) error {
	if from == "." || to == "." || !fs.ValidPath(to) {
		return fault("rename", from, fs.ErrInvalid)
	}
	err := f.do("rename", from, func() error {
		err := f.root.Rename(from, to)
		if errors.Is(err, fs.ErrExist) { // which is all that os.Root says of a directory in the way
			return f.replace(from, to, err)
		}
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		if i, e := f.Lstat(from); e == nil && i.IsDir() {
			return fault("rename", from, codeinterp.ErrNotEmpty)
		}
		return fault("rename", from, codeinterp.ErrIsDir)
	}
	return err
}

// replace renames a directory over an empty one, which rename(2) does and os.Root
// refuses with the error that is returned where there are no two directories.
func (f *FS) replace(from, to string, refused error) error {
	old, err := f.root.Lstat(from)
	if err != nil {
		return err
	}
	new, err := f.root.Lstat(to)
	if err != nil || !old.IsDir() || !new.IsDir() {
		return refused
	}
	if os.SameFile(old, new) {
		return nil
	}
	if err := f.root.Remove(to); err != nil {
		return refused
	}
	if err = f.root.Rename(from, to); err != nil {
		// The rename failed, so that nothing is to have changed.
		_ = f.root.Mkdir(to, new.Mode().Perm())
	}
	return err
}
