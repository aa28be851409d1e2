// Package diskuse adds up the files of directories that untrusted programs change.
package diskuse

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Use is the size of what a walk found.
type Use struct {
	Bytes  int64
	Inodes int
}

// over reports whether a walk found more than enough, in which -1 is no limit.
func (w Use) over(enough Use) bool {
	return enough.Bytes >= 0 && w.Bytes > enough.Bytes || enough.Inodes >= 0 && w.Inodes > enough.Inodes
}

const (
	maxDepth = 128             // levels, each of which takes a descriptor
	budget   = 2 * time.Second // for one walk
	batch    = 1024            // names read at once
)

var (
	errEnough = errors.New("enough")

	// ErrUnmeasured reports a directory that cannot be measured: one that its owner, the
	// host's user, may not read, or one that is too deep.
	ErrUnmeasured = errors.New("the directory cannot be measured; it is unreadable or deeper than 128 levels")
)

// A walk adds up the files beneath a directory. It follows no symbolic links and counts
// a file with several names once.
type walk struct {
	Use
	enough Use
	end    time.Time
	linked map[uint64]bool
}

// Measure walks dir, and stops when it has found more than enough, in which -1 is no limit, or
// after two seconds.
func Measure(dir string, enough Use) (Use, error) {
	w := &walk{enough: enough, end: time.Now().Add(budget), linked: map[uint64]bool{}}
	if err := w.dir(unix.AT_FDCWD, dir, maxDepth); err == ErrUnmeasured {
		return w.Use, err
	}
	return w.Use, nil
}

// dir counts what is in a directory. One that is gone, or that another user closed, is
// passed over.
func (w *walk) dir(at int, name string, depth int) error {
	fd, err := openDir(at, name)
	switch {
	case err == ErrUnmeasured:
		return err
	case err != nil:
		return nil
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer f.Close()
	var subdirs []string
	for {
		names, err := f.Readdirnames(batch)
		for _, name := range names {
			isDir, err := w.entry(fd, name)
			if err != nil {
				return err
			}
			if isDir {
				subdirs = append(subdirs, name)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	if depth == 0 && len(subdirs) > 0 {
		return ErrUnmeasured
	}
	for _, name := range subdirs {
		if err := w.dir(fd, name, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// entry counts one name and reports whether it is a directory.
func (w *walk) entry(at int, name string) (isDir bool, err error) {
	var st unix.Stat_t
	if unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false, nil
	}
	w.Inodes++
	isDir = st.Mode&unix.S_IFMT == unix.S_IFDIR
	// Only files with several names are remembered, which keeps the map small.
	if isDir || st.Nlink < 2 || !w.linked[st.Ino] {
		if !isDir && st.Nlink > 1 {
			w.linked[st.Ino] = true
		}
		w.Bytes += st.Blocks * 512
	}
	// Reading the clock costs as much as a stat.
	if w.over(w.enough) || w.Inodes%64 == 0 && time.Now().After(w.end) {
		return isDir, errEnough
	}
	return isDir, nil
}

// openDir opens a directory to be listed.
func openDir(at int, name string) (fd int, err error) {
	fd, err = unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	var st unix.Stat_t
	if err == unix.EACCES && unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && int(st.Uid) == os.Geteuid() {
		err = ErrUnmeasured
	}
	return fd, err
}

// Used returns the size of what is in a directory, as far as a walk of two seconds finds it.
func Used(dir string) (bytes int64, inodes int) {
	u, _ := Measure(dir, Use{-1, -1})
	return u.Bytes, u.Inodes
}
