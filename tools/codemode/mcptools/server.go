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
	dirty  chan struct{} // the tools may have changed, or a connection is wanted
	strays sync.Once

	mu       sync.Mutex
	live     *link // the last session
	failures int
	failed   time.Time
	tried    chan struct{} // closed after the attempt in progress, or the next one
	list     []serverTool
	problems []error
	fault    error // why there is no list
}

func newServer(config Server, prefix string, set *Set) *server {
	return &server{Server: config, prefix: prefix, set: set, dirty: make(chan struct{}, 1), tried: make(chan struct{})}
}

// A link is a session with the function that ends it.
type link struct {
	*mcp.ClientSession
	done chan struct{} // closed once the session has ended
	end  func()        // ends it and returns when it has ended
}

// open reports whether the session has not ended. It works on nil.
func (l *link) open() bool {
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return false
	default:
		return true
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
// is closed; then it ends the session.
func (s *server) follow() {
	for {
		live, err := s.attempt()
		if err == nil {
			s.set.changed()
		} else if s.set.ctx.Err() == nil {
			s.set.opts.Logger.Warn("an MCP server cannot be used", "server", s.Name, "err", err)
		}
		last := time.Now()
		s.mu.Lock()
		close(s.tried)
		s.tried = make(chan struct{})
		var again <-chan time.Time
		if err != nil {
			again = time.After(s.pause())
		}
		s.mu.Unlock()
		select {
		case <-s.dirty:
		case <-again:
		case <-s.set.ctx.Done():
			if live != nil {
				live.end()
			}
			return
		}
		if live.open() {
			time.Sleep(settle - time.Since(last))
		}
	}
}

// attempt lists the tools, on a new session if there is none or it has ended. Only follow
// calls it.
func (s *server) attempt() (live *link, err error) {
	ctx, cancel := context.WithTimeoutCause(s.set.ctx, startTimeout, errSlow)
	defer cancel()
	s.mu.Lock()
	live = s.live
	s.mu.Unlock()
	if live.open() {
		return live, s.relist(ctx, live)
	}
	if live != nil {
		live.end()
	}
	if live, err = s.connect(ctx); err == nil {
		if err = s.relist(ctx, live); err != nil {
			live.end()
		}
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live = live; err == nil {
		s.failures = 0
		return live, nil
	}
	s.failures, s.failed = s.failures+1, time.Now()
	s.problems, s.fault = []error{err}, err
	return live, err
}

// pause is how long to wait after a failure; it doubles with each. mu is held.
func (s *server) pause() time.Duration {
	return min(time.Second<<min(max(s.failures-1, 0), 5), maxPause)
}

// session returns the session for a call. If it has ended, it waits for a new one, unless
// the last attempt has just failed.
func (s *server) session(ctx context.Context) (*link, error) {
	s.mu.Lock()
	live, tried, soon := s.live, s.tried, s.failures > 0 && time.Since(s.failed) < s.pause()
	s.mu.Unlock()
	if live.open() {
		return live, nil
	}
	if soon { // not once for each of many calls
		return nil, errAway
	}
	s.mark()
	select {
	case <-tried:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.set.ctx.Done():
		return nil, errClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live.open() {
		return nil, errAway
	}
	return s.live, nil
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
	case s.failures == 0 || time.Since(s.failed) < pause:
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
		go func() {
			defer close(closed)
			session.Close()
			<-l.done // or the next call would use it
		}()
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
