// Package fsentry describes files and lists directories for file systems whose
// files are somewhere else: below a directory of the host, in memory, on a server.
package fsentry

import (
	"io"
	"io/fs"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Info returns the description of a file, without details of its system.
func Info(name string, size int64, mode fs.FileMode, modified time.Time) fs.FileInfo {
	return info{name, size, mode, modified}
}

type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// Open returns an open directory that had entries in it when it was opened. It
// takes them, and is for one caller at a time, as files are.
func Open(of fs.FileInfo, entries []fs.DirEntry) fs.ReadDirFile {
	return &directory{of, entries}
}

type directory struct {
	info    fs.FileInfo
	entries []fs.DirEntry
}

func (d *directory) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *directory) Close() error               { return nil }

func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: codeinterp.ErrIsDir}
}

func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	list := d.entries
	if n > 0 {
		if len(list) == 0 {
			return nil, io.EOF
		}
		list = list[:min(n, len(list))]
	}
	d.entries = d.entries[len(list):]
	return list, nil
}
