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
)

// Writable lists the paths that programs may write.
type Writable []string

// Open makes a directory and opens it.
func (w Writable) Open(dir string) (*os.Root, error) {
	top, rest := w.above(dir)
	if top == "" {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		return os.OpenRoot(dir)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(rest, 0o777); err != nil {
		return nil, err
	}
	return root.OpenRoot(rest)
}

const maxLinks = 40 // the kernel's

// above returns the uppermost directory on the way to a path that programs may write,
// and the path from there. It is empty if there is none.
func (w Writable) above(path string) (top, rest string) {
	path, err := filepath.Abs(path)
	if err != nil || len(w) == 0 {
		return "", ""
	}
	split := func(path string) []string { return strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) }
	at, names := "/", split(path)
	for links := 0; links <= maxLinks; {
		switch {
		case w.has(at) && (len(names) == 0 || names[0] != ".."):
			return at, filepath.Join(".", filepath.Join(names...))
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
		if filepath.IsAbs(target) {
			at = "/"
		}
		names = append(split(target), names...)
	}
	return "", ""
}

// has reports whether a directory is one of the paths.
func (w Writable) has(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && slices.ContainsFunc(w, func(path string) bool {
		other, err := os.Stat(path)
		return err == nil && os.SameFile(info, other)
	})
}

// Write writes a file whole or not at all, in place of a file or link of its name. A file
// keeps its permissions; a new one has the given mode.
func Write(dir *os.Root, name string, data []byte, mode fs.FileMode) (err error) {
	defer func() {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			e.Path = name // not the temporary one
		}
	}()
	before, err := dir.Lstat(name)
	if err == nil && before.Mode()&fs.ModeDevice != 0 {
		return dir.WriteFile(name, data, mode) // such as /dev/null
	}
	half := filepath.Join(filepath.Dir(name), ".toolcell-"+rand.Text())
	file, err := dir.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if before != nil && before.Mode().IsRegular() {
		err = file.Chmod(before.Mode().Perm())
	}
	_, failed := file.Write(data)
	if err = errors.Join(err, failed, file.Close()); err == nil {
		err = dir.Rename(half, name)
	}
	if err != nil {
		_ = dir.Remove(half)
	}
	return err
}
