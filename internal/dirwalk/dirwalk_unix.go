//go:build unix

// Package dirwalk walks directories that untrusted programs change meanwhile.
package dirwalk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

const (
	maxDepth = 128  // levels, each of which takes a descriptor
	batch    = 1024 // names read at once
)

// ErrDeep is the Err of a directory that is deeper than 128 levels.
var ErrDeep = errors.New("deeper than 128 levels")

// An Entry is a file or directory that a walk finds.
type Entry struct {
	Dir, Name string // Dir is relative to the walked directory, "." for itself
	Stat      unix.Stat_t
	Err       error // why the directory, which was visited before, cannot be listed
}

// Path returns the path relative to the walked directory.
func (e *Entry) Path() string { return path.Join(e.Dir, e.Name) }

// IsDir reports whether the entry is a directory.
func (e *Entry) IsDir() bool { return e.Stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// Walk calls visit for all that is beneath dir, which it closes: for the entries of a
// directory, and then for those of the directories in it. The entry is good until visit
// returns. fs.SkipDir passes over a directory, any other error of visit ends the walk and
// is returned. Walk follows no link, changes nothing, and passes over what is removed
// meanwhile.
func Walk(dir *os.File, visit func(*Entry) error) error { return walk(dir, ".", maxDepth, visit) }

func walk(dir *os.File, at string, depth int, visit func(*Entry) error) error {
	defer dir.Close()
	fd := int(dir.Fd())
	var e Entry
	var dirs []*Entry
	for {
		names, err := dir.Readdirnames(batch)
		for _, name := range names {
			e = Entry{Dir: at, Name: name}
			if unix.Fstatat(fd, name, &e.Stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			if err := visit(&e); err != nil && err != fs.SkipDir {
				return err
			} else if err == nil && e.IsDir() {
				sub := e
				dirs = append(dirs, &sub)
			}
		}
		if err != nil && err != io.EOF && !errors.Is(err, fs.ErrNotExist) {
			return err // a part of a directory would pass for all of it
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	for _, sub := range dirs {
		if err := descend(fd, sub, depth-1, visit); err != nil {
			return err
		}
	}
	return nil
}

func descend(at int, e *Entry, depth int, visit func(*Entry) error) error {
	if depth == 0 {
		e.Err = ErrDeep
		return visit(e)
	}
	fd, err := unix.Openat(at, e.Name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch err {
	case nil:
		return walk(os.NewFile(uintptr(fd), "directory"), e.Path(), depth, visit)
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP: // removed or replaced
		return nil
	}
	e.Err = err
	return visit(e)
}
