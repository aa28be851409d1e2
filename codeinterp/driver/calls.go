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

// ErrEnded is what Program.Call returns where the run is being stopped or has
// ended. It is not an answer for the program, which is about to be interrupted:
// a session drops it, or tells it after the interrupt was delivered where
// something of the program's would wait for ever.
var ErrEnded = errors.New("the run has ended")

var (
	errGivenUp     = errors.New("the program gave the call up")
	errCallTimeout = errors.New("the call took too long")
)

// calls are the function calls of one run.
type calls struct {
	run       *run
	functions []codeinterp.Function // of the run and its context, by name
	limits    codeinterp.FunctionLimits

	mu       sync.Mutex
	ctx      context.Context // of all calls; made with the first
	cancel   context.CancelCauseFunc
	ended    bool
	count    int                   // calls so far
	open     map[*pendingCall]bool // whose functions have not returned
	bytes    int                   // of their arguments
	serving  int                   // those that are not waiting
	unread   int                   // bytes of results that were not taken
	largest  int                   // bytes of a result so far
	expected int                   // results of the calls that are being served
	fewer    chan struct{}         // closed when unread or expected are fewer
	queue    []chan struct{}       // of those that wait to be served
	empty    chan struct{}         // closed when none is open any more
	records  []*record             // by number, without the middle
	waits    int                   // answers that the program waits for
	waited   time.Duration         // how long there were any, before since
	since    time.Time             // since when there are
}

// merge returns the functions of a run in a context, by name.
func merge(context, run []codeinterp.Function) []codeinterp.Function {
	if len(context) == 0 && len(run) == 0 {
		return nil
	}
	// Those of the run first: the sort is stable, so that they win over the context's.
	all := slices.Concat(run, context)
	slices.SortStableFunc(all, func(a, b codeinterp.Function) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b codeinterp.Function) bool { return a.Name == b.Name })
}

// enter notes that a call came, and returns the ctx of all calls.
func (c *calls) enter(name string, args json.RawMessage) (*record, context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, nil, ErrEnded
	}
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancelCause(waitingFor(c.run))
		c.open = map[*pendingCall]bool{}
	}
	c.count++
	if c.waits++; c.waits == 1 {
		c.since = time.Now()
	}
	return c.record(name, args), c.ctx, nil
}

// turn waits until fewer calls than there may be are being served, and for room.
func (c *calls) turn(ctx context.Context) error {
	room := c.run.prog.Room
	if err := c.place(ctx); err != nil {
		return err
	}
	held := c.taken(ctx)
	if held && (room == nil || room(ctx)) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass()
	if held {
		c.expect(-1)
	}
	return context.Cause(ctx)
}

// taken waits until there is room for one more result, takes it, and reports
// whether ctx goes on.
func (c *calls) taken(ctx context.Context) bool {
	for {
		c.mu.Lock()
		if ctx.Err() != nil {
			c.mu.Unlock()
			return false
		}
		// One result may always come, however large. Further ones are taken to be as
		// large as the largest so far.
		if c.expected == 0 && c.unread == 0 || c.unread+(c.expected+1)*c.largest <= c.limits.Pending {
			c.expected++
			c.mu.Unlock()
			return true
		}
		if c.fewer == nil {
			c.fewer = make(chan struct{})
		}
		fewer := c.fewer
		c.mu.Unlock()
		select {
		case <-fewer:
		case <-ctx.Done():
			return false
		}
	}
}

// hold notes a result that the program is to take, or returns why it cannot be
// kept for that. c.mu is held.
func (c *calls) addResult(n int) error {
	if c.unread > 0 && c.unread+n > c.limits.Pending {
		return &codeinterp.FunctionError{Message: fmt.Sprintf("the results that were not read have more than %d bytes together; make fewer calls at once", c.limits.Pending)}
	}
	c.unread += n
	c.largest = max(c.largest, n)
	return nil
}

// took notes that the program has taken a result.
func (c *calls) took(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread -= n
	c.expect(0)
}

// expect notes how many more results are expected, and wakes those that wait for
// room. c.mu is held.
func (c *calls) expect(more int) {
	c.expected += more
	if c.fewer != nil {
		close(c.fewer)
		c.fewer = nil
	}
}

// place is turn without the room.
func (c *calls) place(ctx context.Context) error {
	c.mu.Lock()
	if c.serving < c.limits.Parallel {
		c.serving++
		c.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	c.queue = append(c.queue, turn)
	c.mu.Unlock()
	select {
	case <-turn:
		if ctx.Err() == nil {
			return nil
		}
	case <-ctx.Done():
		c.mu.Lock()
		i := slices.Index(c.queue, turn)
		if i >= 0 {
			c.queue = slices.Delete(c.queue, i, i+1)
		}
		c.mu.Unlock()
		if i >= 0 {
			return context.Cause(ctx)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass() // it came after the run was over
	return context.Cause(ctx)
}

// pass passes a turn on. c.mu is held.
func (c *calls) pass() {
	if len(c.queue) == 0 {
		c.serving--
		return
	}
	close(c.queue[0])
	c.queue = slices.Delete(c.queue, 0, 1)
}

// leave notes that a function has returned. c.mu is held.
func (c *calls) leave(p *pendingCall, err error) {
	rec := p.rec
	rec.Duration, rec.Err, rec.done = time.Since(rec.begin), err, true
	// Not when the program gave up: the function holds its arguments until it
	// returns.
	c.bytes -= len(p.args)
	if delete(c.open, p); len(c.open) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// recordAnswer notes what the program gets to know. c.mu is held.
func (c *calls) recordAnswer(rec *record, value json.RawMessage, err error) {
	if rec.Result = excerpt(value); err != nil {
		rec.Error = message(err)
	}
	if c.waits--; c.waits == 0 {
		c.waited += time.Since(c.since)
	}
}

// untimed returns how long the program's time has stood still, and whether it
// does.
func (c *calls) untimed() (time.Duration, bool) {
	if !c.limits.ExcludeFromTimeout {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waited, c.waits > 0
}

// end ends the calls in progress, and refuses those that come.
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

// again lets calls come in a run that has not begun.
func (c *calls) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Nothing was called before the program began, so no call hangs on the old ctx.
	c.ended, c.ctx, c.cancel = false, nil, nil
}

// finish waits until the functions have returned, whose ctx has ended, and tells
// of the calls in res.
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
