//go:build unix

// Package rmtree removes directories that untrusted programs have filled.
package rmtree

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// RemoveAll removes dir and what is in it, also directories that a program
// made unreadable or nested thousands of levels deep. It follows no symbolic
// links and holds three descriptors at most. What is missing is no error.
func RemoveAll(dir string) error { return newRemover(unix.AT_FDCWD, dir).run() }

// RemoveAt is RemoveAll for a name in an open directory, which may also be a file's.
func RemoveAt(dir *os.File, name string) error {
	at := int(dir.Fd())
	if err := unlink(at, name); err != errNotEmpty {
		return err
	}
	return newRemover(at, name).run()
}

// A remover removes a directory bit by bit. It keeps the work flat: a directory
// that is not empty moves up to the top before its turn comes.
type remover struct {
	at   int // what dir is relative to
	dir  string
	mark string // prefix of what was moved up
	n    int
}

func newRemover(at int, dir string) *remover {
	return &remover{at: at, dir: dir, mark: strconv.FormatUint(rand.Uint64(), 36) + "-"}
}

var errNotEmpty = errors.New("not empty")

const removeBatch = 512

func (r *remover) run() error {
	top, err := openReadable(r.at, r.dir)
	switch {
	case err == unix.ENOENT:
		return nil
	case err != nil:
		return fmt.Errorf("removing a directory: %w", err)
	}
	defer top.Close()
	err = r.empty(top, func(name string) error { return r.subdirectory(top, name) })
	if e := unix.Unlinkat(r.at, r.dir, unix.AT_REMOVEDIR); e != nil && e != unix.ENOENT {
		return fmt.Errorf("removing a directory: %w", errors.Join(err, e))
	}
	return nil
}

// empty removes the entries of a directory; what to do with directories that
// are not empty is up to subdir.
func (r *remover) empty(d *os.File, subdir func(name string) error) error {
	fd := int(d.Fd())
	for {
		// From the start each time: what readdir(3) returns after entries were
		// removed is not specified.
		if _, err := d.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, _ := d.Readdirnames(removeBatch)
		removed, failed := 0, error(nil)
		for _, name := range names {
			err := unlink(fd, name)
			if err == errNotEmpty {
				err = subdir(name)
			}
			if err == nil || err == unix.ENOENT {
				removed++
			} else {
				failed = err
			}
		}
		if len(names) == 0 || removed == 0 {
			return failed
		}
	}
}

// unlink removes a file or an empty directory, if it is there. Another directory is
// errNotEmpty.
func unlink(at int, name string) error {
	// Tried as a file, then as a directory: its type may change between a look and this.
	err := unix.Unlinkat(at, name, 0)
	if err == unix.EISDIR || err == unix.EPERM || err == unix.EACCES {
		switch e := unix.Unlinkat(at, name, unix.AT_REMOVEDIR); e {
		case unix.ENOTDIR:
		case unix.ENOTEMPTY, unix.EEXIST, unix.EACCES:
			return errNotEmpty
		default:
			err = e
		}
	}
	if err == unix.ENOENT {
		return nil
	}
	return err
}

// subdirectory removes a directory at the top, and moves up those in it.
func (r *remover) subdirectory(top *os.File, name string) error {
	d, err := openReadable(int(top.Fd()), name)
	if err != nil {
		return err
	}
	defer d.Close()
	err = r.empty(d, func(child string) error {
		// To be moved, a directory has to be writable, since its ".." changes.
		if c, err := openReadable(int(d.Fd()), child); err == nil {
			c.Close()
		}
		r.n++
		return unix.Renameat(int(d.Fd()), child, int(top.Fd()), r.mark+strconv.Itoa(r.n))
	})
	if err != nil {
		return err
	}
	return unix.Unlinkat(int(top.Fd()), name, unix.AT_REMOVEDIR)
}

// openReadable opens a directory to be listed and changed, and makes that
// possible where its mode forbids it. It follows no link.
func openReadable(at int, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(at, name, flags, 0)
	var st unix.Stat_t
	if err == nil && unix.Fstat(fd, &st) == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(fd, 0o700)
	}
	if err == unix.EACCES {
		if Chmod(at, name, 0o700) == nil {
			fd, err = unix.Openat(at, name, flags, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Base(name)), nil
}
