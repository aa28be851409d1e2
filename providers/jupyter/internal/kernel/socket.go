package kernel

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

var errSocketClosed = errors.New("socket closed")

const (
	writeTimeout = 30 * time.Second

	// deadAfter is how long a socket may be silent, pings unanswered, before it counts as
	// lost. pingEvery is well below it, and below the idle limits of common proxies.
	deadAfter = 40 * time.Second
	pingEvery = 15 * time.Second
)

// A frame is what a socket receives.
type frame = wire.Frame

// A socket is one WebSocket connection to a kernel's channels, with one
// goroutine that reads and one that writes. It never reconnects: a Kernel
// replaces it.
type socket struct {
	ws   *websocket.Conn
	name string // ours to the server
	v1   bool
	out  chan []byte
	lost chan struct{} // closed when the connection failed or was closed
	once sync.Once
	err  error // why, after lost
	wg   sync.WaitGroup
}

// newSocket starts the goroutines. handle is called from the reader, one frame
// at a time, and may block; skipped is called for a message that could not be
// taken.
func newSocket(ws *websocket.Conn, name string, max int64, handle func(*frame) error, skipped func(error)) *socket {
	s := &socket{ws: ws, name: name, v1: ws.Subprotocol() == wire.ProtocolV1,
		out: make(chan []byte), lost: make(chan struct{})}
	// No limit of the library's, which ends the socket: a frame is read in pieces, and
	// what has to be held whole is bounded by max.
	ws.SetReadLimit(0)
	ws.SetPingHandler(s.pong)
	ws.SetPongHandler(func(string) error { return s.alive() })
	s.wg.Go(func() { s.fail(s.read(max, handle, skipped)) })
	s.wg.Go(func() { s.fail(s.write()) })
	return s
}

// send hands a message to the writer, unless done is closed first.
func (s *socket) send(done <-chan struct{}, data []byte) error {
	select {
	case <-done:
		return errSocketClosed
	case s.out <- data:
		return nil
	case <-s.lost:
		return s.err
	}
}

// fail ends the socket for a reason; only the first counts.
func (s *socket) fail(err error) {
	if s.lose(err) {
		s.ws.Close()
	}
}

// close ends the socket.
func (s *socket) close() {
	if s.lose(errSocketClosed) {
		_ = s.ws.WriteControl(websocket.CloseMessage,
			websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		s.ws.Close()
	}
}

// lose gives the reason for the end and reports whether it is the first. Who comes
// later does not wait until the socket is closed, which takes TLS up to five
// seconds where the other end does not read.
func (s *socket) lose(err error) (first bool) {
	s.once.Do(func() {
		s.err = err
		close(s.lost)
		first = true
	})
	return first
}

// leave is close, after the server has closed its end too: what it had sent was
// taken then. It reports whether that was within limit.
func (s *socket) leave(limit time.Duration) bool {
	_ = s.ws.WriteControl(websocket.CloseMessage,
		websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-s.lost:
	case <-t.C:
	}
	s.close()
	s.wait()
	_, closed := errors.AsType[*websocket.CloseError](s.err)
	return closed
}

// wait returns when the goroutines have ended. It must not be called from
// handle.
func (s *socket) wait() { s.wg.Wait() }

func (s *socket) read(max int64, handle func(*frame) error, skipped func(error)) (err error) {
	defer func() {
		// Frames come from programs too: one that a decoder fails at costs the socket
		// only.
		if p := recover(); p != nil {
			err = fmt.Errorf("reader failed: %v", p)
		}
	}()
	for {
		if err := s.alive(); err != nil {
			return err
		}
		typ, body, err := s.ws.NextReader()
		if err != nil {
			return err
		}
		r := slowReader{s, body}
		f, err := wire.ReadFrame(typ == websocket.BinaryMessage, r, s.v1, max)
		if err == nil {
			err = handle(f)
		}
		if err != nil {
			skipped(err)
		}
		// The rest of a frame that was not taken counts against no limit, and is not
		// held.
		if _, err := io.Copy(io.Discard, r); err != nil {
			return err
		}
		// Servers send the messages of a run in small packets, each of which would wait 40 ms
		// for a delayed acknowledgement: what is sent carries one.
		s.ack()
	}
}

// alive gives the server time until it has to show that it is there.
func (s *socket) alive() error { return s.ws.SetReadDeadline(time.Now().Add(deadAfter)) }

// A slowReader reads a frame, which may take long as long as anything comes.
type slowReader struct {
	s *socket
	r io.Reader
}

func (r slowReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err == nil {
		err = r.s.alive()
	}
	return n, err
}

// write sends what it is given, and a ping and a pong now and then: the ping
// makes the server show that it is there, and the pong shows the server that
// we are, also while the reader waits for a slow OnOutput.
func (s *socket) write() error {
	typ := websocket.TextMessage
	if s.v1 {
		typ = websocket.BinaryMessage
	}
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case data := <-s.out:
			if err := s.ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
				return err
			}
			if err := s.ws.WriteMessage(typ, data); err != nil {
				return err
			}
		case <-tick.C:
			soon := time.Now().Add(writeTimeout)
			if err := s.ws.WriteControl(websocket.PingMessage, nil, soon); err != nil {
				return err
			}
			s.ack()
		case <-s.lost:
			return s.err
		}
	}
}

// ack sends an unsolicited pong. That it could not be sent shows elsewhere.
func (s *socket) ack() {
	// Unlike WriteMessage, WriteControl may be called beside the writer.
	_ = s.ws.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
}

func (s *socket) pong(data string) error {
	// An error would end the reader, which may have more to read than can be written.
	_ = s.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	return s.alive()
}
