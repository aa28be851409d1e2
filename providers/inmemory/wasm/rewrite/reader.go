package rewrite

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrModule: the module is damaged, or it has what is not supported.
var ErrModule = errors.New("wasm: invalid or unsupported module")

// A reader reads a part of a module. After the first fault it reads zeros.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrModule, fmt.Sprintf(format, args...))
	}
	r.at = len(r.b)
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.b) }

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.fail("it ends early")
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail("it ends early")
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at : r.at]
}

// u32 reads an unsigned number of at most five bytes.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v>>32 != 0 {
				break
			}
			return uint32(v)
		}
	}
	r.fail("a number is too long")
	return 0
}

// signed reads a signed number of so many bits at most.
func (r *reader) signed(size int) int64 {
	var v int64
	for shift := 0; shift < size; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if c&0x40 != 0 && shift+7 < 64 {
			v |= -1 << (shift + 7)
		}
		if bits.Len64(uint64(v^v>>63)) >= size {
			break
		}
		return v
	}
	r.fail("a number is too long")
	return 0
}

// count reads how many items follow, each of which takes a byte at least.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail("it ends early")
		return 0
	}
	return n
}

func (r *reader) name() string { return string(r.take(r.u32())) }

// code is a part of a module that is being made.
type code []byte

func (c code) u32(v uint32) code {
	for v >= 0x80 {
		c = append(c, byte(v)|0x80)
		v >>= 7
	}
	return append(c, byte(v))
}

func (c code) s32(v int32) code {
	for v < -0x40 || v >= 0x40 {
		c = append(c, byte(v)|0x80)
		v >>= 7
	}
	return append(c, byte(v)&0x7f)
}

func (c code) ops(ops ...byte) code { return append(c, ops...) }

func (c code) index(op byte, i uint32) code { return append(c, op).u32(i) }

func (c code) number(v int32) code { return append(c, opI32Const).s32(v) }

// sized appends a part with its size before it.
func (c code) sized(part []byte) code { return append(c.u32(uint32(len(part))), part...) }
