//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"syscall"
)

// A Dir is a directory of the host that is held open: it stays the same one
// whatever programs do to its path. It is safe for concurrent use.
type Dir struct {
	path     string
	file     *os.File
	dev, ino uint64
}

// OpenDir opens the directory that path, which is absolute, leads to now,
// through symbolic links too. Its errors wrap codeinterp.ErrInvalid.
func OpenDir(path string) (*Dir, error) { return openPath(path, unix.O_DIRECTORY) }

// openPath opens path, with flags for its last element.
func openPath(path string, flags int) (*Dir, error) {
	if err := checkPaths([]string{path}); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("%w: directory: %w", codeinterp.ErrInvalid, bare(err))
	}
	fd, err := walkTo(real, flags)
	if err != nil {
		return nil, fmt.Errorf("%w: directory: %w", codeinterp.ErrInvalid, err)
	}
	d := &Dir{path: real, file: os.NewFile(uintptr(fd), "directory")}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		d.Close()
		return nil, fmt.Errorf("%w: directory: %w", codeinterp.ErrInvalid, err)
	}
	d.dev, d.ino = uint64(st.Dev), uint64(st.Ino)
	return d, nil
}

// walkTo opens a path step by step, so that a link that takes the place of
// one of its parents meanwhile is an error.
func walkTo(path string, last int) (int, error) {
	const flags = openDirOnly | unix.O_NOFOLLOW | unix.O_CLOEXEC
	at, err := unix.Open("/", flags|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, err
	}
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, name := range names {
		kind := unix.O_DIRECTORY
		if i == len(names)-1 {
			kind = last
		}
		next, err := unix.Openat(at, name, flags|kind, 0)
		unix.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

// Path returns the path, without symbolic links, that led to the directory when
// it was opened. Programs see it there.
func (d *Dir) Path() string { return d.path }

// Close lets the directory go. Processes that were started keep it.
func (d *Dir) Close() error { return d.file.Close() }

// Root opens the directory to work in it. It fails with ErrInvalid where the
// path leads to another directory.
func (d *Dir) Root() (*os.Root, error) {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, fmt.Errorf("%w: the working directory: %w", codeinterp.ErrInvalid, bare(err))
	}
	at, err := root.Open(".")
	if err == nil {
		err = d.is(int(at.Fd()))
		at.Close()
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// is reports whether a descriptor is of the directory.
func (d *Dir) is(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || uint64(st.Dev) != d.dev || uint64(st.Ino) != d.ino {
		return fmt.Errorf("%w: the working directory was replaced or removed", codeinterp.ErrInvalid)
	}
	return nil
}

// Again opens the directory once more, by its path. Whether that leads to it later is
// nothing to rely on.
func (d *Dir) Again() (*Dir, error) {
	other, err := openPath(d.path, unix.O_DIRECTORY)
	if err == nil {
		if err = d.is(other.fd()); err != nil {
			other.Close()
		}
	}
	return other, err
}

// fd returns the descriptor, which is good while d is open.
func (d *Dir) fd() int { return int(d.file.Fd()) }

const maxLinks = 40 // the kernel's

// Follow returns where an absolute path leads, and calls visit for all that it passes, by
// its path without links; target is what a symbolic link says, else empty. An error of
// visit ends it.
func Follow(path string, visit func(at, target string) error) (string, error) {
	at, names, links := "/", split(path), 0
	for len(names) > 0 {
		next := filepath.Join(at, names[0])
		names = names[1:]
		target, _ := os.Readlink(next)
		if err := visit(next, target); err != nil {
			return "", err
		}
		if target == "" {
			at = next // no link, or not there, which Stat says
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		names = append(split(target), names...)
	}
	return at, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
