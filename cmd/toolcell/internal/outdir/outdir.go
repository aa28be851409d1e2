// Package outdir writes the files that the command saves. Directories that programs may
// change can hold links which they left there; no such link leads the command out of them.
package outdir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// Writable lists the paths that programs may write.
type Writable []string

// Make makes a directory and opens it.
func (w Writable) Make(dir string) (*os.Root, error) {
	top, rest := w.above(dir)
	if top == "" {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		return os.OpenRoot(dir)
	}
	return beneath(top, func(root *os.Root) (*os.Root, error) {
		if err := root.MkdirAll(rest, 0o777); err != nil {
			return nil, err
		}
		return root.OpenRoot(rest)
	})
}

// Open opens a directory.
func (w Writable) Open(dir string) (*os.Root, error) {
	top, rest := w.above(dir)
	if top == "" {
		return os.OpenRoot(dir)
	}
	return beneath(top, func(root *os.Root) (*os.Root, error) { return root.OpenRoot(rest) })
}

func beneath(top string, open func(*os.Root) (*os.Root, error)) (*os.Root, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return open(root)
}

// above returns the uppermost directory on the way to a path that programs may write,
// and the path from there. It is empty if there is none.
func (w Writable) above(path string) (top, rest string) {
	var writable []fs.FileInfo
	for _, name := range w {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			writable = append(writable, info)
		}
	}
	at, err := filepath.Abs(path)
	if err != nil || len(writable) == 0 {
		return "", ""
	}
	at, names := parts(at)
	for links := 0; links <= maxLinks; {
		info, err := os.Stat(at)
		if err != nil {
			return "", ""
		}
		within := slices.ContainsFunc(writable, func(dir fs.FileInfo) bool { return os.SameFile(dir, info) })
		switch {
		case within && (len(names) == 0 || names[0] != ".."):
			return at, filepath.Clean(filepath.Join(names...))
		case len(names) == 0:
			return "", ""
		}
		next := filepath.Join(at, names[0]) // at has no links, so that .. is above it
		names = names[1:]
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		links++
		top, more := parts(target)
		if filepath.IsAbs(target) {
			at = top
		}
		names = append(more, names...)
	}
	return "", ""
}

const maxLinks = 40 // the kernel's

// parts splits a path into the directory it begins at and the names on it.
func parts(path string) (top string, names []string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
}

// create makes a file in place of what had its name, such as a link or a FIFO, to
// which it does not write. The permissions of a file stay. A directory is an error.
func create(dir *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	before, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	case err == nil && before.IsDir():
		err = &fs.PathError{Op: "create", Path: name, Err: codeinterp.ErrIsDir}
	case err == nil:
		err = dir.Remove(name)
	}
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	}
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(before.Mode().Perm()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Write writes a file in place of what had its name. A new file has the given mode.
func Write(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := create(dir, name, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Replace writes a file whole or not at all.
func Replace(dir *os.Root, name string, data []byte) error {
	mode := os.FileMode(0o644)
	if info, err := dir.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	// Beside the file: a rename does not go from one file system to another.
	half := ".toolcell-" + rand.Text() + ".ipynb"
	file, err := create(dir, half, 0o600)
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Chmod(mode), file.Close())
	}
	if err == nil {
		err = dir.Rename(half, name)
	}
	if err != nil {
		_ = dir.Remove(half)
	}
	return err
}

// Keep opens a file of the user's own for writing. The user may have linked it elsewhere.
func (w Writable) Keep(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if top, _ := w.above(dir); top == "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	}
	root, err := w.Make(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return create(root, filepath.Base(path), 0o600)
}
