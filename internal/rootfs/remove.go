//go:build unix

package rootfs

import (
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// RemoveAll implements codeinterp.FS. However deep a program has nested its
// directories, it holds three descriptors at most; os.Root holds one a level.
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
		return (&removal{}).all(dir, path.Base(name))
	})
}

const (
	removeBatch = 64 // names read at once, again for each directory among them

	// maxRefilled is how often a directory is emptied again since a program has put
	// something into it.
	maxRefilled = 100
)

// A removal empties directories, one after the other, from the bottom up.
type removal struct {
	dir      *os.File
	above    []above // that the way down led through
	refilled int
}

// An above is a directory, and the name of the one below it.
type above struct {
	dev, ino uint64
	name     string
}

// all removes what has a name in a directory.
func (r *removal) all(dir *os.File, name string) (err error) {
	for ; r.refilled < maxRefilled; r.refilled++ {
		if err = unlink(dir, name); err != unix.ENOTEMPTY {
			return err
		}
		if r.dir, err = below(dir, name); err != nil {
			return err
		}
		err = r.empty()
		r.dir.Close()
		if err != nil {
			return err
		}
	}
	return unix.ENOTEMPTY
}

// empty removes all that is in r.dir.
func (r *removal) empty() error {
	for {
		if _, err := r.dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := r.dir.Readdirnames(removeBatch)
		if len(names) == 0 && err != nil && err != io.EOF {
			return err
		}
		if len(names) == 0 && len(r.above) == 0 {
			return nil
		}
		if len(names) == 0 {
			err = r.up()
		} else {
			err = r.batch(names)
		}
		if err != nil {
			return err
		}
	}
}

// batch removes names up to a directory that is not empty, which it goes down to.
func (r *removal) batch(names []string) error {
	for _, name := range names {
		switch err := unlink(r.dir, name); err {
		case nil:
		case unix.ENOTEMPTY:
			return r.down(name)
		default:
			return err
		}
	}
	return nil
}

func (r *removal) down(name string) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(r.dir.Fd()), &st); err != nil {
		return err
	}
	next, err := below(r.dir, name)
	if err != nil {
		return err
	}
	r.above = append(r.above, above{uint64(st.Dev), st.Ino, name})
	r.dir.Close()
	r.dir = next
	return nil
}

// up removes the directory, which is empty, and goes back to the one above it,
// unless it has been moved to another one.
func (r *removal) up() error {
	last := r.above[len(r.above)-1]
	r.above = r.above[:len(r.above)-1]
	next, err := below(r.dir, "..")
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(next.Fd()), &st); err == nil && (uint64(st.Dev) != last.dev || st.Ino != last.ino) {
		err = codeinterp.ErrUnavailable
	}
	if err != nil {
		next.Close()
		return err
	}
	r.dir.Close()
	r.dir = next
	// One that has something in it again is found again.
	if err = unlink(r.dir, last.name); err == unix.ENOTEMPTY && r.refilled < maxRefilled {
		r.refilled++
		return nil
	}
	return err
}

// unlink removes a file, a link or an empty directory, if it is there. Another
// directory is ENOTEMPTY.
func unlink(dir *os.File, name string) error {
	// Tried as a file, then as a directory: it may become another between a look
	// and this.
	err := unix.Unlinkat(int(dir.Fd()), name, 0)
	if err == unix.EISDIR || err == unix.EPERM {
		if e := unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR); e != unix.ENOTDIR {
			err = e
		}
	}
	switch err {
	case unix.ENOENT:
		return nil
	case unix.EEXIST:
		return unix.ENOTEMPTY
	}
	return err
}

// below opens a directory, and no link to one.
func below(dir *os.File, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat(int(dir.Fd()), name, flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "directory"), nil
}
