// Package frames reads and writes the frames between the host and a driver, within
// bounds on what a driver can make the host hold in memory.
package frames

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxFrame bounds what a driver may send in one frame.
	maxFrame = 64 << 20

	// maxFields bounds the fields of a frame: an empty one costs the host three
	// times what it costs the sender.
	maxFields = 256

	// Digits is the width of every length, in hexadecimal.
	Digits = 8

	// maxPause bounds the time from a frame's length to its last byte, and again
	// from when there is room for it.
	maxPause = 30 * time.Second

	// step is how much memory a frame gets before there is room for it.
	step = 1 << 20
)

// Kinds of frames to the driver.
const (
	Configure = 'C' // "once" or "", then names and values of the environment
	Run       = 'R' // seq, code, path of stdin or "", names and values
	Names     = 'N' // names of the functions that programs can call
	Answer    = 'V' // id of the call, "ok", "error" or, where it ended with its run, "ended", result as JSON or message
	Ack       = 'A' // number of the frame
	Interrupt = 'I' // seq
	Signaled  = 'K' // seq: a SIGINT was sent
	Preload   = 'M' // modules
	Complete  = 'O' // number, source of the completer, code, cursor
	Fork      = 'F' // number, group, directory, that of the original or "", environment, a sandbox.Layer as JSON
)

// Kinds of frames from the driver.
const (
	Hello     = 'H' // version of the runtime
	Ready     = 'Y' // files of the preloaded modules, separated by NUL
	Show      = 'D' // seq, number, kind, display id, metadata, value, then MIME types and data
	Call      = 'Q' // seq, id, name, arguments as JSON
	Late      = 'L' // "stdout" or "stderr", bytes
	Truncated = 'T' // kind, bytes
	Completed = 'B' // number, start, end, matches
	Forked    = 'P' // pid or 0, number
	Waited    = 'W' // pid, wait status
	Done      = 'Z' // seq, how, exit code, name, message, line, module, traceback, bytes left out of these
)

// A Frame is one message of the control channel: its type and its fields.
//
//	length  8 hexadecimal Digits: the bytes that follow
//	type    1 byte
//	fields  each 8 hexadecimal Digits of length, then its bytes
type Frame struct {
	Kind   byte
	fields [][]byte
	free   func() // gives back the room that it takes; nil where that is little
}

// Release gives back the room that the frame takes: nothing keeps its memory
// any more, or the output does.
func (f *Frame) Release() {
	if f.free != nil {
		f.free()
		f.free = nil
	}
}

// Len returns how many fields there are.
func (f *Frame) Len() int { return len(f.fields) }

// Field returns field i, or nil.
func (f *Frame) Field(i int) []byte {
	if i < len(f.fields) {
		return f.fields[i]
	}
	return nil
}

// Number returns field i as a decimal number, -1 where it is none.
func (f *Frame) Number(i int) int {
	n, err := strconv.Atoi(string(f.Field(i)))
	if err != nil {
		return -1
	}
	return n
}

// Encode returns the bytes of a frame.
func Encode(kind byte, fields ...string) []byte {
	size := 1
	for _, s := range fields {
		size += Digits + len(s)
	}
	b := append(appendLength(make([]byte, 0, Digits+size), size), kind)
	for _, s := range fields {
		b = append(appendLength(b, len(s)), s...)
	}
	return b
}

func appendLength(b []byte, n int) []byte {
	for shift := 4 * (Digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[n>>shift&15])
	}
	return b
}

// ErrFrame is the error of bytes that are no frame, or of one with a wrong content.
var ErrFrame = errors.New("the driver sent what is no frame")

// NewRoom returns the room for large frames that the processes of a provider share: that of
// two of the largest. Each frame has step bytes beside.
func NewRoom() *semaphore.Weighted { return semaphore.NewWeighted(2 * maxFrame) }

// Read reads one frame. It returns io.EOF at the end. A frame of more than step bytes is
// read when take, which waits for room, has returned.
func Read(r io.Reader, take func(n int) (free func(), err error)) (Frame, error) {
	var head [Digits]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n, ok := Length(head[:])
	if !ok || n < 1 || n > maxFrame {
		return Frame{}, fmt.Errorf("%w: length %q", ErrFrame, head)
	}
	// Between frames a driver may be silent for ever, within one it may not.
	if b, ok := r.(interface{ Buffered() int }); !ok || b.Buffered() < n {
		allow(r, maxPause)
		defer allow(r, 0)
	}
	body, free, err := readN(r, n, take)
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: body[0], free: free}
	if err := f.split(body[1:]); err != nil {
		f.Release()
		return Frame{}, err
	}
	return f, nil
}

// Parse returns the frame that is all of b, which it keeps.
func Parse(b []byte) (Frame, error) {
	n, ok := Length(b)
	if !ok || n < 1 || n != len(b)-Digits {
		return Frame{}, fmt.Errorf("%w: %d bytes", ErrFrame, len(b))
	}
	f := Frame{Kind: b[Digits]}
	return f, f.split(b[Digits+1:])
}

// A Reader reads a driver's frames, of which several may come at once.
type Reader struct {
	*bufio.Reader
	from *os.File
}

func NewReader(from *os.File) *Reader { return &Reader{bufio.NewReader(from), from} }

func (r *Reader) SetReadDeadline(t time.Time) error { return r.from.SetReadDeadline(t) }

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
func (f *Frame) split(rest []byte) error {
	for len(rest) > 0 {
		n, ok := Length(rest)
		if !ok || n > len(rest)-Digits {
			return fmt.Errorf("%w: a field of it ends outside", ErrFrame)
		}
		if len(f.fields) == maxFields {
			return fmt.Errorf("%w: more than %d fields", ErrFrame, maxFields)
		}
		// Capped: an append to one field must not overwrite the next.
		f.fields = append(f.fields, rest[Digits:Digits+n:Digits+n])
		rest = rest[Digits+n:]
	}
	return nil
}

// readN reads n bytes: a first step, and the rest once there is room for it.
func readN(r io.Reader, n int, take func(n int) (func(), error)) (b []byte, free func(), err error) {
	head := make([]byte, min(n, step))
	if got, err := io.ReadFull(r, head); err != nil || n <= step {
		return head, nil, cut(head[:got], err)
	}
	free, err = take(n)
	if err != nil {
		return nil, nil, err
	}
	allow(r, maxPause) // again: the driver did not cause the wait
	b = make([]byte, n)
	got := copy(b, head)
	more, err := io.ReadFull(r, b[got:])
	if err != nil {
		free()
		return nil, nil, cut(b[:got+more], err)
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
	if len(b) > 0 && b[0] == Call {
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

// Length reads the lower-case hexadecimal Digits at the head of b.
func Length(b []byte) (int, bool) {
	if len(b) < Digits {
		return 0, false
	}
	n := 0
	for _, c := range b[:Digits] {
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
