package server

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

var writeBuffers = &sync.Pool{}

const socketBuffer = 8 << 10

// Dial opens the channels of a kernel, within ctx: a server may take as long as
// the kernel takes to start. A refusal is a *StatusError, and a kernel that is
// gone is ErrContext.
func (c *Client) Dial(ctx context.Context, kernel, session string) (*websocket.Conn, error) {
	path := "api/kernels/" + kernel + "/channels"
	query := "?session_id=" + url.QueryEscape(session)
	gen := c.auth.gen.Load()
	ws, resp, err := c.handshake(ctx, path+query)
	if err != nil && resp != nil && c.auth.expired(resp, nil) {
		if err := c.auth.renew(ctx, gen); err != nil {
			return nil, err
		}
		ws, resp, err = c.handshake(ctx, path+query)
	}
	if err == nil {
		return ws, nil
	}
	if resp != nil && errors.Is(err, websocket.ErrBadHandshake) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		req := &http.Request{Method: "socket", URL: &url.URL{Path: c.base.Path + path}}
		return nil, c.refused(req, resp, body)
	}
	return nil, c.transportError(ctx, err)
}

func (c *Client) handshake(ctx context.Context, path string) (*websocket.Conn, *http.Response, error) {
	u := c.url(path)
	u.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
	h := http.Header{}
	maps.Copy(h, c.header)
	c.auth.apply(h)
	t, stop := c.transport, func() bool { return true }
	connect := t.DialContext
	if connect == nil {
		connect = (&net.Dialer{}).DialContext
	}
	d := websocket.Dialer{
		NetDialContext: func(dial context.Context, network, addr string) (net.Conn, error) {
			conn, err := connect(dial, network, addr)
			if err == nil {
				// The library looks at the deadline of ctx alone.
				stop = context.AfterFunc(ctx, func() { conn.Close() })
			}
			return conn, err
		},
		Proxy:           t.Proxy,
		Jar:             c.http.Jar,
		ReadBufferSize:  socketBuffer,
		WriteBufferSize: socketBuffer,
		WriteBufferPool: writeBuffers,
		Subprotocols:    []string{wire.ProtocolV1},
	}
	if t.TLSClientConfig != nil {
		d.TLSClientConfig = t.TLSClientConfig.Clone()
		d.TLSClientConfig.NextProtos = nil // sockets need HTTP/1.1
	}
	ws, resp, err := d.DialContext(ctx, u.String(), h)
	stop()
	return ws, resp, err
}
