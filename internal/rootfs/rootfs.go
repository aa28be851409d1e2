//go:build unix

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fsentry"
)

// Options tunes an FS.
type Options struct {
	// As is the user whom the files belong to, nil for the host's own.
	As *User

	// MaxFile bounds each file that is written, in bytes; MaxBytes and MaxFiles
	// all of them, as Measure finds them, which takes as long as a walk. Zero
	// sets no limit.
	MaxFile, MaxBytes int64
	MaxFiles          int
	Measure           func() (bytes int64, files int)
}

// An FS is an open directory. Its methods are safe for concurrent use.
type FS struct {
	root *os.Root
	opts Options

	mu    sync.Mutex // guards what Measure found, and what came since
	known bool
	bytes int64
	files int
}

var _ codeinterp.FS = (*FS)(nil)

// New returns the FS of root, which it owns. o may be nil.
func New(root *os.Root, o *Options) *FS {
	f := &FS{root: root}
	if o != nil {
		f.opts = *o
	}
	return f
}

// Close closes the directory. Every other method fails afterwards, with fs.ErrClosed.
func (f *FS) Close() error { return f.root.Close() }

// maxEntries bounds a listing.
const maxEntries = 1 << 20

// Stat implements codeinterp.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name, f.root.Stat) }

// Lstat implements codeinterp.FS.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.stat("lstat", name, f.root.Lstat) }

func (f *FS) stat(op, name string, stat func(string) (fs.FileInfo, error)) (i fs.FileInfo, err error) {
	err = f.do(op, name, func() (err error) {
		i, err = stat(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return fsentry.Info(path.Base(name), i.Size(), i.Mode(), i.ModTime()), nil
}

// Open implements fs.FS.
func (f *FS) Open(name string) (fs.File, error) {
	file, i, err := f.open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if !i.IsDir() {
		return file, nil
	}
	defer file.Close()
	list, err := list(file.file)
	if err != nil {
		return nil, fault("readdir", name, err)
	}
	return fsentry.Open(i, list), nil
}

// ReadDir implements fs.ReadDirFS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	file, i, err := f.open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !i.IsDir() {
		return nil, fault("readdir", name, codeinterp.ErrNotDir)
	}
	list, err := list(file.file)
	return list, fault("readdir", name, err)
}

const knownFlags = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_TRUNC

// OpenFile implements codeinterp.FS.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	if flag&^knownFlags != 0 {
		return nil, fault("open", name, fs.ErrInvalid)
	}
	if flag&os.O_CREATE != 0 {
		if err := f.take(0, 1); err != nil {
			return nil, fault("open", name, err)
		}
	}
	// Truncated only once it is known to be a file that may be opened.
	file, i, err := f.open(name, flag&^os.O_TRUNC, perm&fs.ModePerm)
	if err != nil {
		return nil, err
	}
	if i.IsDir() {
		err = codeinterp.ErrIsDir
	} else if flag&os.O_TRUNC != 0 && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		err = file.file.Truncate(0)
	}
	if err != nil {
		file.Close()
		return nil, fault("open", name, err)
	}
	return file, nil
}

// open opens a regular file or a directory. Nothing was done to it yet.
func (f *FS) open(name string, flag int, perm fs.FileMode) (*file, fs.FileInfo, error) {
	if !valid(name) {
		return nil, nil, fault("open", name, fs.ErrInvalid)
	}
	file, st, err := f.openAny(name, flag, perm)
	if err != nil {
		return nil, nil, err
	}
	return file, infoOf(path.Base(name), st), nil
}

// openAny is open, for names that are not UTF-8 too.
func (f *FS) openAny(name string, flag int, perm fs.FileMode) (*file, *unix.Stat_t, error) {
	var opened *os.File
	var st unix.Stat_t
	err := f.as(func() (err error) {
		// O_NONBLOCK, since open(2) of a FIFO waits for its other end; O_NOCTTY,
		// since a terminal would become the host's.
		opened, err = f.root.OpenFile(name, flag|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, perm)
		return err
	})
	if err != nil {
		return nil, nil, fault("open", name, err)
	}
	if err = unix.Fstat(int(opened.Fd()), &st); err == nil {
		err = f.opts.As.mayOpen(&st)
	}
	if err != nil {
		opened.Close()
		return nil, nil, fault("open", name, err)
	}
	return &file{f, opened, name, flag&os.O_APPEND != 0}, &st, nil
}

// mayOpen refuses what is no file or directory, and further names of files of another
// user.
func (u *User) mayOpen(st *unix.Stat_t) error {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFREG:
		// A program can link a file of another user into the directory where
		// fs.protected_hardlinks is 0.
		if u != nil && st.Nlink > 1 && int(st.Uid) != u.UID {
			return codeinterp.ErrSpecial
		}
	default:
		return codeinterp.ErrSpecial
	}
	return nil
}

// do calls op as the user of the files.
func (f *FS) do(op, name string, call func() error) error {
	if !valid(name) {
		return fault(op, name, fs.ErrInvalid)
	}
	return fault(op, name, f.as(call))
}

func valid(name string) bool { return fs.ValidPath(name) && strings.IndexByte(name, 0) < 0 }

// as calls call as the user of the files.
func (f *FS) as(call func() error) error {
	var err error
	if e := f.opts.As.Do(func() { err = call() }); e != nil {
		return e
	}
	return err
}

// take reports whether there is room for more.
func (f *FS) take(bytes int64, files int) error {
	o := &f.opts
	if o.Measure == nil || bytes == 0 && files == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	full := func() bool {
		return o.MaxBytes > 0 && f.bytes+bytes > o.MaxBytes || o.MaxFiles > 0 && f.files+files > o.MaxFiles
	}
	// Programs write and remove too: what looks full is measured before it is
	// refused.
	if !f.known || full() {
		f.bytes, f.files = o.Measure()
		f.known = true
	}
	if full() {
		return codeinterp.ErrQuota
	}
	f.bytes += bytes
	f.files += files
	return nil
}

// fault gives an error the form that codeinterp.FS promises. It names nothing of
// the host's.
func fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: plain(err)}
}

// common reports whether err is one that plain has made.
func common(err error) bool {
	return slices.Contains([]error{fs.ErrInvalid, fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrClosed, codeinterp.ErrIsDir,
		codeinterp.ErrNotDir, codeinterp.ErrNotEmpty, codeinterp.ErrOutside, codeinterp.ErrSpecial, codeinterp.ErrTooLarge,
		codeinterp.ErrQuota}, err)
}

// faults are what numbers of the system mean.
var faults = []struct {
	no  unix.Errno
	err error
}{
	{unix.ENOENT, fs.ErrNotExist}, {unix.EEXIST, fs.ErrExist}, {unix.EACCES, fs.ErrPermission}, {unix.EPERM, fs.ErrPermission},
	{unix.EROFS, fs.ErrPermission}, {unix.EINVAL, fs.ErrInvalid}, {unix.ELOOP, fs.ErrInvalid}, {unix.ENAMETOOLONG, fs.ErrInvalid},
	{unix.EISDIR, codeinterp.ErrIsDir}, {unix.ENOTDIR, codeinterp.ErrNotDir}, {unix.ENOTEMPTY, codeinterp.ErrNotEmpty},
	{unix.ENXIO, codeinterp.ErrSpecial}, {unix.ENODEV, codeinterp.ErrSpecial}, {unix.EFBIG, codeinterp.ErrTooLarge},
	{unix.ENOSPC, codeinterp.ErrQuota}, {unix.EDQUOT, codeinterp.ErrQuota},
}

// escapes is what os.Root says of a path that leads out of it, which it has no
// variable for.
const escapes = "path escapes from parent"

func plain(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if inner.Error() == escapes {
			return codeinterp.ErrOutside
		}
		if common(inner) {
			return inner
		}
	}
	var no unix.Errno
	if !errors.As(err, &no) {
		return codeinterp.ErrUnavailable
	}
	for _, f := range faults {
		if f.no == no {
			return f.err
		}
	}
	return errors.Join(codeinterp.ErrUnavailable, no)
}
