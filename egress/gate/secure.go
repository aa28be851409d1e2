package gate

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// What a connection was made to, before its TLS hello is read.
type asked struct {
	host     string // empty if only the hello has it
	port     int
	protocol string
	target   *target // if it is settled
}

// accessDenied is a TLS alert (RFC 8446, section 6.2).
var accessDenied = []byte{21, 3, 1, 0, 2, 2, 49}

// secure continues with TLS: it compares the name in the hello with the host, and passes
// the bytes on, or ends TLS here if a rule has to see the requests.
func (s *Session) secure(c *conn, a *asked) {
	h, err := readHello(c)
	t := a.target
	if err == nil && t == nil {
		if a.host == "" {
			a.host = h.name
		}
		t, err = s.target(s.ctx, a.host, a.port)
	}
	if err == nil {
		err = h.check(t)
	}
	if err != nil {
		s.refused(egress.Event{Protocol: a.protocol, Host: a.host, Port: a.port}, err)
		_, _ = c.Conn.Write(accessDenied)
		_ = c.Close()
		return
	}
	t.tls = true
	c.target.Store(t)
	if !t.inspect() {
		s.start(func() { s.tunnel(c, t, a.protocol, nil) })
		return
	}
	t.addrs = nil // its requests may come much later
	config, err := s.gate.ca.config(t.host)
	if err != nil {
		_ = c.Close()
		return
	}
	s.gate.innerQ.put(tls.Server(c, config))
}

// A hello is what a TLS client's first message says.
type hello struct {
	name string // server_name, RFC 6066
	ech  bool   // encrypted client hello, RFC 9849
}

const extensionECH = 0xfe0d

func (h hello) check(t *target) error {
	name, err := egress.CanonicalHost(h.name)
	_, literal := egress.CanonicalHost(t.host)
	switch {
	case h.name == "" && isAddress(t.host) && literal == nil:
		return nil
	case h.name == "":
		return errors.New("the TLS hello names no host")
	case err != nil || name != t.host:
		return &egress.Refusal{Host: t.host, Port: t.port, Reason: "is not the host that the TLS hello names"}
	case h.ech && !t.inspect():
		return errors.New("the TLS hello hides a name (ECH)")
	}
	return nil
}

func isAddress(host string) bool { return strings.Contains(host, ":") || net.ParseIP(host) != nil }

var errHelloRead = errors.New("hello read")

// readHello reads the TLS hello of c and puts it back.
func readHello(c *conn) (hello, error) {
	var h hello
	var seen bytes.Buffer
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	reader := readOnly{io.TeeReader(io.LimitReader(c.r, maxHeader), &seen)}
	err := tls.Server(reader, &tls.Config{GetConfigForClient: func(i *tls.ClientHelloInfo) (*tls.Config, error) {
		h = hello{name: i.ServerName, ech: slices.Contains(i.Extensions, extensionECH)}
		return nil, errHelloRead
	}}).Handshake()
	c.unread(seen.Bytes())
	if !errors.Is(err, errHelloRead) {
		return h, errors.New("no TLS hello that can be read")
	}
	return h, nil
}

// A readOnly is a connection that is only read from.
type readOnly struct{ io.Reader }

func (readOnly) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (readOnly) Close() error                     { return nil }
func (readOnly) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (readOnly) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (readOnly) SetDeadline(time.Time) error      { return nil }
func (readOnly) SetReadDeadline(time.Time) error  { return nil }
func (readOnly) SetWriteDeadline(time.Time) error { return nil }
