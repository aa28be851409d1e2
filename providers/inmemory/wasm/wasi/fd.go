package wasi

import (
	"encoding/binary"
	"io"
	"io/fs"
	"slices"
	"time"
)

func (c *call) fdstatGet(f *file) Errno {
	b := c.at(c.u32(1), 24)
	if b == nil {
		return ErrnoFault
	}
	clear(b)
	rights := uint64(allRights)
	switch {
	case f.dir:
		b[0] = typeDir
	case f.stream():
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

func (c *call) fdstatSetFlags(f *file) Errno {
	f.append = c.u32(1)&flagAppend != 0
	return 0
}

func (c *call) filestatGet(f *file) Errno {
	var info fs.FileInfo
	var err error
	switch {
	case f.dir:
		info, err = c.stat(f.name)
	case f.content != nil:
		info, err = f.content.Stat()
	}
	if err != nil {
		return errnoOf(err)
	}
	c.putStat(c.u32(1), f.name, info)
	return 0
}

func (c *call) filestatSetSize(f *file) Errno {
	if e := f.seekable(); e != 0 {
		return e
	}
	if c.args[1] > 1<<62 {
		return ErrnoInval
	}
	return errnoOf(f.content.Truncate(int64(c.args[1])))
}

func (c *call) filestatSetTimes(f *file) Errno {
	if f.stream() {
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

// seekable returns 0 for a file with content.
func (f *file) seekable() Errno {
	switch {
	case f.dir:
		return ErrnoIsdir
	case f.content == nil:
		return ErrnoSpipe
	}
	return 0
}

func (c *call) prestatGet(*file) Errno {
	if c.u32(0) != rootDir {
		return ErrnoBadf
	}
	c.put32(c.u32(1), 0) // a directory
	c.put32(c.u32(1)+4, 1)
	return 0
}

func (c *call) prestatDirName(*file) Errno {
	if c.u32(0) != rootDir || c.u32(2) < 1 {
		return ErrnoBadf
	}
	copy(c.at(c.u32(1), 1), "/")
	return 0
}

// moves returns what reads or writes a file, from its own place on or one that is given.
func moves(write, own bool) func(*call) Errno {
	return onFile(func(c *call, f *file) Errno {
		if own {
			return c.transfer(f, &f.at, write)
		}
		at := int64(c.args[3])
		return c.transfer(f, &at, write)
	})
}

// transfer fills or empties the buffers from a place on, which it moves.
func (c *call) transfer(f *file, at *int64, write bool) (e Errno) {
	do, e := c.mover(f, write, at == &f.at)
	switch {
	case e != 0:
		return e
	case *at < 0:
		return ErrnoInval
	}
	total := uint32(0)
	c.buffers(c.u32(1), c.u32(2), func(b []byte) bool {
		n, err := do(b, *at)
		*at += int64(n)
		total += uint32(n)
		if err != io.EOF {
			e = errnoOf(err)
		}
		return err == nil && n == len(b)
	})
	if total > 0 {
		e = 0
	}
	c.put32(c.u32(len(c.args)-1), total)
	return e
}

// mover returns what reads or writes a file, from its own place on or another, which streams
// do not have.
func (c *call) mover(f *file, write, own bool) (do func(p []byte, at int64) (int, error), e Errno) {
	switch {
	case f.stream() && own:
		if write == (c.u32(0) == stdin) {
			return nil, ErrnoBadf
		}
		if write {
			return c.print, 0
		}
		return c.takeInput, 0
	case f.seekable() != 0:
		return nil, f.seekable()
	case !write:
		return f.content.ReadAt, 0
	case own && f.append:
		f.at = f.size()
	}
	return f.content.WriteAt, 0
}

// takeInput reads standard input.
func (c *call) takeInput(p []byte, _ int64) (int, error) {
	n := copy(p, c.input)
	c.input = c.input[n:]
	return n, nil
}

// print writes to standard output or error.
func (c *call) print(p []byte, _ int64) (int, error) {
	for part := range slices.Chunk(p, longCall) {
		c.Write(int(c.u32(0)), part)
		c.Yield()
	}
	return len(p), nil
}

func (c *call) fdSeek(f *file) Errno {
	if e := f.seekable(); e != 0 {
		return e
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

func (c *call) fdTell(f *file) Errno {
	c.put64(c.u32(1), uint64(f.at))
	return f.seekable()
}

// fdReaddir writes entries from a number on, the last of which may be cut off.
func (c *call) fdReaddir(f *file) Errno {
	if !f.dir {
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
