package subprocess

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

const (
	// maxFrame bounds what a driver may send in one frame.
	maxFrame = 64 << 20

	// maxFields bounds the fields of a frame: an empty one costs the host three
	// times what it costs the sender.
	maxFields = 256

	// digits is the width of every length, in hexadecimal.
	digits = 8

	// maxPause bounds the time from a frame's length to its last byte, and again
	// from when there is room for it.
	maxPause = time.Minute

	// step is how much memory a frame gets before there is room for it.
	step = 1 << 20
)

// Frames to the driver.
const (
	frameConfigure = 'C' // "once" or "", then names and values of the environment
	frameRun       = 'R' // seq, code, path of stdin or "", names and values
	frameNames     = 'N' // names of the functions that programs can call
	frameAnswer    = 'V' // id of the call, "ok", "error" or, where it ended with its run, "ended", result as JSON or message
	frameAck       = 'A' // number of the frame
	frameInterrupt = 'I' // seq
	frameSignaled  = 'K' // seq: a SIGINT was sent
	framePreload   = 'M' // modules
	frameComplete  = 'O' // number, source of the completer, code, cursor
	frameFork      = 'F' // id, then the fields of sandbox.Layer, then the environment
)

// Frames from the driver.
const (
	frameHello     = 'H' // version of the runtime
	frameReady     = 'Y' // files of the preloaded modules, separated by NUL
	frameShow      = 'D' // seq, number, kind, display id, metadata, value, then MIME types and data
	frameCall      = 'Q' // seq, id, name, arguments as JSON
	frameLate      = 'L' // "stdout" or "stderr", bytes
	frameTruncated = 'T' // kind, bytes
	frameCompleted = 'B' // number, start, end, matches
	frameForked    = 'P' // id, pid
	frameWaited    = 'W' // pid, wait status
	frameDone      = 'Z' // seq, how, exit code, name, message, line, module, traceback, bytes left out of these
)

// A frame is one message of the control channel: its type and its fields.
//
//	length  8 hexadecimal digits: the bytes that follow
//	type    1 byte
//	fields  each 8 hexadecimal digits of length, then its bytes
type frame struct {
	kind   byte
	fields [][]byte
	free   func() // gives back the room that it takes; nil where that is little
}

// release gives back the room that the frame takes: nothing keeps its memory
// any more, or the output does.
func (f *frame) release() {
	if f.free != nil {
		f.free()
		f.free = nil
	}
}

// field returns field i, nil where there is none.
func (f *frame) field(i int) []byte {
	if i < len(f.fields) {
		return f.fields[i]
	}
	return nil
}

// number returns field i as a decimal number, -1 where it is none.
func (f *frame) number(i int) int {
	n, err := strconv.Atoi(string(f.field(i)))
	if err != nil {
		return -1
	}
	return n
}

// encode returns the frame's bytes.
func encode(kind byte, fields ...string) []byte {
	size := 1
	for _, s := range fields {
		size += digits + len(s)
	}
	b := append(appendLength(make([]byte, 0, digits+size), size), kind)
	for _, s := range fields {
		b = append(appendLength(b, len(s)), s...)
	}
	return b
}

func appendLength(b []byte, n int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[n>>shift&15])
	}
	return b
}

var errFrame = errors.New("the driver sent what is no frame")

// A reserver is where room for a large frame comes from.
type reserver interface {
	// room waits for room for n bytes of a frame, and takes it. What has come
	// of the frame is to be added to c.
	room(n int) (c *coming, free func(), err error)
	// arrived is called when the frame has come, or with why it will not. It
	// returns why instead, where it knows better.
	arrived(c *coming, err error) error
}

// readFrame reads one frame. It returns io.EOF at the end. Beyond the first step
// bytes it takes no memory that room does not give; without room, no frame is
// longer.
func readFrame(r io.Reader, room reserver) (frame, error) {
	var head [digits]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n, ok := length(head[:])
	if !ok || n < 1 || n > maxFrame {
		return frame{}, fmt.Errorf("%w: length %q", errFrame, head)
	}
	// Between frames a driver may be silent for ever, within one it may not.
	if b, ok := r.(interface{ Buffered() int }); !ok || b.Buffered() < n {
		allow(r, maxPause)
		defer allow(r, 0)
	}
	body, free, err := readN(r, n, room)
	if err != nil {
		return frame{}, err
	}
	f := frame{kind: body[0], free: free}
	if err := f.split(body[1:]); err != nil {
		f.release()
		return frame{}, err
	}
	return f, nil
}

// A reader reads a driver's frames, of which several may come at once.
type reader struct {
	*bufio.Reader
	from *os.File
}

func newReader(from *os.File) *reader { return &reader{bufio.NewReader(from), from} }

func (r *reader) SetReadDeadline(t time.Time) error { return r.from.SetReadDeadline(t) }

// hasFrame reports whether all of the next frame has been read from the channel,
// so that readFrame does not wait.
func (r *reader) hasFrame() bool {
	head, _ := r.Peek(min(digits, r.Buffered()))
	n, ok := length(head)
	return ok && r.Buffered() >= digits+n
}

// allow bounds the time of reading, where r can do that. Zero means for ever.
func allow(r io.Reader, d time.Duration) {
	var end time.Time
	if d > 0 {
		end = time.Now().Add(d)
	}
	if r, ok := r.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = r.SetReadDeadline(end)
	}
}

// split finds the fields.
func (f *frame) split(rest []byte) error {
	for len(rest) > 0 {
		n, ok := length(rest)
		if !ok || n > len(rest)-digits {
			return fmt.Errorf("%w: a field of it ends outside", errFrame)
		}
		if len(f.fields) == maxFields {
			return fmt.Errorf("%w: more than %d fields", errFrame, maxFields)
		}
		// Capped: an append to one field, as lateQueue makes, must not overwrite the
		// next.
		f.fields = append(f.fields, rest[digits:digits+n:digits+n])
		rest = rest[digits+n:]
	}
	return nil
}

// readN reads n bytes: a first step, and the rest once there is room for it.
func readN(r io.Reader, n int, room reserver) (b []byte, free func(), err error) {
	head := make([]byte, min(n, step))
	if got, err := io.ReadFull(r, head); err != nil || n <= step {
		return head, nil, cut(head[:got], err)
	}
	if room == nil {
		return nil, nil, fmt.Errorf("%w: %d bytes", errFrame, n)
	}
	c, free, err := room.room(n)
	if err != nil {
		return nil, nil, err
	}
	allow(r, maxPause) // again: that it waited is not the driver's fault
	b = make([]byte, n)
	for at := copy(b, head); at < n && err == nil; {
		var more int
		more, err = io.ReadFull(r, b[at:min(at+step, n)])
		at += more
		c.bytes.Add(int64(more))
	}
	if err = room.arrived(c, cut(b, err)); err != nil {
		free()
		return nil, nil, err
	}
	return b, free, nil
}

// cut is the error of a frame that has come to its end after b, too early. A
// call that was cut, as by the end of a program whose job was calling, has lost
// nothing.
func cut(b []byte, err error) error {
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if len(b) > 0 && b[0] == frameCall {
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

// length reads the lower-case hexadecimal digits at the head of b.
func length(b []byte) (int, bool) {
	if len(b) < digits {
		return 0, false
	}
	n := 0
	for _, c := range b[:digits] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		n = n<<4 | int(c)
	}
	return n, n <= maxFrame
}
