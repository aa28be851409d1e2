package driver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// ErrEnded is what Program.Call returns if the run is being stopped or has ended. It
// is not an answer for the program, which is about to be interrupted: a session drops
// it, or delivers it after the interrupt if something in the program would wait for
// ever.
var ErrEnded = errors.New("the run has ended")

var (
	errGivenUp     = errors.New("the program abandoned the call")
	errCallTimeout = errors.New("the call took too long")
)

// calls are the function calls of one run.
type calls struct {
	run       *run
	functions []codeinterp.Function // of the run and its context, by name
	limits    codeinterp.FunctionLimits
	served    chan none // holds one for each call that is served; made with the first

	mu      sync.Mutex
	ctx     context.Context // of all calls; made with the first
	cancel  context.CancelCauseFunc
	ended   bool
	count   int                   // calls so far
	open    map[*pendingCall]bool // their functions have not returned
	bytes   int                   // of their arguments
	unread  int                   // bytes of results that were not read
	empty   chan struct{}         // closed when open becomes empty
	records []*record             // by number; the middle may be dropped
	waits   int                   // answers that the program waits for
	waited  time.Duration         // total time with waits > 0, before since
	since   time.Time             // since when waits > 0
}

// merge returns the functions of a run in a context, sorted by name. Those of the run
// win.
func merge(context, run []codeinterp.Function) []codeinterp.Function {
	if len(context) == 0 && len(run) == 0 {
		return nil
	}
	// The sort is stable.
	all := slices.Concat(run, context)
	slices.SortStableFunc(all, func(a, b codeinterp.Function) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b codeinterp.Function) bool { return a.Name == b.Name })
}

// register records a new call and returns the ctx of all calls. One that the program made
// before its end may come after End: it is recorded, and not made.
func (c *calls) register(name string, args json.RawMessage) (*record, context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		c.count++
		c.record(name, args).close(ErrEnded)
		return nil, nil, ErrEnded
	}
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancelCause(waitingFor(c.run))
		c.open, c.served = map[*pendingCall]bool{}, make(chan none, c.limits.Parallel)
	}
	c.count++
	if c.waits++; c.waits == 1 {
		c.since = c.run.slot.in.pause.clock.now()
	}
	return c.record(name, args), c.ctx, nil
}

// addResult counts a result that the program has to read, or returns why there is no
// room for it. c.mu is held.
func (c *calls) addResult(n int) error {
	if c.unread > 0 && c.unread+n > c.limits.Pending {
		return &codeinterp.FunctionError{Message: fmt.Sprintf("the results that were not read have more than %d bytes together; make fewer calls at once", c.limits.Pending)}
	}
	c.unread += n
	return nil
}

// resultRead records that the program has read a result.
func (c *calls) resultRead(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread -= n
}

// functionReturned records that a function has returned. c.mu is held.
func (c *calls) functionReturned(p *pendingCall, err error) {
	rec := p.rec
	rec.Duration, rec.Err, rec.done = time.Since(rec.begin), err, true
	// Not earlier: the function holds its arguments until it returns.
	c.bytes -= len(p.args)
	if delete(c.open, p); len(c.open) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// recordAnswer records the answer that the program gets. c.mu is held.
func (c *calls) recordAnswer(rec *record, value json.RawMessage, err error) {
	if rec.Result = excerpt(value); err != nil {
		rec.Error = message(err)
	}
	if c.waits--; c.waits == 0 {
		c.waited += c.run.slot.in.pause.clock.since(c.since)
	}
}

// untimed returns how long the timeout was suspended, and whether it is now.
func (c *calls) untimed() (time.Duration, bool) {
	if !c.limits.ExcludeFromTimeout {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waited, c.waits > 0
}

// end cancels the calls in progress and refuses further ones.
func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked()
}

func (c *calls) endLocked() {
	if c.ended {
		return
	}
	if c.ended = true; c.cancel == nil {
		return
	}
	c.cancel(ErrEnded)
	for p := range c.open {
		go p.abandon(c.ctx) // an AfterFunc for each would cost each call
	}
}

// reopen accepts calls again in a run that has not begun.
func (c *calls) reopen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	// No call uses the old ctx, since the program had not begun.
	c.ended, c.ctx, c.cancel = false, nil, nil
}

// finish waits for the functions, whose ctx has ended, to return and records the calls
// in res.
func (c *calls) finish(res *codeinterp.Result, patience time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked()
	if len(c.open) > 0 {
		empty := make(chan struct{})
		c.empty = empty
		c.mu.Unlock()
		t := time.NewTimer(patience)
		select {
		case <-empty:
		case <-t.C:
		}
		t.Stop()
		c.mu.Lock()
	}
	c.report(res)
}
