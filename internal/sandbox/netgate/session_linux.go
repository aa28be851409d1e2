package netgate

import (
	"io"
	"net"
	"net/netip"
	"sync"

	"github.com/toolcell/toolcell/internal/rootfs"
)

// A Session is the connections of one program and what it started.
type Session struct {
	host   *Host
	egress *Egress
	user   *rootfs.User

	mu    sync.Mutex
	conns int
	open  map[io.Closer]bool // whether it is a connection; nil after Close
}

// NewSession returns a Session without connections, of a program that runs as u; nil is
// the host's user.
func NewSession(e *Egress, u *rootfs.User, h *Host) *Session {
	return &Session{host: h, egress: e, user: u, open: map[io.Closer]bool{}}
}

// add takes what Close will close. It closes c and returns false after Close, and if c is
// one connection too many.
func (s *Session) add(c io.Closer, isConn bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil || isConn && (s.conns >= maxConns || !s.host.take()) {
		_ = c.Close()
		return false
	}
	if s.open[c] = isConn; isConn {
		s.conns++
	}
	return true
}

func (s *Session) remove(c io.Closer) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[c] {
		s.conns--
		s.host.used.Add(-1)
	}
	delete(s.open, c)
}

// serve answers a connection that was added.
func (s *Session) serve(c net.Conn, dst netip.AddrPort) {
	defer s.remove(c)
	s.egress.Serve(c, dst)
}

// Close closes all connections and listeners, and there will be no further ones.
func (s *Session) Close() {
	s.mu.Lock()
	list := s.open
	s.host.used.Add(-int64(s.conns))
	s.open, s.conns = nil, 0
	s.mu.Unlock()
	for c := range list {
		_ = c.Close()
	}
}
