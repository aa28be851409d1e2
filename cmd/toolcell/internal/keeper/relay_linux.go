package keeper

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// A relay is the keeper's end of a call that has begun.
type relay struct {
	conn    *net.UnixConn
	seen    [3]bool
	written [3]chan error
	input   chan input
	gone    <-chan struct{} // closed with the connection
	sending sync.Mutex
}

type input struct {
	b   []byte
	err error
}

// newRelay listens to the caller. The context ends when the program is to.
func newRelay(conn *net.UnixConn, in *bufio.Reader, seen [3]bool) (*relay, context.Context) {
	gone := make(chan struct{})
	r := &relay{conn: conn, seen: seen, input: make(chan input, 1), gone: gone}
	for i := range r.written {
		r.written[i] = make(chan error, 1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(gone)
		defer cancel()
		for r.receive(in, cancel) == nil {
		}
		conn.Close()
	}()
	return r, ctx
}

// receive takes one frame. Of answers nobody has more than one to get.
func (r *relay) receive(in *bufio.Reader, cancel func()) error {
	kind, body, err := readFrame(in, maxPiece+1024)
	if err != nil {
		return err
	}
	answered := false
	switch {
	case kind == frameCancel:
		cancel()
		return nil
	case kind == frameWritten && len(body) > 0 && (body[0] == 1 || body[0] == 2):
		answered = offer(r.written[body[0]], unpack(body[1:]))
	case kind == frameInput:
		answered = offer(r.input, input{b: body})
	case kind == frameEnd:
		answered = offer(r.input, input{err: unpack(body)})
	}
	if !answered {
		return errFrame
	}
	return nil
}

func offer[T any](to chan T, v T) bool {
	select {
	case to <- v:
		return true
	default:
		return false
	}
}

func (r *relay) send(kind byte, parts ...[]byte) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	_ = r.conn.SetWriteDeadline(time.Now().Add(maxSend))
	err := writeFrame(r.conn, kind, parts...)
	if err != nil {
		r.conn.Close() // a part of a frame may be out
	}
	return err
}

func (r *relay) exit(code int) { _ = r.send(frameExit, []byte{byte(code)}) }

func (r *relay) streams() Streams {
	return Streams{
		In: &reader{relay: r}, Out: &writer{relay: r, number: 1}, Err: &writer{relay: r, number: 2},
	}
}

// A writer is a stream of the caller's. What is written is, once Write returns.
type writer struct {
	relay  *relay
	number byte
	mu     sync.Mutex
}

func (w *writer) Write(b []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n < len(b) {
		piece := b[n:min(len(b), n+maxPiece)]
		if w.relay.send(frameWrite, []byte{w.number}, piece) != nil {
			return n, syscall.EPIPE
		}
		select {
		case err = <-w.relay.written[w.number]:
		case <-w.relay.gone:
			err = syscall.EPIPE
		}
		if err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// IsTerminal reports whether the caller's stream is one.
func (w *writer) IsTerminal() bool { return w.relay.seen[w.number] }

// A reader is the caller's standard input, which is read as far as is wanted here.
type reader struct {
	relay *relay
	mu    sync.Mutex
}

func (r *reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	want := min(len(b), maxPiece)
	if r.relay.send(frameRead, []byte{byte(want >> 8), byte(want)}) != nil {
		return 0, io.ErrUnexpectedEOF
	}
	select {
	case in := <-r.relay.input:
		if len(in.b) > want {
			return 0, errFrame
		}
		return copy(b, in.b), in.err
	case <-r.relay.gone:
		return 0, errors.New("the caller is gone")
	}
}

// IsTerminal reports whether the caller's stream is one.
func (r *reader) IsTerminal() bool { return r.relay.seen[0] }
