// Package netgate gives programs of a sandbox connections that their host answers, and
// no others.
//
// A program with a network namespace of its own finds listeners of the host's in it:
// [Listen]. Nothing of the host is in the namespace but these sockets.
//
// A program without one gets the end of a connected pair when it calls socket, and
// connect connects nothing: [Notifier]. What decides is in registers, so that there is
// nothing to race with. The address that connect names is read from the program's memory
// only to say which destination it means; a program that changes it meanwhile means
// another one.
package netgate

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/internal/rootfs"
)

// An Egress answers what a program connects to. Its functions are called concurrently.
type Egress struct {
	// Serve answers one connection, which it owns, and returns when that is closed. dst is
	// the address that the program connected to, zero if it is not known.
	Serve func(c net.Conn, dst netip.AddrPort)

	// DNS answers one DNS message, or returns nil to drop it.
	DNS func(query []byte) []byte

	// Ports are the TCP ports on which Addresses are answered, at most 64.
	Ports []int
}

// ProxyPort is the port of the proxy on 127.0.0.1.
const ProxyPort = 3128

// Addresses are those that DNS may give to names. They lead to Serve.
var Addresses = netip.MustParsePrefix("198.18.0.0/15")

const (
	dnsPort  = 53
	maxPorts = 64
	maxConns = 256 // of one program and what it started
)

// A Quota is how many connections all programs can have, so that the host keeps
// descriptors for itself.
type Quota struct {
	most int64
	used atomic.Int64
}

// NewQuota returns the quota of a host that can have so many descriptors. It keeps half of
// them; a connection takes up to six, for two sockets and two pipes between them.
func NewQuota(descriptors uint64) *Quota {
	return &Quota{most: int64(min(descriptors, 1<<30)) / 2 / 6}
}

func (q *Quota) take() bool {
	if q.used.Add(1) <= q.most {
		return true
	}
	q.used.Add(-1)
	return false
}

// A Session is the connections of one program and what it started.
type Session struct {
	quota  *Quota
	egress *Egress
	user   *rootfs.User

	mu     sync.Mutex
	closed bool
	conns  int
	open   map[io.Closer]bool // whether it is a connection
}

// NewSession returns a Session without connections, of a program that runs as u; nil is
// the host's user.
func NewSession(e *Egress, u *rootfs.User, q *Quota) *Session {
	return &Session{quota: q, egress: e, user: u, open: map[io.Closer]bool{}}
}

// add takes what Close will close. It closes c and returns false after Close, and if c is
// one connection too many.
func (s *Session) add(c io.Closer, isConn bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || isConn && (s.conns >= maxConns || !s.quota.take()) {
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
		s.quota.used.Add(-1)
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
	s.quota.used.Add(-int64(s.conns))
	s.open, s.closed, s.conns = nil, true, 0
	s.mu.Unlock()
	for c := range list {
		_ = c.Close()
	}
}
