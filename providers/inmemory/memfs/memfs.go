// Package memfs is a file system in memory with a quota: what programs of the
// embedded engines see as their files, and what Go code reads and fills.
//
//	fsys := memfs.New(nil)
//	err := fsys.MkdirAll("data", 0o755)
//	err = fsys.WriteFile("data/in.csv", data)
//	entries, err := fs.ReadDir(fsys, "data")
//
// Names are those of io/fs: relative to the root, with slashes, "." for the
// root. Use [Clean] on a path that a program wrote.
package memfs

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fsentry"
)

const (
	// DefaultMaxBytes is how many bytes of content a file system holds where
	// Options.MaxBytes is zero.
	DefaultMaxBytes = 32 << 20

	// DefaultMaxFiles is how many files and directories it holds where
	// Options.MaxFiles is zero.
	DefaultMaxFiles = 4096

	maxName  = 255
	maxDepth = 64
	maxPath  = 4096 // bytes of a name from the root
)

// ErrQuota: the file system is full.
var ErrQuota = codeinterp.ErrQuota

// Options tunes a file system. The zero value is ready to use.
type Options struct {
	// MaxBytes bounds the content of all files together. Zero means
	// DefaultMaxBytes.
	MaxBytes int64
	// MaxFiles bounds the number of files and directories. Zero means
	// DefaultMaxFiles.
	MaxFiles int
}

// An FS is a file system, or a directory of one. It implements codeinterp.FS and
// fs.ReadFileFS, and its methods may be called from any goroutine. Files have no
// permissions.
type FS struct {
	*tree
	dir string // what names are relative to, from the root
}

// A tree is all that a file system has.
type tree struct {
	mu    sync.RWMutex
	root  *node
	bytes int64
	files int
	opts  Options

	changes int64 // so far
}

var (
	_ codeinterp.FS = (*FS)(nil)
	_ fs.ReadFileFS = (*FS)(nil)
)

// New returns an empty file system. o may be nil.
func New(o *Options) *FS {
	t := &tree{root: newDirectory("")}
	if o != nil {
		t.opts = *o
	}
	t.opts.MaxBytes = cmp.Or(t.opts.MaxBytes, DefaultMaxBytes)
	t.opts.MaxFiles = cmp.Or(t.opts.MaxFiles, DefaultMaxFiles)
	return &FS{t, "."}
}

// Files returns a directory of f as the files of a context. It is not looked for before it
// is used.
func (f *FS) Files(dir string) codeinterp.FS { return &FS{f.tree, f.full(dir)} }

// full returns what a name means from the root.
func (f *FS) full(name string) string { return path.Join(f.dir, name) }

// Clean returns the name that a program's path means in a directory, which is
// itself a name. The result never leaves the root: there is nothing above it.
func Clean(dir, p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/" + dir + "/" + p
	}
	if p = strings.TrimPrefix(path.Clean(p), "/"); p == "" {
		return "."
	}
	return p
}

// Used returns how many bytes of content and how many files and directories
// there are.
func (f *FS) Used() (bytes int64, files int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.bytes, f.files
}

// Stat describes a file or directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n.info(path.Base(name)), nil
}

// Lstat is Stat: there are no links.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.Stat(name) }

// ReadFile implements fs.ReadFileFS.
func (f *FS) ReadFile(name string) ([]byte, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrIsDir}
	}
	return append([]byte{}, n.data...), nil
}

// ReadDir lists a directory.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: ErrNotDir}
	}
	return n.entries(), nil
}

// Open implements fs.FS.
func (f *FS) Open(name string) (fs.File, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	info := n.info(path.Base(name))
	if n.dir {
		return fsentry.Open(info, n.entries()), nil
	}
	return &handle{f: f.tree, n: n, name: name}, nil
}

// WriteFile creates or replaces a file. Its directory must exist.
func (f *FS) WriteFile(name string, data []byte) error {
	return f.write(name, func(n *node) error {
		if err := f.grow(int64(len(data)) - n.data.size()); err != nil {
			return err
		}
		n.data = bytes.Clone(data)
		return nil
	})
}

// AppendFile adds to the end of a file and creates it where there is none.
func (f *FS) AppendFile(name string, data []byte) error {
	return f.write(name, func(n *node) error { return n.data.writeAt(data, n.data.size(), f.grow) })
}

// Truncate cuts a file, or fills it up with zeros, to size bytes.
func (f *FS) Truncate(name string, size int64) error {
	return f.describe("truncate", name, func(n *node) error {
		if n.dir {
			return ErrIsDir
		}
		defer f.touch(n)
		return n.data.truncate(size, f.grow)
	})
}

// Mkdir creates a directory.
func (f *FS) Mkdir(name string, _ fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name == "." {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	dir, base, err := f.parent("mkdir", name)
	if err != nil {
		return err
	}
	if dir.child(base) != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	return f.add("mkdir", name, dir, newDirectory(base))
}

// MkdirAll creates a directory and those above it, as far as they are
// missing.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return nil
	}
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		// Not under one lock: what another made meanwhile is there as well.
		if err := f.Mkdir(name[:i], perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if info, err := f.Stat(name); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: name, Err: ErrNotDir}
	}
	return nil
}

// Remove removes a file or an empty directory.
func (f *FS) Remove(name string) error { return f.remove(name, false) }

// RemoveAll removes a file, or a directory with all that is in it. It is no
// error if there is none.
func (f *FS) RemoveAll(name string) error {
	if err := f.remove(name, true); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *FS) remove(name string, all bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.parent("remove", name)
	if err != nil {
		return err
	}
	n := dir.child(base)
	switch {
	case n == nil:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	case len(n.children) > 0 && !all:
		return &fs.PathError{Op: "remove", Path: name, Err: ErrNotEmpty}
	}
	f.changes++
	f.drop(n)
	dir.remove(n)
	return nil
}

// Rename moves a file or directory, and replaces a file, or an empty
// directory, that has the new name.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	src, base, err := f.parent("rename", from)
	if err != nil {
		return err
	}
	dst, newBase, err := f.parent("rename", to)
	if err != nil {
		return err
	}
	n := src.child(base)
	old := dst.child(newBase)
	switch {
	case n == nil:
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	// rename(2) does nothing then; the cases below would refuse it or remove it.
	case n == old:
		return nil
	// Nothing would lead from the root to it any more.
	case n.dir && strings.HasPrefix(to, from+"/"), !n.fits(f.full(to)):
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrInvalid}
	case old != nil && old.dir && !n.dir:
		return &fs.PathError{Op: "rename", Path: to, Err: ErrIsDir}
	case old != nil && !old.dir && n.dir:
		return &fs.PathError{Op: "rename", Path: to, Err: ErrNotDir}
	case old != nil && len(old.children) > 0:
		return &fs.PathError{Op: "rename", Path: to, Err: ErrNotEmpty}
	}
	if old != nil {
		f.drop(old)
		dst.remove(old)
	}
	src.remove(n)
	n.name = newBase
	f.mark(n)
	dst.insert(n)
	dst.modified = time.Now()
	return nil
}

// Chmod sets the permissions that Stat tells. Nothing else looks at them.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.describe("chmod", name, func(n *node) error { n.mode = mode.Perm(); return nil })
}

// Chtimes sets when a file or directory was last changed.
func (f *FS) Chtimes(name string, modified time.Time) error {
	return f.describe("utime", name, func(n *node) error { n.modified = modified; return nil })
}

// describe changes a file or directory that is there.
func (f *FS) describe(op, name string, change func(*node) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(op, name)
	if err != nil {
		return err
	}
	if err := change(n); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}
