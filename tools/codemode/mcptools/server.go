package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode"
)

// A server is one of a set.
type server struct {
	Server
	prefix string // of the names of its tools
	set    *Set
	dirty  chan struct{} // the tools may have changed
	turn   chan struct{} // held by whoever connects
	proc   *process      // that was started last, if one was; of whoever has the turn

	listing sync.Mutex // held by whoever lists again
	own     room       // of a server over HTTP

	mu       sync.Mutex
	live     *link
	failures int
	failed   time.Time
	list     []listed
	problems []error
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

	errDeep      = errors.New("the server's answer is nested too deep")
	errMalformed = errors.New("the server's answer is no result of a tool")
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
			go live.end()
		}
		// A caller who gave up is no fault of the server.
		if ctx.Err() == nil {
			s.failures, s.failed = s.failures+1, time.Now()
			s.problems = []error{err}
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
	if live == nil {
		return
	}
	live.end()
	if s.Session == nil {
		bounded(closing, func() { <-live.done })
	}
}

// answer calls a tool and returns what value says of its answer.
func (s *server) answer(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, []codemode.File, error) {
	by := &caller{room: &s.set.room, done: make(chan struct{})}
	if s.URL != "" { // which takes its room before it has sent all
		by.room = &s.own
	}
	defer by.end()
	res, err := s.call(context.WithValue(ctx, callerKey{}, by), tool, args)
	if err != nil {
		return nil, nil, err
	}
	return s.value(res)
}

// call calls a tool. Its errors are for programs to read, or those of ctx.
func (s *server) call(ctx context.Context, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	own := ctx
	if d := s.set.opts.Timeout; d > 0 {
		var cancel context.CancelFunc
		own, cancel = context.WithTimeoutCause(ctx, d, errSlow)
		defer cancel()
	}
	live, err := s.session(own)
	if err != nil {
		return nil, s.failure(ctx, own, tool, err, "Nothing was done.")
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	type answer struct {
		res *mcp.CallToolResult
		err error
	}
	done := make(chan answer, 1)
	go func() { // the SDK tells the server of ctx's end, and may wait for its pipe
		res, err := live.CallTool(own, &mcp.CallToolParams{Name: tool, Arguments: args})
		done <- answer{res, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-own.Done():
		a.err = context.Cause(own)
	// Of a session that has ended the answer may have come just before.
	case <-live.done:
		select {
		case a = <-done:
		default:
			a.err = errAway
		}
	}
	if a.err != nil {
		// Known before done is closed, so that the next call does not go to it.
		if by, ok := ctx.Value(callerKey{}).(*caller); ok {
			by.end() // answers to others may wait for its room, and a ping's behind them
			if err := by.refused(); err != nil {
				live.gone.Store(true) // the SDK ends the session with that
				return nil, s.failure(ctx, own, tool, err, "")
			}
		}
		switch {
		case own.Err() != nil || !s.fatal(a.err):
		case live.answers():
			a.err = fmt.Errorf("%w: %w", errMalformed, a.err)
		default:
			live.gone.Store(true)
			if bounded(closing, func() { <-live.read }) && live.deep {
				a.err = errDeep
			}
		}
		return nil, s.failure(ctx, own, tool, a.err, "It may or may not have been done.")
	}
	return a.res, nil
}

// answers reports whether the session goes on after the error of a call, which the
// SDK does not tell: then it could not read the result.
func (l *link) answers() bool {
	if l.over() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-l.done:
			cancel()
		case <-stop:
		}
	}()
	err := l.Ping(ctx, nil)
	var answered *jsonrpc.Error
	return err == nil || errors.As(err, &answered)
}

// fatal reports whether the session may have ended with the error of a call.
func (s *server) fatal(err error) bool {
	var answered *jsonrpc.Error
	// Over HTTP each call has a request of its own, whose failure is not the
	// session's.
	return s.URL == "" && !errors.As(err, &answered) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, errAway)
}

// failure is what programs learn of an error: what a server answered, and of its
// process and its connection nothing but that they failed.
func (s *server) failure(ctx, own context.Context, tool string, err error, done string) error {
	s.set.opts.Logger.Info("a call of an MCP tool failed", "server", s.Name, "tool", tool, "err", err)
	message := fmt.Sprintf("the server %s cannot be reached, or has ended during the call. %s", s.Name, done)
	var answered *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case own.Err() != nil, errors.Is(err, errSlow):
		message = fmt.Sprintf("the server %s has not answered within %v. %s", s.Name, s.set.opts.Timeout, done)
	case errors.Is(err, errDeep):
		message = fmt.Sprintf("the server %s has answered with what is nested too deep (1000 levels are possible), and was ended. %s", s.Name, done)
	case errors.Is(err, errMembers):
		message = fmt.Sprintf("%v. It may or may not have been done.", errMembers)
	case errors.Is(err, errMalformed):
		message = fmt.Sprintf("the server %s has answered with what is no result of a tool. It may or may not have been done.", s.Name)
	case errors.As(err, &answered):
		message = s.clean(answered.Message, maxError)
	}
	return &codeinterp.FunctionError{Message: message}
}
