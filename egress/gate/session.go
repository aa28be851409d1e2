package gate

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
)

var errClosed = errors.New("the session is closed")

// A Session is the use that one context of an interpreter makes of a gate. Its methods
// may be called concurrently.
type Session struct {
	gate  *Gate
	bytes atomic.Int64  // of the run
	slots chan struct{} // one for each request in progress

	tunnels sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc

	mu       sync.Mutex
	id       string                   // of the context
	limit    *codeinterp.NetworkLimit // of the run
	onEvent  func(egress.Event)       // of the run, or nil
	refusals []string                 // of the run
	names    []string                 // that DNS has answered
	conns    map[*conn]struct{}       // nil when it is closed
	approved map[string]bool          // host:port
}

// Session returns a new session. Close ends it.
func (g *Gate) Session() *Session {
	s := &Session{gate: g, conns: map[*conn]struct{}{}, approved: map[string]bool{}, slots: make(chan struct{}, g.policy.Limits.Connections)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// BeginRun says that a run of a context begins, empty for one without, which has what the
// limit leaves of the policy, until the next one begins. The context is in the events from
// now on, which onEvent receives, if it is not nil. Connections to other hosts, made by an earlier run, are closed.
func (s *Session) BeginRun(id string, limit *codeinterp.NetworkLimit, onEvent func(egress.Event)) {
	s.mu.Lock()
	s.id, s.limit, s.onEvent, s.refusals = id, limit, onEvent, nil
	s.bytes.Store(0)
	var end []*conn
	for c := range s.conns {
		for _, t := range []*target{c.target.Load(), c.serving.Load()} {
			if t != nil && !leaves(limit, t.host) {
				end = append(end, c)
			}
		}
	}
	s.mu.Unlock()
	for _, c := range end {
		_ = c.Close()
	}
}

// EndRun says that the run has ended, and returns what was refused to it. What it has left
// running keeps its limit. A nil Session has nothing to end or to close.
func (s *Session) EndRun() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refusals := s.refusals
	s.refusals = nil
	return refusals
}

// leaves reports whether a limit leaves a canonical host.
func leaves(l *codeinterp.NetworkLimit, host string) bool {
	return l == nil || !l.Off && (l.Hosts == nil || egress.MatchHost(l.Hosts, host))
}

// Close closes all connections of the session, and waits for the events of its tunnels.
func (s *Session) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
	s.tunnels.Wait()
}

// target settles a host and a port against the policy. A host that no rule allows is asked
// about before its name is resolved, so that no look-up carries out what was not allowed,
// and not at all if it is an address that would be refused.
func (s *Session) target(ctx context.Context, host string, port int) (*target, error) {
	name, err := egress.CanonicalHost(host)
	if err != nil {
		return nil, refusal("%v", err)
	}
	t := &target{host: name, port: port, settled: true}
	if err := s.allowed(t); err != nil {
		return nil, err
	}
	key := t.authority()
	s.mu.Lock()
	id, approved := s.id, s.approved[key]
	s.mu.Unlock()
	if t.rules, err = s.gate.policy.ForHost(name, port); err == nil || approved {
		return t, nil
	}
	if s.gate.opts.Approve == nil || s.gate.policy.Mode != egress.Hosts {
		return nil, err
	}
	if isAddress(name) || name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761
		if _, err := s.gate.resolve(ctx, t); err != nil {
			return nil, err
		}
	}
	answer, _ := call(func() (egress.Answer, error) {
		return s.gate.opts.Approve(ctx, egress.Question{Context: id, Host: name, Port: port}), nil
	})
	if answer == egress.AllowContext {
		s.mu.Lock()
		if len(s.approved) < maxNames {
			s.approved[key] = true
		}
		s.mu.Unlock()
	}
	if answer == egress.AllowOnce || answer == egress.AllowContext {
		return t, nil
	}
	return nil, err
}

// settle is target for what a program has named before a tunnel, unless err says why it could
// not be read. It resolves the name as well, since there are no words for a refusal after the
// answer, and reports a refusal.
func (s *Session) settle(ctx context.Context, protocol, host string, port int, err error) (t *target, _ error) {
	if err == nil {
		t, err = s.target(ctx, host, port)
	}
	if err == nil {
		t.addrs, err = s.gate.resolve(ctx, t)
	}
	if err != nil {
		s.refuse(egress.Event{Protocol: protocol, Host: host, Port: port}, err)
	}
	return t, err
}

// allowed reports whether the run of now may use a target that was settled earlier.
func (s *Session) allowed(t *target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !leaves(s.limit, t.host) {
		return &egress.Refusal{Host: t.host, Port: t.port, Reason: "is not a host that this run may reach"}
	}
	return nil
}

// event reports e, which begins now if it has no Start.
func (s *Session) event(e egress.Event) {
	s.mu.Lock()
	e.Context = s.id
	sinks := []func(egress.Event){s.gate.opts.OnEvent, s.onEvent}
	s.mu.Unlock()
	if e.Start.IsZero() {
		e.Start = time.Now()
	}
	e.Took = time.Since(e.Start)
	e.Host, e.Path, e.Reason = printable(e.Host), printable(e.Path[:min(len(e.Path), 2048)]), printable(e.Reason)
	for _, f := range sinks {
		if f != nil {
			_, _ = call(func() (any, error) { f(e); return nil, nil })
		}
	}
}

// call calls a function of the options, whose panic is an error.
func call[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a function of the host has panicked")
		}
	}()
	return f()
}

// report reports e, which an error that is no refusal has ended, or none.
func (s *Session) report(e egress.Event, err error) {
	if no, ok := errors.AsType[*egress.Refusal](err); ok {
		s.refuse(e, no)
		return
	}
	if e.Allowed = true; err != nil {
		e.Reason = plain(err)
	}
	s.event(e)
}

// refuse reports e as refused.
func (s *Session) refuse(e egress.Event, err error) {
	e.Allowed, e.Reason = false, err.Error()
	if no, ok := errors.AsType[*egress.Refusal](err); ok && no.Port != 0 {
		e.Host, e.Port = no.Host, no.Port
	}
	sentence := printable(e.Reason[:min(len(e.Reason), 500)]) // it may hold text of the program's
	s.mu.Lock()
	if len(s.refusals) < codeinterp.MaxRefusals && !slices.Contains(s.refusals, sentence) {
		s.refusals = append(s.refusals, sentence)
	}
	s.mu.Unlock()
	s.event(e)
}

// printable removes what a terminal could obey.
func printable(s string) string {
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s), "?")
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
	if s.conns != nil {
		s.tunnels.Go(tunnel)
	}
}

// add takes a connection into the session, unless that has as many as it may.
func (s *Session) add(nc net.Conn) (*conn, error) {
	c := newConn(nc, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.conns == nil:
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
