package wasi

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"io/fs"

	"github.com/toolcell/toolcell/codeinterp"
)

// The kinds of what is open.
type fileKind int

const (
	streamFile fileKind = iota
	rootFile
	dirFile
	dataFile
	libraryFile
)

// The types of files, and the flags and rights that matter.
const (
	typeUnknown = 0
	typeDir     = 3
	typeRegular = 4

	flagAppend = 1

	rightRead  = 1 << 1
	rightWrite = 1 << 6
	allRights  = 1<<30 - 1
	// Without those to seek a stream is what is no file.
	streamRights = allRights &^ (1<<2 | 1<<5)
)

// content is a file of package memfs that is open.
type content interface {
	codeinterp.File
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// A file is what a descriptor stands for.
type file struct {
	kind    fileKind
	name    string // from the root, as it was opened
	append  bool
	at      int64
	data    content       // of a dataFile
	bytes   []byte        // of a libraryFile
	info    fs.FileInfo   // of a libraryFile
	entries []fs.DirEntry // of a directory, since it was last read from the start
}

func (f *file) isDir() bool { return f.kind == dirFile || f.kind == rootFile }

// size returns how long the content is.
func (f *file) size() int64 {
	if f.kind == libraryFile {
		return int64(len(f.bytes))
	}
	info, err := f.data.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// readAt reads at a place, and returns 0 bytes at the end.
func (f *file) readAt(p []byte, off int64) (int, Errno) {
	if off < 0 {
		return 0, ErrnoInval
	}
	if f.kind == libraryFile {
		return copy(p, f.bytes[min(off, int64(len(f.bytes))):]), 0
	}
	n, err := f.data.ReadAt(p, off)
	if err == io.EOF {
		err = nil
	}
	return n, errnoOf(err)
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
