package main

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

// makeDir makes a directory that this command writes into, and opens it.
func (f *subprocessFlags) makeDir(dir string) (*os.Root, error) {
	top, rest := f.above(dir)
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

// openDir opens a directory that this command writes into.
func (f *subprocessFlags) openDir(dir string) (*os.Root, error) {
	top, rest := f.above(dir)
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

// above returns the uppermost directory above where a path leads, or that itself,
// that programs may write, and the path from there: a link that they left on it is
// not to lead out of what they may write. Empty where there is none.
func (f *subprocessFlags) above(path string) (top, rest string) {
	var writable []fs.FileInfo
	for _, name := range f.write {
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
		within := slices.ContainsFunc(writable, func(w fs.FileInfo) bool { return os.SameFile(w, info) })
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

// parts returns where a path begins and the names on it.
func parts(path string) (top string, names []string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
}

// create makes a file anew: what had its name, such as a link or a FIFO that a
// program left there, is removed and not written to. A file's permissions stay; a
// directory is an error.
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

// writeNew writes a file that is made anew.
func writeNew(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := create(dir, name, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// replaceIn leaves the whole file or none.
func replaceIn(dir *os.Root, name string, data []byte) error {
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

// keepFile makes a file of this command's own that the user may have linked
// elsewhere, but no program.
func (f *subprocessFlags) keepFile(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if top, _ := f.above(dir); top == "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	}
	root, err := f.makeDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return create(root, filepath.Base(path), 0o600)
}
