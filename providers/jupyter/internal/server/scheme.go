package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// tlsLimit is how long a server has to answer in TLS.
const tlsLimit = 5 * time.Second

// cutOff reports whether err is a connection that was ended without an answer, as
// servers do that want TLS and get HTTP, and such that are starting.
func cutOff(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) && !(ok && op.Op == "dial")
}

// wantsTLS reports whether a server whose address is http:// speaks TLS. No data is sent.
func (c *Client) wantsTLS(ctx context.Context) bool {
	if c.base.Scheme != "http" || c.proxyHost() != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, tlsLimit)
	defer cancel()
	addr := c.base.Host
	if c.base.Port() == "" {
		addr = net.JoinHostPort(c.base.Hostname(), "80")
	}
	conn, err := c.dialer()(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	return tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) == nil
}
