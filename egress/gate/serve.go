package gate

import (
	"errors"
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
		s.refused(egress.Event{Protocol: "tcp"}, err)
		_ = nc.Close()
		return
	}
	s.begin(c, dst)
	<-c.done
}

func (s *Session) begin(c *conn, dst netip.AddrPort) {
	host := s.names.host(dst.Addr())
	if host == "" && dst.Addr().IsLoopback() && slices.Contains(s.gate.Ports(), int(dst.Port())) {
		host = dst.Addr().String() // named by a rule, and reached without the proxy
	}
	if host != "" {
		// A server of another protocol may speak first.
		if t, err := s.target(s.ctx, host, int(dst.Port())); err == nil && t.rules.Raw() {
			s.start(func() { s.tunnel(c, t, "tcp", nil) })
			return
		}
	}
	first, err := c.first()
	switch {
	case err != nil:
		_ = c.Close()
	case first == 5:
		s.socks(c)
	case first == tlsHandshake:
		port := 443
		if host != "" {
			port = int(dst.Port())
		}
		s.secure(c, &asked{host: host, port: port, protocol: "tls"})
	case first == 0:
		s.dnsStream(c)
	case first >= 'A' && first <= 'Z':
		if host != "" {
			c.target.Store(&target{host: host, port: int(dst.Port())})
		}
		s.gate.frontQ.put(c)
	default:
		s.refused(egress.Event{Protocol: "tcp", Host: host, Port: int(dst.Port())}, errors.New("neither HTTP, TLS nor SOCKS5, and the rule is not raw"))
		_ = c.Close()
	}
}

const tlsHandshake = 0x16

// first waits for the first byte.
func (c *conn) first() (byte, error) {
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	b, err := c.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
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
	first, err := c.first()
	switch {
	case err != nil:
		_ = c.Close()
	case first == tlsHandshake:
		s.secure(c, &asked{host: t.host, port: t.port, protocol: protocol, target: t})
	case first >= 'A' && first <= 'Z': // HTTP in a tunnel is judged as HTTP
		s.gate.frontQ.put(c)
	default:
		s.refused(egress.Event{Protocol: protocol, Host: t.host, Port: t.port}, errors.New("neither HTTP nor TLS, and the rule is not raw"))
		_ = c.Close()
	}
}
