package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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
	turn   chan struct{} // held while connecting or listing
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

// A link is a session with the function that ends it.
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
		if _, err := s.session(s.set.ctx, true); err == nil {
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

// pause is how long to wait after a failure; it doubles with each. mu is held.
func (s *server) pause() time.Duration {
	return min(time.Second<<min(max(s.failures-1, 0), 5), maxPause)
}

// slow records that Open does not wait for the server any longer.
func (s *server) slow(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil && s.fault == nil {
		s.fault = errStarting
		s.problems = []error{fmt.Errorf("it has not answered within %v; its tools are added when it does", after)}
	}
}

// retry asks follow to connect if the server is away, and returns a channel that is
// closed after the attempt, and how long to wait for it; nil if no attempt is due.
func (s *server) retry(code string) (<-chan struct{}, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A process costs more to start than a request.
	pause := time.Second
	if s.URL == "" {
		pause = s.pause()
	}
	switch {
	case s.live == nil && s.failures == 0 && strings.Contains(code, "tools."+s.prefix):
		return s.tried, startWait
	case s.live != nil || s.failures == 0 || time.Since(s.failed) < pause:
		return nil, 0
	}
	s.mark()
	return s.tried, retryWait
}

func (s *server) mark() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// session returns the session, or a new one if that has ended. With list it also lists
// the tools of an open session.
func (s *server) session(ctx context.Context, list bool) (*link, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.set.ctx.Err() != nil {
		return nil, context.Cause(s.set.ctx)
	}
	start, cancel := context.WithTimeoutCause(ctx, startTimeout, errSlow)
	defer cancel()
	defer context.AfterFunc(s.set.ctx, cancel)()
	s.mu.Lock()
	live, soon := s.live, s.failures > 0 && time.Since(s.failed) < s.pause()
	s.mu.Unlock()
	switch {
	case live != nil && !live.over() && list:
		return live, s.relist(start, live)
	case live != nil && !live.over():
		return live, nil
	case !list && soon: // not once for each of many calls
		return nil, errAway
	case live != nil:
		live.end()
	}
	again, err := s.open(start)
	if err != nil && ctx.Err() != nil { // no fault of the server
		return nil, err
	}
	if err != nil && start.Err() != nil {
		err = errors.Join(context.Cause(start), err)
	}
	s.record(again, err)
	if live != nil && err == nil {
		s.mark() // for the set to report that the tools may differ
	}
	return again, err
}

// open connects and lists the tools.
func (s *server) open(ctx context.Context) (*link, error) {
	live, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.relist(ctx, live); err != nil {
		live.end()
		return nil, err
	}
	return live, nil
}

// record records a new session, or why there is none.
func (s *server) record(live *link, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live = live; err == nil {
		s.failures = 0
		return
	}
	s.failures, s.failed = s.failures+1, time.Now()
	s.problems, s.fault = []error{err}, err
}

// connect opens a session. ctx bounds the opening; the session lives until end.
func (s *server) connect(ctx context.Context) (*link, error) {
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
		return nil, death(t, err)
	}
	return s.link(session, func() { end(); cancel(nil) }), nil
}

// link returns the link of a session over a transport that end ends.
func (s *server) link(session *mcp.ClientSession, end func()) *link {
	l := &link{ClientSession: session, done: make(chan struct{})}
	l.end = sync.OnceFunc(func() {
		end() // first: Close waits for writes to a process that does not read
		closed := make(chan struct{})
		go func() { defer close(closed); session.Close() }()
		select {
		case <-closed:
		case <-time.After(closing):
		}
	})
	// This also ends a call that lists tools.
	stop := context.AfterFunc(s.set.ctx, l.end)
	go func() { // ends with the session
		defer close(l.done)
		session.Wait()
		stop()
	}()
	return l
}

// death adds to the error of a start how the process ended before it was closed.
func death(t mcp.Transport, err error) error {
	p, ok := t.(*process)
	if !ok || !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return err
	}
	select {
	case <-p.done:
		return fmt.Errorf("it ended while it started: %v: %w", p.cmd.ProcessState, err)
	default:
		return err
	}
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
