package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/toolcell/toolcell/internal/jsontally"
)

// ProtocolV1 is the binary subprotocol of Jupyter's kernel sockets.
const ProtocolV1 = "v1.kernel.websocket.jupyter.org"

const (
	maxParts = 1 << 12 // offsets in a frame: five parts and the buffers
	// MaxHeader bounds the bytes of a header, parent or metadata.
	MaxHeader = 1 << 20
	// maxMembers is how many members the objects and arrays of a content may have: one of
	// two bytes can take forty times as much once it is decoded.
	maxMembers = 2 << 20
)

// ErrTooLarge is a message that must be held whole and exceeds the limit.
var ErrTooLarge = errors.New("message too large")

// A Frame is a message that was received up to its content. The content's
// size is -1 if it is held in msg.Content already.
type Frame struct {
	Msg  Message
	Body io.Reader
	Size int64
}

// Content returns the whole content, ErrTooLarge where it exceeds max, or would
// exceed it by far once it is decoded.
func (f *Frame) Content(max int64) ([]byte, error) {
	b := []byte(f.Msg.Content)
	if f.Size > max {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, f.Size)
	}
	if f.Size >= 0 {
		b = make([]byte, f.Size)
		if _, err := io.ReadFull(f.Body, b); err != nil {
			return nil, err
		}
	}
	if jsontally.Members(b) > maxMembers {
		return nil, fmt.Errorf("%w: more than %d members", ErrTooLarge, maxMembers)
	}
	return b, nil
}

// ReadFrame reads one WebSocket message, binary or text. v1 says the binary
// subprotocol; without it messages are JSON text.
func ReadFrame(binary bool, r io.Reader, v1 bool, max int64) (*Frame, error) {
	switch {
	case v1 && binary:
		return readV1(r)
	case binary: // a message with buffers, which only widgets send
		return &Frame{Size: -1}, nil
	}
	return readJSON(r, max)
}

// readV1 reads a message of the binary subprotocol: the number of offsets, the
// offsets of its parts and of the end, and the parts: channel, header, parent,
// metadata, content, buffers.
func readV1(r io.Reader) (*Frame, error) {
	offs, err := readOffsets(r)
	if err != nil {
		return nil, err
	}
	if len(offs) < 6 || offs[0] != 8*(1+uint64(len(offs))) {
		return nil, fmt.Errorf("frame with %d offsets", len(offs))
	}
	f := &Frame{Body: r}
	for i := range 4 {
		// It cannot wrap: readOffsets has seen that they grow.
		n := offs[i+1] - offs[i]
		if n > MaxHeader {
			return nil, fmt.Errorf("frame part of %d bytes", n)
		}
		part := make([]byte, n)
		if _, err = io.ReadFull(r, part); err != nil {
			return nil, err
		}
		switch i {
		case 0:
			f.Msg.Channel = string(part)
		case 1:
			err = json.Unmarshal(part, &f.Msg.Header)
		case 2:
			err = json.Unmarshal(part, &f.Msg.Parent)
		}
		if err != nil {
			return nil, err
		}
	}
	f.Size = int64(offs[5] - offs[4])
	f.Body = io.LimitReader(r, f.Size)
	return f, nil
}

// readOffsets reads a count and as many offsets, and checks that they grow.
func readOffsets(r io.Reader) ([]uint64, error) {
	var n uint64
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return nil, err
	}
	if n == 0 || n > maxParts {
		return nil, fmt.Errorf("frame with %d parts", n)
	}
	offs := make([]uint64, n)
	if err := binary.Read(r, binary.LittleEndian, offs); err != nil {
		return nil, err
	}
	// 2^50 is more than anybody sends, and leaves room for sums in an int64.
	if !slices.IsSorted(offs) || offs[n-1] > 1<<50 {
		return nil, errors.New("frame with offsets out of order")
	}
	return offs, nil
}

func readJSON(r io.Reader, max int64) (*Frame, error) {
	// One byte more shows whether it was cut.
	b, err := io.ReadAll(io.LimitReader(r, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, ErrTooLarge
	}
	f := &Frame{Size: -1}
	return f, json.Unmarshal(b, &f.Msg)
}

// Encode makes the WebSocket message of a request: binary where v1 is set, and
// text else.
func Encode(v1 bool, channel string, h Header, content any) ([]byte, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	if !v1 {
		return json.Marshal(map[string]any{
			"channel": channel, "header": h, "parent_header": struct{}{}, "metadata": struct{}{},
			"content": json.RawMessage(body), "buffers": []any{},
		})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{[]byte(channel), head, []byte("{}"), []byte("{}"), body}
	off := uint64(8 * (2 + len(parts)))
	data := binary.LittleEndian.AppendUint64(nil, uint64(len(parts)+1))
	for _, p := range parts {
		data = binary.LittleEndian.AppendUint64(data, off)
		off += uint64(len(p))
	}
	data = binary.LittleEndian.AppendUint64(data, off)
	for _, p := range parts {
		data = append(data, p...)
	}
	return data, nil
}
