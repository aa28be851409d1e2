package quickjs

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math"
)

// errTooLarge is why something was not unpacked: a small text can unpack to
// more than there is memory.
const errTooLarge = "the data would be larger than half of the memory limit"

// hostZip packs or unpacks bytes: its arguments are gzip, gunzip, deflate,
// inflate, deflateRaw or inflateRaw, the bytes, and the level.
func (in *instance) hostZip(_ value, args []value) value {
	op, _, ok := in.vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	data, ok := in.vm.span(args[1])
	if !ok {
		return in.vm.throw("TypeError", "zlib needs bytes")
	}
	level := flate.DefaultCompression
	if n, ok := number(args[2]); ok && n >= -1 && n <= 9 {
		level = int(n)
	}
	out, err := in.zip(op, data, level)
	if in.vm.stopping.Load() || in.stop.Err() != nil {
		return in.resume(undefined)
	}
	switch {
	case errors.Is(err, errBorrow):
		return exception
	case errors.Is(err, errMuch):
		return in.vm.throwWith("RangeError", errTooLarge, map[string]string{"code": "ERR_BUFFER_TOO_LARGE"})
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return in.vm.throwWith("Error", "unexpected end of file", map[string]string{"code": "Z_BUF_ERROR"})
	case err != nil:
		return in.vm.throwWith("Error", "incorrect header check or data", map[string]string{"code": "Z_DATA_ERROR"})
	}
	return in.resume(in.vm.newBytes(out))
}

func (in *instance) zip(op string, data span, level int) ([]byte, error) {
	out := &zipOutput{draft{vm: in.vm}, int(min(in.config.Limits.Memory/2, math.MaxInt))}
	from := &pieceReader{in.vm, data}
	var w io.WriteCloser
	var r io.Reader
	var err error
	switch op {
	case "gzip":
		w, err = gzip.NewWriterLevel(out, level)
	case "deflate":
		w, err = zlib.NewWriterLevel(out, level)
	case "deflateRaw":
		w, err = flate.NewWriter(out, level)
	case "gunzip":
		if data.n > 1 && !bytes.Equal(span{data.addr, 2}.bytes(), []byte{0x1f, 0x8b}) {
			return nil, gzip.ErrHeader
		}
		r, err = gzip.NewReader(from)
	case "inflate":
		r, err = zlib.NewReader(from)
	default:
		r = flate.NewReader(from)
	}
	if err != nil {
		return nil, err
	}
	if w == nil {
		_, err = io.Copy(out, r)
		return out.b, err
	}
	if _, err = io.Copy(w, from); err == nil {
		err = w.Close()
	}
	return out.b, err
}

// errBorrow tells that an exception is pending, errMuch that one is to be thrown, and
// errStopped that the program has to end.
var (
	errBorrow  = errors.New("out of memory")
	errMuch    = errors.New("decompressed data exceeds the limit")
	errStopped = errors.New("stopped")
)

// A pieceReader reads a span, as long as the program may go on: what is unpacked
// can be much without there being any output.
type pieceReader struct {
	vm   *vm
	left span
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if r.vm.stopping.Load() {
		return 0, errStopped
	}
	if r.left.n == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), small)], r.left.raw())
	r.left = r.left.from(n)
	return n, nil
}

// A zipOutput is what comes of packing or unpacking, at most so many bytes.
type zipOutput struct {
	draft
	most int
}

func (u *zipOutput) Write(p []byte) (int, error) {
	switch {
	case u.vm.stopping.Load():
		return 0, errStopped
	case len(u.b)+len(p) > u.most:
		return 0, errMuch
	case !u.grow(len(p)) && u.vm.heap.others:
		return 0, errBorrow // the program may have so much, and there is not as much
	case cap(u.b)-len(u.b) < len(p):
		u.vm.dropException() // of a string's length
		return 0, errMuch
	}
	u.b = append(u.b, p...)
	return len(p), nil
}
