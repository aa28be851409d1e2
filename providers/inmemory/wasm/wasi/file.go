package wasi

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"io"
	"io/fs"

	"github.com/toolcell/toolcell/codeinterp"
)

// The types of files, and the flags and rights that matter.
const (
	typeDir     = 3
	typeRegular = 4

	flagAppend = 1

	rightRead  = 1 << 1
	rightWrite = 1 << 6
	allRights  = 1<<30 - 1
	// Without those to seek a stream is what is no file.
	streamRights = allRights &^ (1<<2 | 1<<5)
)

// content is what a file holds.
type content interface {
	codeinterp.File
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// A fixed is a file of the library, or without a reader one of random bytes. One that
// drops what is written is /dev/null.
type fixed struct {
	*bytes.Reader
	info  fs.FileInfo
	drops bool
}

func (f fixed) ReadAt(p []byte, off int64) (int, error) {
	if f.Reader != nil {
		return f.Reader.ReadAt(p, off)
	}
	return rand.Read(p[:min(len(p), longCall)])
}

func (f fixed) WriteAt(p []byte, _ int64) (int, error) {
	if f.drops {
		return len(p), nil
	}
	return 0, errReadOnly
}

func (f fixed) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f fixed) Write([]byte) (int, error)  { return 0, errReadOnly }
func (f fixed) Truncate(int64) error       { return errReadOnly }
func (f fixed) Close() error               { return nil }

// A file is what a descriptor stands for: a stream where it is no directory and has no
// content.
type file struct {
	dir     bool
	name    string // from the root, as it was opened
	append  bool
	at      int64
	content content
	entries []fs.DirEntry // of a directory, since it was last read from the start
}

func (f *file) stream() bool { return !f.dir && f.content == nil }

// size returns how long the content is.
func (f *file) size() int64 {
	info, err := f.content.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// number is the inode number of a name: there are no links, so that a file has one name.
func number(name string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name)
	return h.Sum64()
}

// putStat writes a description of a file.
func (c *call) putStat(address uint32, name string, info fs.FileInfo) {
	b := c.at(address, 64)
	if b == nil {
		return
	}
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, 1)
	le.PutUint64(b[8:], number(name))
	le.PutUint64(b[24:], 1)
	if info == nil {
		return // a stream
	}
	if b[16] = typeRegular; info.IsDir() {
		b[16] = typeDir
	}
	le.PutUint64(b[32:], uint64(info.Size()))
	t := uint64(max(info.ModTime().UnixNano(), 0))
	for _, at := range []int{40, 48, 56} {
		le.PutUint64(b[at:], t)
	}
}
