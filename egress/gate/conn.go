package gate

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

var errSpent = errors.New("the run has used all of its network bytes")

// A conn is a connection of a program, with what was read ahead of it.
type conn struct {
	net.Conn
	s       *Session
	r       *bufio.Reader
	target  atomic.Pointer[target] // nil until it is known
	serving atomic.Pointer[target] // of the request in the clear that is being served
	closing sync.Once
	done    chan struct{} // closed with it
}

// How much of a stream waits in a socket between two processes of this machine: more of it
// wakes them less often, but is copied by TCP when it has fallen out of the processor's
// caches. What waits in a pair of unix sockets is not copied.
const (
	tcpBuffer   = 512 << 10
	unixBuffer  = 2 << 20
	localBuffer = 600 << 10 // to read from a server of this machine
)

func newConn(nc net.Conn, s *Session) *conn {
	switch nc := nc.(type) {
	case *net.TCPConn:
		_ = nc.SetWriteBuffer(tcpBuffer)
	case *net.UnixConn:
		_ = nc.SetWriteBuffer(unixBuffer)
	}
	return &conn{Conn: nc, s: s, r: bufio.NewReaderSize(nc, 4<<10), done: make(chan struct{})}
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if !c.s.spend(n) {
		return n, errSpent
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if !c.s.spend(len(b)) {
		return 0, errSpent
	}
	return c.Conn.Write(b)
}

func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *conn) Close() error {
	c.closing.Do(func() {
		_ = c.Conn.Close()
		c.s.remove(c)
		close(c.done)
	})
	return nil
}

// unread puts bytes in front of what is still to be read, all of it in r's buffer.
func (c *conn) unread(b []byte) {
	rest, _ := c.r.Peek(c.r.Buffered())
	b = append(slices.Clone(b), rest...)
	c.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(b), c.Conn), max(len(b), 4<<10))
	_, _ = c.r.Peek(len(b))
}

func closeWrite(c net.Conn) error {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// A queue is a listener whose connections are put into it.
type queue struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newQueue() queue {
	done := make(chan struct{})
	return queue{make(chan net.Conn), done, sync.OnceFunc(func() { close(done) })}
}

func (q queue) put(c net.Conn) {
	select {
	case q.conns <- c:
	case <-q.done:
		_ = c.Close()
	}
}

func (q queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

func (q queue) Close() error {
	q.close()
	return nil
}

func (q queue) Addr() net.Addr { return &net.TCPAddr{} }
