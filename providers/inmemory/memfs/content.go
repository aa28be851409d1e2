package memfs

import (
	"bytes"
	"io/fs"
)

// content is what a file holds.
type content []byte

func (c content) size() int64 { return int64(len(c)) }

// truncate cuts the content, or fills it up with zeros, to size bytes.
func (c *content) truncate(size int64, grow func(int64) error) error {
	if size < 0 {
		return fs.ErrInvalid
	}
	more := size - c.size()
	if err := grow(more); err != nil {
		return err
	}
	switch {
	case more > 0:
		*c = append(*c, make([]byte, more)...)
	case size < int64(cap(*c)/2): // a copy: the rest would be kept, and not count
		*c = bytes.Clone((*c)[:size])
	default:
		*c = (*c)[:size]
	}
	return nil
}

// writeAt replaces what is at off, and what lacks until there are zeros.
func (c *content) writeAt(p []byte, off int64, grow func(int64) error) error {
	if len(p) == 0 {
		return nil
	}
	end := off + int64(len(p))
	if end < off { // the sum wrapped
		return fs.ErrInvalid
	}
	if end > c.size() {
		if err := c.truncate(end, grow); err != nil {
			return err
		}
	}
	copy((*c)[off:], p)
	return nil
}
