package codeinterp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// LimitOptions says what [Limit] allows. A zero field sets no limit.
type LimitOptions struct {
	// Runs is how many programs run at once. Further ones wait, first in, first out,
	// until their ctx ends. Runs that wait for their context or for a function of
	// the host count: a function that runs code through the same Limit may
	// deadlock until its ctx ends.
	Runs int

	// Queue is how many runs may wait where Runs is set, -1 for none; one
	// more is ErrCapacity.
	Queue int

	// Contexts is how many contexts exist at once; one more is ErrCapacity. A context
	// that the provider removed counts until a call on it returns ErrContext.
	Contexts int

	// Code is the size of the largest program, in bytes.
	Code int

	// Timeout is the longest RunOptions.Timeout, and the timeout of runs
	// that set none. A longer one is ErrInvalid.
	Timeout time.Duration

	// Output is the largest RunOptions.MaxOutput; a larger or absent one is
	// lowered to it.
	Output int
}

// Limit returns a middleware that enforces o and reports it in Info.Limits.
// Interpreters that are wrapped with the same value share the limits.
func Limit(o *LimitOptions) Middleware {
	if o == nil {
		o = &LimitOptions{}
	}
	l := &limiter{LimitOptions: *o, contexts: map[ContextID]struct{}{}}
	l.runs.slots, l.runs.queue = make(chan struct{}, max(o.Runs, 0)), o.Queue
	l.defaults = &RunOptions{Timeout: l.Timeout, MaxOutput: l.Output}
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (Reply, error) {
			switch {
			case c.Op == OpDescribe:
				return l.describe(ctx, c, next)
			case c.Op.Runs():
				return l.run(ctx, c, next)
			case c.Op.Creates():
				return l.create(ctx, c, next)
			case c.Op.Calls():
				return next(ctx, c) // its errors are the function's
			}
			r, err := next(ctx, c)
			l.note(&c, err)
			return r, err
		}
	}
}

func limited(op Op, err error) error { return &Error{Provider: "limit", Op: op.String(), Err: err} }

type limiter struct {
	LimitOptions
	defaults *RunOptions
	runs     gate

	mu       sync.Mutex
	contexts map[ContextID]struct{}
	creating int
}

func (l *limiter) run(ctx context.Context, c Call, next Handler) (Reply, error) {
	opts, err := l.options(&c)
	if err != nil {
		return Reply{Result: NotRun()}, limited(c.Op, err)
	}
	c.Run = opts
	if l.Runs > 0 {
		if err := l.runs.enter(ctx); err != nil {
			return Reply{Result: NotRun()}, limited(c.Op, err)
		}
		defer l.runs.leave()
	}
	r, err := next(ctx, c)
	l.note(&c, err)
	return r, err
}

func (l *limiter) describe(ctx context.Context, c Call, next Handler) (Reply, error) {
	r, err := next(ctx, c)
	if info, ok := r.Value.(Info); ok {
		info.Limits = info.Limits.within(Limits{l.Timeout, l.Output, l.Code, l.Contexts})
		r.Value = info
	}
	return r, err
}

func (l *limiter) options(c *Call) (*RunOptions, error) {
	if l.Code > 0 && len(c.Code) > l.Code {
		return nil, fmt.Errorf("%w: code of %d bytes is larger than %d; put data into a file", ErrInvalid, len(c.Code), l.Code)
	}
	if c.Run == nil {
		return l.defaults, nil
	}
	o := *c.Run
	if l.Timeout > 0 {
		if o.Timeout > l.Timeout {
			return nil, fmt.Errorf("%w: timeout %v is longer than %v", ErrInvalid, o.Timeout, l.Timeout)
		}
		if o.Timeout == 0 {
			o.Timeout = l.Timeout
		}
	}
	// What is below -1 stays as it is, for CheckRun to refuse.
	if l.Output > 0 && (o.MaxOutput <= 0 || o.MaxOutput > l.Output) && o.MaxOutput >= -1 {
		o.MaxOutput = l.Output
	}
	if o.Timeout == c.Run.Timeout && o.MaxOutput == c.Run.MaxOutput {
		return c.Run, nil
	}
	return new(o), nil
}

func (l *limiter) create(ctx context.Context, c Call, next Handler) (Reply, error) {
	if l.Contexts <= 0 {
		return next(ctx, c)
	}
	l.mu.Lock()
	if len(l.contexts)+l.creating >= l.Contexts {
		l.mu.Unlock()
		return Reply{}, limited(c.Op, fmt.Errorf("%w: the limit of %d contexts at once is reached; delete one first", ErrCapacity, l.Contexts))
	}
	// Reserved before the provider starts the context: two calls at once must not both
	// get the last place.
	l.creating++
	l.mu.Unlock()

	created := false
	var r Reply
	// Deferred, in case the provider panics.
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.creating--; created {
			l.contexts[r.Context] = struct{}{}
		}
	}()
	r, err := next(ctx, c)
	created = err == nil
	return r, err
}

// note forgets a context that is gone.
func (l *limiter) note(c *Call, err error) {
	if c.Context == "" || !errors.Is(err, ErrContext) && (!c.Op.Deletes() || err != nil) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// From any operation, since a provider removes idle contexts by itself.
	delete(l.contexts, c.Context)
}

// A gate lets a number of runs in and makes the others wait in order.
type gate struct {
	slots   chan struct{} // those who wait to send do so first in, first out
	queue   int           // most that wait, 0: no bound, -1: none
	waiting atomic.Int64
}

func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	n := int(g.waiting.Add(1))
	defer g.waiting.Add(-1)
	if g.queue != 0 && n > max(g.queue, 0) {
		return fmt.Errorf("%w: all run slots are taken and %d runs wait; try again later", ErrCapacity, n-1)
	}
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) leave() { <-g.slots }
