package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is one of a set.
type server struct {
	Server
	prefix string // of the names of its tools
	set    *Set
	dirty  chan struct{} // the tools may have changed
	turn   chan struct{} // held by whoever connects
	proc   *process      // that was started last, if one was; of whoever has the turn

	listing sync.Mutex     // held by whoever lists again
	own     room           // of a server over HTTP
	ends    sync.WaitGroup // of sessions that failed; added to by whoever has the turn

	mu       sync.Mutex
	live     *link
	failures int
	failed   time.Time
	list     []listed
	problems []error
	fault    error   // why there is no list
	strays   *strays // of the last process
}

// A link is a session, and what to do when it has ended.
type link struct {
	*mcp.ClientSession
	done chan struct{} // closed once it has ended
	read chan struct{} // closed once nothing is read from it, before done
	deep bool          // because of what was nested too deep; set before that
	gone atomic.Bool   // it is known to end
	end  func()
}

// over reports whether the session has ended, or is about to.
func (l *link) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return l.gone.Load()
	}
}

var (
	errAway = errors.New("the server cannot be reached")
	errSlow = errors.New("the server has not answered in time")
)

// start connects for the first time.
func (s *server) start(ctx context.Context) {
	if _, err := s.session(ctx); err != nil {
		s.set.opts.Logger.Warn("an MCP server cannot be reached", "server", s.Name, "err", err)
	}
}

// session returns the session, or a new one where that has ended.
func (s *server) session(ctx context.Context) (*link, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	// What is started from here on would be started after Close.
	if s.set.ctx.Err() != nil {
		return nil, context.Cause(s.set.ctx)
	}
	s.mu.Lock()
	live, failures, failed := s.live, s.failures, s.failed
	s.mu.Unlock()
	if live != nil {
		if !live.over() {
			return live, nil
		}
		if s.Session != nil {
			return nil, errAway
		}
		live.end()
	}
	// A server that does not start is not started anew for each of many calls.
	if wait := min(time.Duration(failures)*time.Second, 30*time.Second); failures > 0 && time.Since(failed) < wait {
		return nil, errAway
	}
	live, err := s.connect(ctx)
	if err == nil {
		err = s.relist(ctx, live)
	}
	if err != nil && ctx.Err() == nil {
		err = s.died(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Close may have come while it connected, and finds no session of this server
	// yet.
	if err == nil && s.set.ctx.Err() != nil {
		err = context.Cause(s.set.ctx)
	}
	if err != nil {
		if live != nil {
			// In the background: it may take as long as closing, and mu is held.
			s.ends.Go(func() { s.finish(live) })
		}
		// A caller who gave up is no fault of the server.
		if ctx.Err() == nil {
			s.failures, s.failed = s.failures+1, time.Now()
			s.problems, s.fault = []error{err}, err
		}
		return nil, err
	}
	if s.live != nil {
		s.mark() // its tools may be others now
	}
	s.live, s.failures = live, 0
	return live, nil
}

// connect opens a session. Its start is bounded, its life is the set's.
func (s *server) connect(ctx context.Context) (*link, error) {
	if s.Session != nil {
		l := &link{ClientSession: s.Session, done: make(chan struct{}), read: make(chan struct{}), end: func() {}}
		go func() { // ends with the caller's session
			defer close(l.done)
			defer close(l.read)
			l.Wait()
		}()
		return l, nil
	}
	t, end, err := s.transport()
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "toolcell", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.mark() },
	})
	// Only the opening is bounded: what could cancel it is taken off before returning.
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	timer := time.AfterFunc(s.set.opts.StartTimeout, func() { cancel(errSlow) })
	defer timer.Stop()
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	defer context.AfterFunc(s.set.ctx, func() { cancel(errClosed) })()
	session, err := client.Connect(life, t, nil)
	if err != nil {
		end()
		if cause := context.Cause(life); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		cancel(nil)
		return nil, err
	}
	l := &link{ClientSession: session, done: make(chan struct{}), read: make(chan struct{})}
	l.end = sync.OnceFunc(func() {
		// The SDK waits for what is being written; a server that does not read is not
		// waited for.
		if p, ok := t.(*patient); ok {
			defer time.AfterFunc(reading, func() { p.conn.Close() }).Stop()
		}
		bounded(closing, func() { session.Close() })
		end()
		cancel(nil)
	})
	go func() {
		defer close(l.done)
		// The error of what is nested too deep is known by its text only.
		if err := session.Wait(); err != nil && strings.Contains(err.Error(), "depth") {
			l.deep = true
		}
		close(l.read)
		l.end()
	}()
	return l, nil
}

// A death is why a server could not be started, in words for people.
type death struct {
	words string
	error
}

func (d death) Error() string { return d.words }
func (d death) Unwrap() error { return d.error }

// died returns err, the failure of a start, in words where the process has ended.
func (s *server) died(err error) error {
	if s.proc == nil || !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return err
	}
	how := s.proc.ended()
	if how == "" {
		return death{"it closed its output while it started", err}
	}
	return death{"it ended while it started: " + how, err}
}

// closing is how long a session may take to close.
const closing = 10 * time.Second

// reading is how long a server may take to read what is being written to it when
// its session is closed.
const reading = 500 * time.Millisecond

// bounded waits for f, but not for ever, and reports whether it has ended.
func bounded(d time.Duration, f func()) (ended bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func (s *server) mark() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// settle is how long servers are left alone between two lists of their tools.
const settle = 500 * time.Millisecond

// retry is how often a server that could not be reached at first is tried again.
const retry = 30 * time.Second

// follow lists the tools again when they may have changed.
func (s *server) follow() {
	for {
		var again <-chan time.Time
		s.mu.Lock()
		if s.live == nil {
			again = time.After(retry)
		}
		s.mu.Unlock()
		select {
		case <-s.dirty:
		case <-again:
		case <-s.set.ctx.Done():
			return
		}
		if err := s.refresh(s.set.ctx); err != nil {
			s.set.opts.Logger.Warn("the tools of an MCP server cannot be listed", "server", s.Name, "err", err)
		} else {
			s.set.changed()
		}
		select {
		case <-time.After(settle):
		case <-s.set.ctx.Done():
			return
		}
	}
}

func (s *server) refresh(ctx context.Context) error {
	live, err := s.session(ctx)
	if err != nil {
		return err
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	return s.relist(ctx, live)
}

// close ends the session. The set's ctx has ended, so there will be no other.
func (s *server) close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live != nil {
		s.finish(live)
	}
	s.ends.Wait()
}

// finish ends a session, and waits until it has ended.
func (s *server) finish(live *link) {
	live.end()
	if s.Session == nil {
		bounded(closing, func() { <-live.done })
	}
}
