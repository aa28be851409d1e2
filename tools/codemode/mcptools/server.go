package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is one server of a set.
type server struct {
	Server
	prefix string // of the names of its tools
	set    *Set
	dirty  chan struct{} // the tools may have changed, or a retry is wanted
	turn   chan struct{} // a token for whoever connects or lists
	strays strayLines

	mu       sync.Mutex
	live     *link
	failures int
	failed   time.Time
	tried    chan struct{} // closed after the next attempt to connect
	list     []serverTool
	problems []error
	fault    error // why there is no list
}

func newServer(config Server, prefix string, set *Set) *server {
	return &server{Server: config, prefix: prefix, set: set, dirty: make(chan struct{}, 1), turn: make(chan struct{}, 1), tried: make(chan struct{})}
}

// A link is a session with what ends it.
type link struct {
	*mcp.ClientSession
	done chan struct{} // closed once the session has ended
	end  func()        // ends it and returns when it has ended
}

func (l *link) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

var (
	errAway     = errors.New("the server cannot be reached")
	errSlow     = errors.New("the server has not answered in time")
	errStarting = errors.New("the server is still starting")
)

const (
	maxPause = 30 * time.Second       // between two attempts to connect
	settle   = 500 * time.Millisecond // between two lists of the tools
	closing  = 5 * time.Second        // for a session over HTTP to close
)

// follow connects, and lists the tools again when they may have changed, until the set
// is closed.
func (s *server) follow() {
	for {
		if err := s.refresh(s.set.ctx); err == nil {
			s.set.changed()
		} else if s.set.ctx.Err() == nil {
			s.set.opts.Logger.Warn("an MCP server cannot be used", "server", s.Name, "err", err)
		}
		last := time.Now()
		s.mu.Lock()
		close(s.tried)
		s.tried = make(chan struct{})
		var again <-chan time.Time
		if s.live == nil {
			again = time.After(s.pause())
		}
		s.mu.Unlock()
		select {
		case <-s.dirty:
		case <-again:
		case <-s.set.ctx.Done():
			return
		}
		select {
		case <-time.After(settle - time.Since(last)):
		case <-s.set.ctx.Done():
			return
		}
	}
}

// pause is how long to wait after a failure, which doubles with each. mu is held.
func (s *server) pause() time.Duration {
	return min(time.Second<<min(max(s.failures-1, 0), 5), maxPause)
}

// attempt returns a channel that is closed after the next attempt to connect, and is
// closed already if there was one.
func (s *server) attempt() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil || s.fault != nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	return s.tried
}

// slow notes that the server is not waited for any longer.
func (s *server) slow(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil && s.fault == nil {
		s.fault = errStarting
		s.problems = []error{fmt.Errorf("it has not answered within %v; its tools are added when it does", after)}
	}
}

// retry asks follow to connect if the server is away, and returns a channel that is
// closed after the attempt; nil if it is not due.
func (s *server) retry() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A process costs more to start than a request.
	pause := time.Second
	if s.URL == "" {
		pause = s.pause()
	}
	if s.live != nil || s.failures == 0 || time.Since(s.failed) < pause {
		return nil
	}
	s.mark()
	return s.tried
}

func (s *server) mark() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// refresh connects if there is no session, and lists the tools.
func (s *server) refresh(ctx context.Context) error {
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live != nil && !live.over() {
		return s.relist(ctx, live)
	}
	_, err = s.reconnect(ctx)
	return err
}

// session returns the session, or a new one if that has ended.
func (s *server) session(ctx context.Context) (*link, error) {
	release, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	s.mu.Lock()
	live, soon := s.live, s.failures > 0 && time.Since(s.failed) < s.pause()
	s.mu.Unlock()
	switch {
	case live != nil && !live.over():
		return live, nil
	case soon: // not once for each of many calls
		return nil, errAway
	}
	return s.reconnect(ctx)
}

// lock waits for the turn to connect.
func (s *server) lock(ctx context.Context) (release func(), err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.set.ctx.Err() != nil {
		<-s.turn
		return nil, context.Cause(s.set.ctx)
	}
	return func() { <-s.turn }, nil
}

// reconnect opens a session and lists the tools. The caller has the turn.
func (s *server) reconnect(ctx context.Context) (*link, error) {
	s.mu.Lock()
	before := s.live
	s.mu.Unlock()
	if before != nil {
		if s.Session != nil {
			return nil, errAway
		}
		before.end()
	}
	start, cancel := context.WithTimeoutCause(ctx, s.set.opts.StartTimeout, errSlow)
	defer cancel()
	defer context.AfterFunc(s.set.ctx, cancel)()
	live, err := s.connect(start)
	if err == nil {
		if err = s.relist(start, live); err != nil {
			live.end()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.live, s.failures = live, 0
		if before != nil {
			s.mark() // for the set to report that the tools may differ
		}
		return live, nil
	}
	if start.Err() != nil && ctx.Err() == nil {
		err = errors.Join(context.Cause(start), err)
	}
	if ctx.Err() == nil { // a caller who gave up is no fault of the server
		s.live, s.failures, s.failed = nil, s.failures+1, time.Now()
		s.problems, s.fault = []error{err}, err
	}
	return nil, err
}

// connect opens a session. ctx bounds the opening; the session lives until end.
func (s *server) connect(ctx context.Context) (*link, error) {
	if s.Session != nil {
		l := &link{ClientSession: s.Session, done: make(chan struct{}), end: func() {}}
		go func() { // ends with the caller's session
			defer close(l.done)
			l.Wait()
		}()
		return l, nil
	}
	t, end, err := s.dial()
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "toolcell", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.mark() },
	})
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	opened := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)); end() })
	session, err := client.Connect(life, t, nil)
	if !opened() && err == nil {
		err = context.Cause(ctx)
		session.Close()
	}
	if err != nil {
		end()
		cancel(nil)
		return nil, s.death(t, err)
	}
	l := &link{ClientSession: session, done: make(chan struct{})}
	l.end = sync.OnceFunc(func() {
		end() // first: Close waits for writes to a process that does not read
		closed := make(chan struct{})
		go func() { defer close(closed); session.Close() }()
		select {
		case <-closed:
		case <-time.After(closing):
		}
		cancel(nil)
	})
	// This also ends a call that lists tools.
	stop := context.AfterFunc(s.set.ctx, l.end)
	go func() { // ends with the session
		defer close(l.done)
		session.Wait()
		stop()
	}()
	return l, nil
}

// death adds to the error of a start how the process ended, if it did.
func (s *server) death(t mcp.Transport, err error) error {
	p, ok := t.(*process)
	if !ok || !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return err
	}
	if how := p.state(); how != "" {
		return fmt.Errorf("it ended while it started: %s: %w", how, err)
	}
	return err
}

// close ends the session. The context of the set has ended: there will be no other.
func (s *server) close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live != nil {
		live.end()
	}
}
