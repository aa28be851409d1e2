package jupyter

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gorilla/websocket"
)

const (
	maxParts  = 1 << 12 // offsets in a frame: five parts and the buffers
	maxHeader = 1 << 20 // bytes of a header, parent or metadata
)

var errTooLarge = errors.New("message too large")

// A frame is a message that was received up to its content. The content's
// size is -1 where it is held in msg.Content already.
type frame struct {
	msg  message
	body io.Reader
	size int64
}

// content returns the whole content, errTooLarge where it exceeds max.
func (f *frame) content(max int64) ([]byte, error) {
	if f.size < 0 {
		return f.msg.Content, nil
	}
	if f.size > max {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, f.size)
	}
	b := make([]byte, f.size)
	_, err := io.ReadFull(f.body, b)
	return b, err
}

// readFrame reads one WebSocket message. v1 tells the binary subprotocol;
// without it text is JSON and binary is JSON with buffers.
func readFrame(typ int, r io.Reader, v1 bool, max int64) (*frame, error) {
	switch {
	case v1 && typ == websocket.BinaryMessage:
		return readV1(r)
	case typ == websocket.BinaryMessage:
		return readBuffered(r, max)
	}
	return readJSON(r, max)
}

// readV1 reads a message of the binary subprotocol: the number of offsets, the
// offsets of its parts and of the end, and the parts: channel, header, parent,
// metadata, content, buffers.
func readV1(r io.Reader) (*frame, error) {
	offs, err := readOffsets(r, binary.LittleEndian, 8)
	if err != nil {
		return nil, err
	}
	if len(offs) < 6 || offs[0] != 8*(1+uint64(len(offs))) {
		return nil, fmt.Errorf("frame with %d offsets", len(offs))
	}
	f := &frame{body: r}
	for i := range 4 {
		n := offs[i+1] - offs[i]
		if n > maxHeader {
			return nil, fmt.Errorf("frame part of %d bytes", n)
		}
		part := make([]byte, n)
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
		if err := f.part(i, part); err != nil {
			return nil, err
		}
	}
	f.size = int64(offs[5] - offs[4])
	f.body = io.LimitReader(r, f.size)
	return f, nil
}

func (f *frame) part(i int, b []byte) error {
	switch i {
	case 0:
		f.msg.Channel = string(b)
	case 1:
		return json.Unmarshal(b, &f.msg.Header)
	case 2:
		return json.Unmarshal(b, &f.msg.Parent)
	}
	return nil
}

// readOffsets reads a count and as many offsets, of width bytes each, and
// checks that they grow.
func readOffsets(r io.Reader, order binary.ByteOrder, width int) ([]uint64, error) {
	var word [8]byte
	next := func() (uint64, error) {
		if _, err := io.ReadFull(r, word[:width]); err != nil {
			return 0, err
		}
		if width == 4 {
			return uint64(order.Uint32(word[:])), nil
		}
		return order.Uint64(word[:]), nil
	}
	n, err := next()
	if err != nil {
		return nil, err
	}
	if n == 0 || n > maxParts {
		return nil, fmt.Errorf("frame with %d parts", n)
	}
	offs := make([]uint64, n)
	for i := range offs {
		if offs[i], err = next(); err != nil {
			return nil, err
		}
		if offs[i] > 1<<50 || i > 0 && offs[i] < offs[i-1] {
			return nil, errors.New("frame with offsets out of order")
		}
	}
	return offs, nil
}

// readBuffered reads the older binary form: the number of parts, their
// offsets, the message as JSON, and the buffers.
func readBuffered(r io.Reader, max int64) (*frame, error) {
	offs, err := readOffsets(r, binary.BigEndian, 4)
	if err != nil {
		return nil, err
	}
	if offs[0] != 4*(1+uint64(len(offs))) {
		return nil, errors.New("frame with a wrong first offset")
	}
	if len(offs) > 1 {
		r = io.LimitReader(r, int64(offs[1]-offs[0]))
	}
	return readJSON(r, max)
}

func readJSON(r io.Reader, max int64) (*frame, error) {
	b, err := io.ReadAll(io.LimitReader(r, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, errTooLarge
	}
	f := &frame{size: -1}
	if err := json.Unmarshal(b, &f.msg); err != nil {
		return nil, err
	}
	return f, nil
}

// encode makes the WebSocket message of a request.
func encode(v1 bool, channel string, h header, content any) (typ int, data []byte, err error) {
	body, err := json.Marshal(content)
	if err != nil {
		return 0, nil, err
	}
	if !v1 {
		data, err = json.Marshal(map[string]any{
			"channel": channel, "header": h, "parent_header": struct{}{}, "metadata": struct{}{},
			"content": json.RawMessage(body), "buffers": []any{},
		})
		return websocket.TextMessage, data, err
	}
	head, err := json.Marshal(h)
	if err != nil {
		return 0, nil, err
	}
	parts := [][]byte{[]byte(channel), head, []byte("{}"), []byte("{}"), body}
	off := uint64(8 * (2 + len(parts)))
	data = binary.LittleEndian.AppendUint64(nil, uint64(len(parts)+1))
	for _, p := range parts {
		data = binary.LittleEndian.AppendUint64(data, off)
		off += uint64(len(p))
	}
	data = binary.LittleEndian.AppendUint64(data, off)
	for _, p := range parts {
		data = append(data, p...)
	}
	return websocket.BinaryMessage, data, nil
}
