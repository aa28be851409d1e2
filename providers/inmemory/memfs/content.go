package memfs

import (
	"bytes"
	"io/fs"
)

// chunk is the size of the pieces that content is stored in, so that a file
// that grows is never copied and wastes less than one piece.
const chunk = 64 << 10

// content is what a file holds: full chunks, and a last one that is not
// longer than it has to be.
type content struct {
	chunks [][]byte
	size   int64
}

func (c *content) bytes() []byte {
	b := make([]byte, 0, c.size)
	for _, p := range c.chunks {
		b = append(b, p...)
	}
	return b
}

func (c *content) put(p []byte) {
	c.size += int64(len(p))
	if n := len(c.chunks); n > 0 && len(c.chunks[n-1]) < chunk {
		last := c.chunks[n-1]
		k := min(chunk-len(last), len(p))
		c.chunks[n-1] = append(last, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := min(chunk, len(p))
		// A copy: p is the caller's, who may use it again.
		c.chunks = append(c.chunks, append([]byte(nil), p[:k]...))
		p = p[k:]
	}
}

func (c *content) truncate(size int64, grow func(int64) error) error {
	if size < 0 {
		return fs.ErrInvalid
	}
	if err := grow(size - c.size); err != nil {
		return err
	}
	zeros := make([]byte, chunk)
	for c.size < size {
		c.put(zeros[:min(chunk, size-c.size)])
	}
	full := int((size + chunk - 1) / chunk)
	// The array stays in use, and would keep the pieces alive.
	clear(c.chunks[full:])
	c.chunks = c.chunks[:full]
	if full > 0 {
		last := int(size - int64(full-1)*chunk)
		// A copy where that is less: the rest of the piece would be kept, and not count.
		if c.chunks[full-1] = c.chunks[full-1][:last:last]; last < chunk/2 {
			c.chunks[full-1] = bytes.Clone(c.chunks[full-1])
		}
	}
	c.size = size
	return nil
}

// readAt copies what there is at off, which is within the content or at its end.
func (c *content) readAt(p []byte, off int64) (n int) {
	for n < len(p) && off < c.size {
		part := c.chunks[off/chunk]
		k := copy(p[n:], part[min(off%chunk, int64(len(part))):])
		n += k
		off += int64(k)
	}
	return n
}

// writeAt replaces what is at off, and what lacks until there are zeros.
func (c *content) writeAt(p []byte, off int64, grow func(int64) error) error {
	if len(p) == 0 {
		return nil
	}
	end := off + int64(len(p))
	// The sum wrapped.
	if end < off {
		return fs.ErrInvalid
	}
	if end > c.size {
		if err := grow(end - c.size); err != nil {
			return err
		}
		zeros := make([]byte, min(chunk, max(off-c.size, 0)))
		for c.size < off {
			c.put(zeros[:min(int64(len(zeros)), off-c.size)])
		}
	}
	for len(p) > 0 && off < c.size {
		k := copy(c.chunks[off/chunk][off%chunk:], p)
		p, off = p[k:], off+int64(k)
	}
	c.put(p)
	return nil
}
