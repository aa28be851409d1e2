package gate

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// Serve answers one connection of the context's programs, which the session closes. dst
// is the address that the program connected to, zero if it is not known; one that DNS
// has answered stands for its name. Serve returns when the connection is closed.
func (s *Session) Serve(nc net.Conn, dst netip.AddrPort) {
	c, err := s.add(nc)
	if err != nil {
		s.refuse(egress.Event{Protocol: "tcp"}, err)
		_ = nc.Close()
		return
	}
	if t := s.meant(dst); t != nil && t.rules.Raw() { // a server of another protocol may speak first
		s.start(func() { s.tunnel(c, t, "tcp", nil) })
	} else {
		s.proceed(c, t, "tcp")
	}
	<-c.done
}

// meant returns where a connection to an address leads, nil if the address does not say.
func (s *Session) meant(dst netip.AddrPort) *target {
	t := &target{host: s.named(dst.Addr()), port: int(dst.Port())}
	if t.host == "" {
		if !dst.Addr().IsLoopback() || !slices.Contains(s.gate.Ports(), t.port) {
			return nil
		}
		t.host = dst.Addr().String() // named by a rule, and reached without the proxy
	}
	t.rules, _ = s.gate.policy.ForHost(t.host, t.port)
	return t
}

const tlsHandshake = 0x16

// proceed continues with a connection by what it begins with. t is where it leads, nil if
// that is not known.
func (s *Session) proceed(c *conn, t *target, protocol string) {
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	b, err := c.r.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	settled := t != nil && t.settled
	switch {
	case err != nil:
	case b[0] == tlsHandshake:
		s.secure(c, t, protocol)
		return
	case b[0] >= 'A' && b[0] <= 'Z': // HTTP in a tunnel is judged as HTTP
		c.target.Store(t)
		s.gate.conns.put(c)
		return
	case b[0] == 5 && !settled:
		s.socks(c)
		return
	case b[0] == 0 && !settled:
		s.dnsStream(c)
	default:
		e := egress.Event{Protocol: protocol}
		if t != nil {
			e.Host, e.Port = t.host, t.port
		}
		s.refuse(e, errors.New("neither HTTP, TLS nor SOCKS5, and the rule is not raw"))
	}
	_ = c.Close()
}

// established continues a connection whose target the program has named by CONNECT or
// SOCKS; answer is what the program waits for.
func (s *Session) established(c *conn, t *target, protocol string, answer []byte) {
	c.target.Store(t)
	if t.rules.Raw() {
		s.start(func() { s.tunnel(c, t, protocol, answer) })
		return
	}
	if _, err := c.Write(answer); err != nil {
		_ = c.Close()
		return
	}
	s.proceed(c, t, protocol)
}

// accessDenied is a TLS alert (RFC 8446, section 6.2).
var accessDenied = []byte{21, 3, 1, 0, 2, 2, 49}

// secure continues with TLS: it compares the name in the hello with the host, and passes
// the bytes on, or ends TLS here if a rule has to see the requests.
func (s *Session) secure(c *conn, t *target, protocol string) {
	h, err := readHello(c)
	if t == nil {
		t = &target{host: h.name, port: 443}
	}
	e := egress.Event{Protocol: protocol, Host: t.host, Port: t.port}
	if protocol == "tcp" {
		e.Protocol = "tls"
	}
	if err == nil && !t.settled {
		t, err = s.target(s.ctx, t.host, t.port)
	}
	if err == nil {
		err = h.check(t)
	}
	if err != nil {
		s.refuse(e, err)
		_, _ = c.Conn.Write(accessDenied)
		_ = c.Close()
		return
	}
	t.tls = true
	c.target.Store(t)
	if !t.rules.Inspect() {
		s.start(func() { s.tunnel(c, t, e.Protocol, nil) })
		return
	}
	t.addrs = nil // its requests may come much later
	s.gate.conns.put(tls.Server(c, s.gate.inner))
}

// A hello is what a TLS client's first message says.
type hello struct {
	name string // server_name, RFC 6066
	ech  bool   // encrypted client hello, RFC 9849
}

const extensionECH = 0xfe0d

func (h hello) check(t *target) error {
	name, err := egress.CanonicalHost(h.name)
	switch {
	case h.name == "" && isAddress(t.host):
		return nil
	case h.name == "":
		return errors.New("the TLS hello names no host")
	case err != nil || name != t.host:
		return &egress.Refusal{Host: t.host, Port: t.port, Reason: "is not the host that the TLS hello names"}
	case h.ech && !t.rules.Inspect():
		return errors.New("the TLS hello hides a name (ECH)")
	}
	return nil
}

var errHelloRead = errors.New("hello read")

// readHello reads the TLS hello of c and puts it back.
func readHello(c *conn) (hello, error) {
	var h hello
	var seen bytes.Buffer
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	reader := readOnly{Conn: c, Reader: io.TeeReader(io.LimitReader(c.r, maxHeader), &seen)}
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
type readOnly struct {
	net.Conn
	io.Reader
}

func (r readOnly) Read(b []byte) (int, error)     { return r.Reader.Read(b) }
func (readOnly) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (readOnly) SetWriteDeadline(time.Time) error { return nil }
