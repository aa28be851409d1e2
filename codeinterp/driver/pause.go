package driver

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Pauser is a Runtime that stops all that its sessions run. Its interpreters have
// [codeinterp.Pauses].
type Pauser interface {
	// Pause returns once no process of a session computes. It is not called while a
	// session starts a program. After an error nothing is stopped.
	Pause(ctx context.Context) error

	// Resume continues what Pause has stopped.
	Resume(ctx context.Context) error
}

// A pauser is the codeinterp.Pauser of an interpreter whose runtime is a Pauser.
type pauser struct {
	*Interpreter
	rt Pauser
}

// pauses returns the Pauser of an interpreter that has one.
func (i *Interpreter) pauses() (codeinterp.Pauser, bool) {
	rt, ok := i.rt.(Pauser)
	return pauser{i, rt}, ok && i.rt.Describe().Pause != ""
}

// Pause implements codeinterp.Pauser.
func (i pauser) Pause(ctx context.Context) error {
	return i.wrapped(ctx, codeinterp.OpPause, i.change(ctx, func() error {
		if i.pause.clock.stopped() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, i.cfg.Patience)
		defer cancel()
		if i.pause.starts.Acquire(ctx, allStarts) != nil {
			return fmt.Errorf("%w: programs are still starting: %w", codeinterp.ErrUnavailable, context.Cause(ctx))
		}
		i.pause.clock.stop()
		err := call(ctx, i.rt.Pause)
		if err != nil {
			i.goOn()
		}
		return err
	}))
}

// Resume implements codeinterp.Pauser.
func (i pauser) Resume(ctx context.Context) error {
	return i.wrapped(ctx, codeinterp.OpEndPause, i.change(ctx, func() error {
		if !i.pause.clock.stopped() {
			return nil
		}
		if err := call(ctx, i.rt.Resume); err != nil {
			return err
		}
		i.goOn()
		return nil
	}))
}

// change serializes pauses and resumptions.
func (i *Interpreter) change(ctx context.Context, f func() error) error {
	if !i.pause.changing.TryAcquire(1) && i.pause.changing.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	defer i.pause.changing.Release(1)
	i.mu.Lock()
	err := i.checkOpen(ctx)
	i.mu.Unlock()
	if err != nil {
		return err
	}
	return f()
}

// goOn lets programs start, and deadlines pass.
func (i *Interpreter) goOn() {
	i.pause.clock.start()
	i.pause.starts.Release(allStarts)
	i.mu.Lock()
	slots := slices.Collect(maps.Keys(i.live))
	i.mu.Unlock()
	for _, s := range slots {
		s.mu.Lock()
		s.wakeRun()
		s.mu.Unlock()
	}
}

// A pause keeps programs from starting while an interpreter is paused.
type pause struct {
	changing *semaphore.Weighted // held while Pause or Resume works
	clock    clock
	starts   *semaphore.Weighted // of all: a program that starts takes 1, a pause all
}

// allStarts is more than there are programs.
const allStarts = math.MaxInt64

// check returns ErrPaused in a pause.
func (p *pause) check() error {
	if !p.clock.stopped() {
		return nil
	}
	return fmt.Errorf("%w: all programs stand still, and nothing can be run until the user resumes them", codeinterp.ErrPaused)
}

// enter waits until programs can start. After a success, leave is called once when this
// one has started.
func (p *pause) enter(ctx context.Context) error {
	// Acquire makes a channel of ctx, which most runs do not need.
	if !p.starts.TryAcquire(1) && p.starts.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (p *pause) leave() { p.starts.Release(1) }

// A clock is the host's, which stands still in pauses.
type clock struct{ last atomic.Pointer[stop] } // nil before the first pause

// A stop is the last pause of a clock.
type stop struct {
	before     time.Duration // all earlier pauses
	begin, end time.Time     // end is zero while it lasts
}

func (c *clock) stopped() bool {
	s := c.last.Load()
	return s != nil && s.end.IsZero()
}

func (c *clock) now() time.Time { return c.at(time.Now()) }

func (c *clock) since(t time.Time) time.Duration { return c.now().Sub(t) }

// at returns what the clock showed at a time of the host's, which is not before the
// last pause but one.
func (c *clock) at(t time.Time) time.Time {
	switch s := c.last.Load(); {
	case s == nil || t.IsZero():
		return t
	case t.Before(s.begin):
		return t.Add(-s.before)
	case s.end.IsZero() || t.Before(s.end):
		return s.begin.Add(-s.before)
	default:
		return t.Add(-s.before - s.end.Sub(s.begin))
	}
}

// host is the reverse of at, for a time after the last pause.
func (c *clock) host(t time.Time) time.Time {
	if s := c.last.Load(); s != nil && !s.end.IsZero() {
		return t.Add(s.before + s.end.Sub(s.begin))
	}
	return t
}

func (c *clock) stop() {
	s := &stop{begin: time.Now()}
	if last := c.last.Load(); last != nil {
		s.before = last.before + last.end.Sub(last.begin)
	}
	c.last.Store(s)
}

func (c *clock) start() {
	s := *c.last.Load()
	s.end = time.Now()
	c.last.Store(&s)
}
