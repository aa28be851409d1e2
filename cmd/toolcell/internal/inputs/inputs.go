// Package inputs presents files of this machine as a file system.
package inputs

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// Files are files and directories of this machine, by the names that programs see.
type Files map[string]string

// Open implements fs.FS.
func (in Files) Open(name string) (fs.File, error) {
	first, rest, deeper := strings.Cut(name, "/")
	path := in[first]
	switch {
	case name == ".":
		return os.Open(".") // any directory will do: ReadDir lists the files
	case !fs.ValidPath(name), path == "":
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case deeper:
		return os.DirFS(path).Open(rest)
	}
	return os.Open(path)
}

// ReadDir implements fs.ReadDirFS.
func (in Files) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		first, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			rest = "."
		}
		return fs.ReadDir(os.DirFS(in[first]), rest)
	}
	var list []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(in)) {
		info, err := os.Stat(in[name])
		if err != nil {
			return nil, err
		}
		list = append(list, fs.FileInfoToDirEntry(info))
	}
	return list, nil
}
