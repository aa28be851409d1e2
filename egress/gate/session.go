package gate

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/egress"
)

var errClosed = errors.New("the session is closed")

// SessionOptions tunes a Session. The zero value is ready to use.
type SessionOptions struct {
	// OnEvent receives an event for each connection or request when it ends. It is
	// called concurrently, and should return soon.
	OnEvent func(egress.Event)

	// Approve is asked about a host that no rule allows, where the mode is Hosts. The
	// program waits meanwhile, at most until the connection is closed.
	Approve func(context.Context, egress.Question) egress.Answer
}

// A Session is the use that one context of an interpreter makes of a gate. Its methods
// may be called concurrently.
type Session struct {
	gate  *Gate
	opts  SessionOptions
	names names
	bytes atomic.Int64 // of the run

	tunnels sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc

	mu       sync.Mutex
	run      string
	narrow   *egress.Narrowing
	conns    map[*conn]struct{}
	approved map[hostPort]bool
	closed   bool
}

type hostPort struct {
	host string
	port int
}

// Session returns a new session. Close ends it.
func (g *Gate) Session(opts *SessionOptions) *Session {
	s := &Session{gate: g, conns: map[*conn]struct{}{}, approved: map[hostPort]bool{}}
	if opts != nil {
		s.opts = *opts
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// BeginRun says which run the context is in from now on, and what of the policy is left
// to it. Connections to other hosts, made by an earlier run, are closed.
func (s *Session) BeginRun(run string, narrow *egress.Narrowing) {
	s.mu.Lock()
	s.run, s.narrow = run, narrow
	s.bytes.Store(0)
	var end []*conn
	for c := range s.conns {
		if t := c.target.Load(); t != nil && !narrow.Allows(t.host) {
			end = append(end, c)
		}
	}
	s.mu.Unlock()
	for _, c := range end {
		_ = c.Close()
	}
}

// EndRun says that the context is between runs: its policy is the whole one.
func (s *Session) EndRun() { s.BeginRun("", nil) }

// Close closes all connections of the session, and waits for the events of its tunnels.
func (s *Session) Close() {
	s.cancel()
	s.mu.Lock()
	s.closed = true
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
	s.tunnels.Wait()
}

// target settles a host and a port against the policy.
func (s *Session) target(ctx context.Context, host string, port int) (*target, error) {
	name, err := egress.CanonicalHost(host)
	if err != nil {
		return nil, &egress.Refusal{Reason: err.Error()}
	}
	t := &target{host: name, port: port}
	s.mu.Lock()
	narrow, run, approved := s.narrow, s.run, s.approved[hostPort{name, port}]
	s.mu.Unlock()
	if !narrow.Allows(name) {
		return nil, &egress.Refusal{Host: name, Port: port, Reason: "is not a host that this run may reach"}
	}
	if t.rules, err = s.gate.policy.ForHost(name, port); err == nil || approved {
		return t, nil
	}
	if s.opts.Approve == nil || s.gate.policy.Mode != egress.Hosts {
		return nil, err
	}
	switch s.opts.Approve(ctx, egress.Question{Run: run, Host: name, Port: port}) {
	case egress.AllowOnce:
		return t, nil
	case egress.AllowContext:
		s.mu.Lock()
		if len(s.approved) < maxNames {
			s.approved[hostPort{name, port}] = true
		}
		s.mu.Unlock()
		return t, nil
	}
	return nil, err
}

// allowed reports whether the run of now may use a target that was settled earlier.
func (s *Session) allowed(t *target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.narrow.Allows(t.host) {
		return &egress.Refusal{Host: t.host, Port: t.port, Reason: "is not a host that this run may reach"}
	}
	return nil
}

// event reports e, which begins at start.
func (s *Session) event(e egress.Event, start time.Time) {
	if s.opts.OnEvent == nil {
		return
	}
	if e.Run == "" {
		s.mu.Lock()
		e.Run = s.run
		s.mu.Unlock()
	}
	e.Start, e.Took = start, time.Since(start)
	if len(e.Path) > 2048 {
		e.Path = e.Path[:2048]
	}
	s.opts.OnEvent(e)
}

// refused reports a refusal.
func (s *Session) refused(e egress.Event, err error) {
	e.Reason = err.Error()
	s.event(e, time.Now())
}

// spend counts bytes of the run, and reports whether they are within its limit.
func (s *Session) spend(n int) bool {
	limit := s.gate.policy.Limits.Bytes
	return limit == 0 || s.bytes.Add(int64(n)) <= limit
}

// start runs a tunnel, of a connection that is closed already if the session is.
func (s *Session) start(tunnel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.tunnels.Go(tunnel)
	}
}

// add takes a connection into the session, unless that has as many as it may.
func (s *Session) add(nc net.Conn) (*conn, error) {
	c := newConn(nc, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case len(s.conns) >= s.gate.policy.Limits.Connections:
		return nil, &egress.Refusal{Reason: "too many connections are open"}
	}
	s.conns[c] = struct{}{}
	return c, nil
}

func (s *Session) remove(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}
