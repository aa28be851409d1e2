package keeper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The frames: four bytes with the length of the rest, one with the kind, and the
// rest.
const (
	frameOrder   = 'Q' // caller: an Order as JSON
	frameReady   = 'Y' // keeper: the call is taken, and begins with Go
	frameRefused = 'N' // keeper: it is not, and why
	frameGo      = 'G' // caller: begin
	frameWrite   = 'W' // keeper: a stream's number, bytes to write
	frameWritten = 'A' // caller: a stream's number, an error or nothing
	frameRead    = 'R' // keeper: how much to read of the standard input
	frameInput   = 'D' // caller: what was read
	frameEnd     = 'F' // caller: why nothing more was
	frameCancel  = 'C' // caller: end the program
	frameExit    = 'E' // keeper: the exit code
)

var errFrame = errors.New("a frame that makes no sense")

func writeFrame(w io.Writer, kind byte, parts ...[]byte) error {
	n := 1
	for _, p := range parts {
		n += len(p)
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+n), uint32(n))
	b = append(b, kind)
	for _, p := range parts {
		b = append(b, p...)
	}
	_, err := w.Write(b)
	return err
}

func readFrame(r io.Reader, limit int) (kind byte, body []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || int64(n) > int64(limit) {
		return 0, nil, fmt.Errorf("%w: of %d bytes", errFrame, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, err
	}
	return b[0], b[1:], nil
}
