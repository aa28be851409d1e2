package wasi

import (
	"encoding/binary"
)

// A Function is one of the interface.
type Function struct {
	// Params are its parameters: i for 32 bits, I for 64. It returns an Errno, unless
	// NoResult.
	Params   string
	NoResult bool
	call     func(*call) Errno
}

// Call calls the function for a module with the memory.
func (f Function) Call(s *System, memory []byte, args []uint64) Errno {
	c := &call{System: s, memory: memory, args: args}
	if e := f.call(c); e != 0 || !c.faulted {
		return e
	}
	return ErrnoFault
}

// A call is one that a module makes.
type call struct {
	*System
	memory  []byte
	args    []uint64
	faulted bool // an address was outside of the memory
}

func (c *call) u32(i int) uint32 { return uint32(c.args[i]) }

// at returns a part of the memory, nil where it is outside.
func (c *call) at(address, size uint32) []byte {
	if end := uint64(address) + uint64(size); end <= uint64(len(c.memory)) {
		return c.memory[address:end:end]
	}
	c.faulted = true
	return nil
}

func (c *call) put32(address, v uint32) {
	if b := c.at(address, 4); b != nil {
		binary.LittleEndian.PutUint32(b, v)
	}
}

func (c *call) put64(address uint32, v uint64) {
	if b := c.at(address, 8); b != nil {
		binary.LittleEndian.PutUint64(b, v)
	}
}

// buffers calls do for each of the buffers of a vector, until it returns false.
func (c *call) buffers(list, n uint32, do func([]byte) bool) {
	for ; n > 0; n-- {
		v := c.at(list, 8)
		if v == nil {
			return
		}
		b := c.at(binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[4:]))
		if b == nil || !do(b) {
			return
		}
		list += 8
	}
}
