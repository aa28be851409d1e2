//go:build !(386 || arm || s390x)

package quickjs

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"hash/crc32"
	"io"
)

// errTooLarge is why something was not unpacked: a small text can unpack to
// more than there is memory.
var errTooLarge = errors.New("the unpacked data is larger than half of the memory limit")

// hostZip packs or unpacks bytes: its arguments are gzip, gunzip, deflate,
// inflate, deflateRaw or inflateRaw, the bytes, and the level.
func (in *instance) hostZip(_ value, args []value) value {
	op, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	data, ok := in.vm.bytes(args[1])
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
	case errors.Is(err, errTooLarge):
		return in.vm.throwWith("RangeError", err.Error(), map[string]string{"code": "ERR_BUFFER_TOO_LARGE"})
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return in.vm.throwWith("Error", "unexpected end of file", map[string]string{"code": "Z_BUF_ERROR"})
	case err != nil:
		return in.vm.throwWith("Error", "incorrect header check or data", map[string]string{"code": "Z_DATA_ERROR"})
	}
	return in.resume(in.vm.newBytes(out))
}

func (in *instance) zip(op string, data []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	var w io.WriteCloser
	var r io.Reader
	var err error
	switch op {
	case "gzip":
		w, err = gzip.NewWriterLevel(&b, level)
	case "deflate":
		w, err = zlib.NewWriterLevel(&b, level)
	case "deflateRaw":
		w, err = flate.NewWriter(&b, level)
	case "gunzip":
		if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) && len(data) > 1 {
			return nil, gzip.ErrHeader
		}
		r, err = gzip.NewReader(bytes.NewReader(data))
	case "inflate":
		r, err = zlib.NewReader(bytes.NewReader(data))
	default:
		r = flate.NewReader(bytes.NewReader(data))
	}
	if err != nil {
		return nil, err
	}
	if w == nil {
		return in.unpack(r)
	}
	for len(data) > 0 && in.stop.Err() == nil {
		n := min(len(data), pieceSize)
		if _, err := w.Write(data[:n]); err != nil {
			return nil, err
		}
		data = data[n:]
	}
	err = w.Close()
	return b.Bytes(), err
}

// unpack reads all of r, as long as the program may go on and memory is left.
func (in *instance) unpack(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	for in.stop.Err() == nil {
		_, err := io.CopyN(&b, r, pieceSize)
		if err == io.EOF {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		if int64(b.Len()) > in.config.Limits.Memory/2 {
			return nil, errTooLarge
		}
	}
	return nil, nil
}

func (in *instance) hostCRC32(_ value, args []value) value {
	data, ok := in.vm.bytes(args[0])
	if !ok {
		return in.vm.throw("TypeError", "crc32 needs bytes")
	}
	start, _ := number(args[1])
	return newNumber(float64(crc32.Update(uint32(int64(start)), crc32.IEEETable, data)))
}
