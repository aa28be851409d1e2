package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

var writeBuffers = &sync.Pool{}

const (
	// deadAfter is how long a socket may be silent, pings unanswered, before
	// it counts as lost. PingEvery is well below it, and below the idle limits
	// of common proxies.
	deadAfter = 40 * time.Second

	// PingEvery is the time between two pings.
	PingEvery = 15 * time.Second

	socketBuffer = 8 << 10

	// maxHandshake bounds the bytes of a handshake, TLS and proxies included.
	maxHandshake = 1 << 20
)

var errHandshake = fmt.Errorf("an answer of more than %d bytes to the socket's handshake", maxHandshake)

// Dial opens the channels of a kernel, within ctx: a server may take as long as
// the kernel takes to start. A refusal is a *StatusError, and a kernel that is
// gone is ErrContext. nudge says that the socket has to hasten
// acknowledgements by itself.
func (c *Client) Dial(ctx context.Context, kernel, session string) (_ *websocket.Conn, nudge bool, _ error) {
	path := "api/kernels/" + kernel + "/channels"
	query := "?session_id=" + url.QueryEscape(session)
	gen := c.auth.generation()
	ws, live, resp, err := c.handshake(ctx, path+query)
	if err != nil && resp != nil && c.auth.expired(resp, nil) {
		if err := c.auth.renew(ctx, gen); err != nil {
			return nil, false, err
		}
		ws, live, resp, err = c.handshake(ctx, path+query)
	}
	if err == nil {
		return ws, live.ack == nil, nil
	}
	if resp != nil && errors.Is(err, websocket.ErrBadHandshake) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		req := &http.Request{Method: "socket", URL: &url.URL{Path: c.base.Path + path}}
		return nil, false, c.refused(req, resp, body)
	}
	return nil, false, c.transportError(ctx, err)
}

func (c *Client) handshake(ctx context.Context, path string) (*websocket.Conn, *liveConn, *http.Response, error) {
	u := c.url(path)
	h := c.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	c.auth.apply(h)
	u.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
	var live atomic.Pointer[liveConn]
	d := websocket.Dialer{
		NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := c.dialSocket(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			live.Store(conn)
			if ctx.Err() != nil { // what closes it may have looked already
				conn.Close()
			}
			return conn, nil
		},
		Proxy:           c.proxy(),
		Jar:             c.http.Jar,
		ReadBufferSize:  socketBuffer,
		WriteBufferSize: socketBuffer,
		WriteBufferPool: writeBuffers,
		Subprotocols:    []string{wire.ProtocolV1},
	}
	if t := c.transport(); t != nil && t.TLSClientConfig != nil {
		d.TLSClientConfig = t.TLSClientConfig.Clone()
		d.TLSClientConfig.NextProtos = nil // sockets need HTTP/1.1
	}
	// The library's deadline for the handshake bounds no reads: see SetDeadline.
	stop := context.AfterFunc(ctx, func() {
		if conn := live.Load(); conn != nil {
			conn.Close()
		}
	})
	defer stop()
	ws, resp, err := d.DialContext(ctx, u.String(), h)
	conn := live.Load()
	if err == nil {
		// Not before: the handshake may last as long as the kernel's start.
		conn.up = true
	}
	return ws, conn, resp, err
}

// dialer opens connections as the REST calls do.
func (c *Client) dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if t := c.transport(); t != nil && t.DialContext != nil {
		return t.DialContext
	}
	return (&net.Dialer{}).DialContext
}

// dialSocket opens the connection under a socket.
func (c *Client) dialSocket(ctx context.Context, network, addr string) (*liveConn, error) {
	conn, err := c.dialer()(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &liveConn{Conn: conn, ack: quickAck(conn)}, nil
}

// A liveConn fails a read after deadAfter without data, or after maxHandshake bytes of
// handshake. After each read it acknowledges at once: servers send the messages of a run in
// small packets, which would otherwise wait 40 ms for a delayed acknowledgement.
type liveConn struct {
	net.Conn
	ack    func()
	up     bool
	before int // bytes that came before that
}

func (l *liveConn) Read(p []byte) (int, error) {
	if l.up {
		if err := l.Conn.SetReadDeadline(time.Now().Add(deadAfter)); err != nil {
			return 0, err
		}
	}
	n, err := l.Conn.Read(p)
	if l.ack != nil {
		l.ack()
	}
	if !l.up {
		if l.before += n; l.before > maxHandshake {
			return 0, errHandshake
		}
	}
	return n, err
}

// SetDeadline bounds writes; reads have their own rule.
func (l *liveConn) SetDeadline(t time.Time) error { return l.Conn.SetWriteDeadline(t) }

// SetReadDeadline does nothing: Read sets it.
func (l *liveConn) SetReadDeadline(time.Time) error { return nil }
