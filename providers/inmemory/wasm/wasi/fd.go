package wasi

import (
	"encoding/binary"
	"io"
	"io/fs"
	"slices"
	"time"
)

func (c *call) fdstatGet() Errno {
	f := c.file(c.u32(0))
	if f == nil {
		return ErrnoBadf
	}
	b := c.at(c.u32(1), 24)
	if b == nil {
		return ErrnoFault
	}
	clear(b)
	rights := uint64(allRights)
	switch {
	case f.isDir():
		b[0] = typeDir
	case f.kind == streamFile:
		rights = streamRights
	default:
		b[0] = typeRegular
	}
	if f.append {
		b[2] = flagAppend
	}
	binary.LittleEndian.PutUint64(b[8:], rights)
	binary.LittleEndian.PutUint64(b[16:], rights)
	return 0
}

func (c *call) fdstatSetFlags() Errno {
	f := c.file(c.u32(0))
	if f == nil {
		return ErrnoBadf
	}
	f.append = c.u32(1)&flagAppend != 0
	return 0
}

func (c *call) filestatGet() Errno {
	f := c.file(c.u32(0))
	if f == nil {
		return ErrnoBadf
	}
	var info fs.FileInfo
	var err error
	switch f.kind {
	case streamFile:
	case dataFile:
		info, err = f.data.Stat()
	case libraryFile:
		info = f.info
	default:
		info, err = c.stat(f.name)
	}
	if err != nil {
		return errnoOf(err)
	}
	c.putStat(c.u32(1), f.name, info)
	return 0
}

func (c *call) filestatSetSize() Errno {
	f, e := c.data(c.u32(0))
	if e != 0 {
		return e
	}
	if c.args[1] > 1<<62 {
		return ErrnoInval
	}
	return errnoOf(f.data.Truncate(int64(c.args[1])))
}

func (c *call) filestatSetTimes() Errno {
	f := c.file(c.u32(0))
	if f == nil || f.kind == streamFile {
		return ErrnoBadf
	}
	return c.setTimes(f.name, c.args[2], c.u32(3))
}

// setTimes sets when a file was changed. When it was read is not kept.
func (c *call) setTimes(name string, modified uint64, flags uint32) Errno {
	const given, now = 4, 8
	t := time.Now()
	switch {
	case flags&given != 0:
		t = time.Unix(0, int64(modified))
	case flags&now == 0:
		return 0
	}
	return errnoOf(c.Files.Chtimes(name, t))
}

// data returns a file of the context that is open.
func (c *call) data(fd uint32) (*file, Errno) {
	f := c.file(fd)
	switch {
	case f == nil:
		return nil, ErrnoBadf
	case f.isDir():
		return nil, ErrnoIsdir
	case f.kind == libraryFile:
		return nil, ErrnoRofs
	case f.kind == streamFile:
		return nil, ErrnoSpipe
	}
	return f, 0
}

func (c *call) prestatGet() Errno {
	if c.u32(0) != rootDir || c.file(rootDir) == nil {
		return ErrnoBadf
	}
	c.put32(c.u32(1), 0) // a directory
	c.put32(c.u32(1)+4, 1)
	return 0
}

func (c *call) prestatDirName() Errno {
	if c.u32(0) != rootDir || c.u32(2) < 1 {
		return ErrnoBadf
	}
	copy(c.at(c.u32(1), 1), "/")
	return 0
}

func (c *call) fdRead() Errno {
	f := c.file(c.u32(0))
	if f == nil {
		return ErrnoBadf
	}
	if f.kind == streamFile {
		return c.readInput()
	}
	return c.read(f, &f.at, c.u32(3))
}

func (c *call) fdPread() Errno {
	f := c.file(c.u32(0))
	switch {
	case f == nil:
		return ErrnoBadf
	case f.kind == streamFile:
		return ErrnoSpipe
	}
	at := int64(c.args[3])
	return c.read(f, &at, c.u32(4))
}

// read fills the buffers from a place, which it moves.
func (c *call) read(f *file, at *int64, result uint32) (e Errno) {
	if f.isDir() {
		return ErrnoIsdir
	}
	total := uint32(0)
	c.buffers(c.u32(1), c.u32(2), func(b []byte) bool {
		var n int
		n, e = f.readAt(b, *at)
		*at += int64(n)
		total += uint32(n)
		return e == 0 && n == len(b)
	})
	if total > 0 {
		e = 0
	}
	c.put32(result, total)
	return e
}

func (c *call) readInput() Errno {
	if c.u32(0) != stdin {
		return ErrnoBadf
	}
	total := uint32(0)
	c.buffers(c.u32(1), c.u32(2), func(b []byte) bool {
		n := copy(b, c.input)
		c.input = c.input[n:]
		total += uint32(n)
		return n == len(b)
	})
	c.put32(c.u32(3), total)
	return 0
}

func (c *call) fdWrite() Errno {
	fd := c.u32(0)
	f := c.file(fd)
	switch {
	case f == nil || fd == stdin:
		return ErrnoBadf
	case f.kind == streamFile:
		total := uint32(0)
		c.buffers(c.u32(1), c.u32(2), func(b []byte) bool {
			for part := range slices.Chunk(b, longCall) {
				c.Write(int(fd), part)
				c.yield()
			}
			total += uint32(len(b))
			return true
		})
		c.put32(c.u32(3), total)
		return 0
	}
	if f.append && f.data != nil {
		f.at = f.size()
	}
	return c.write(&f.at, c.u32(3))
}

func (c *call) fdPwrite() Errno {
	at := int64(c.args[3])
	if at < 0 {
		return ErrnoInval
	}
	return c.write(&at, c.u32(4))
}

// write writes the buffers at a place, which it moves.
func (c *call) write(at *int64, result uint32) Errno {
	f, e := c.data(c.u32(0))
	if e != 0 {
		return e
	}
	total := uint32(0)
	c.buffers(c.u32(1), c.u32(2), func(b []byte) bool {
		n, err := f.data.WriteAt(b, *at)
		*at += int64(n)
		total += uint32(n)
		e = errnoOf(err)
		return e == 0
	})
	if total > 0 {
		e = 0
	}
	c.put32(result, total)
	return e
}

func (c *call) fdSeek() Errno {
	f := c.file(c.u32(0))
	switch {
	case f == nil:
		return ErrnoBadf
	case f.kind == streamFile:
		return ErrnoSpipe
	case f.isDir():
		return ErrnoIsdir
	}
	at := int64(c.args[1])
	switch c.u32(2) {
	case io.SeekStart:
	case io.SeekCurrent:
		at += f.at
	case io.SeekEnd:
		at += f.size()
	default:
		return ErrnoInval
	}
	if at < 0 {
		return ErrnoInval
	}
	f.at = at
	c.put64(c.u32(3), uint64(at))
	return 0
}

func (c *call) fdTell() Errno {
	f := c.file(c.u32(0))
	switch {
	case f == nil:
		return ErrnoBadf
	case f.kind == streamFile:
		return ErrnoSpipe
	}
	c.put64(c.u32(1), uint64(f.at))
	return 0
}

// fdReaddir writes entries from a number on, the last of which may be cut off.
func (c *call) fdReaddir() Errno {
	f := c.file(c.u32(0))
	if f == nil || !f.isDir() {
		return ErrnoBadf
	}
	out, cookie := c.at(c.u32(1), c.u32(2)), c.args[3]
	if out == nil {
		return ErrnoFault
	}
	if cookie == 0 {
		list, err := c.list(f.name)
		if err != nil {
			return errnoOf(err)
		}
		f.entries = list
	}
	size := len(out)
	for i := cookie; i < uint64(len(f.entries)) && len(out) > 0; i++ {
		entry := f.entries[i]
		head := make([]byte, 24, 24+len(entry.Name()))
		binary.LittleEndian.PutUint64(head, i+1)
		binary.LittleEndian.PutUint64(head[8:], number(join(f.name, entry.Name())))
		binary.LittleEndian.PutUint32(head[16:], uint32(len(entry.Name())))
		if head[20] = typeRegular; entry.IsDir() {
			head[20] = typeDir
		}
		out = out[copy(out, append(head, entry.Name()...)):]
	}
	c.put32(c.u32(4), uint32(size-len(out)))
	return 0
}
