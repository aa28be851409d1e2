package jupyter

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
)

// A kernelContext is a context: an id, what it was created with, and the
// kernel that has its state at present.
type kernelContext struct {
	s        *Stateful
	id       codeinterp.ContextID
	language string
	opts     codeinterp.ContextOptions
	created  time.Time
	turn     *semaphore.Weighted // held by the run in progress; first in, first out
	orders   chan order          // to the run in progress
	deleted  chan struct{}
	dir      string // names the private directory, empty where there is none

	mu       sync.Mutex
	k        *kernel
	lastUsed time.Time
	queued   int
	busy     bool
	lost     bool        // state went, and no run has told it
	fresh    bool        // the kernel's process has not been given start
	idle     *time.Timer // deletes the context
	gone     bool
}

func newContext(s *Stateful, language string, o codeinterp.ContextOptions, k *kernel) *kernelContext {
	now := time.Now()
	return &kernelContext{s: s, id: codeinterp.ContextID(rand.Text()), language: language, opts: o,
		created: now, lastUsed: now, turn: semaphore.NewWeighted(1), orders: make(chan order),
		deleted: make(chan struct{}), dir: "toolcell-" + rand.Text(), k: k, fresh: true}
}

// run waits for its turn and runs code.
func (c *kernelContext) run(ctx context.Context, code string, o codeinterp.RunOptions) (codeinterp.Result, error) {
	if err := c.wait(ctx); err != nil {
		return codeinterp.NotRun(), err
	}
	defer c.release()
	for again := false; ; again = true {
		if err := c.ready(ctx); err != nil {
			return codeinterp.NotRun(), err
		}
		k := c.kernel()
		res, err := c.s.runPrepared(ctx, k, code, o, false,
			control{orders: c.orders, deleted: c.deleted, closing: c.s.closing, kill: c.kill})
		c.note(&res)
		if errors.Is(err, errNeverRan) && !again {
			continue
		}
		return res, err
	}
}

// wait queues for the context's turn.
func (c *kernelContext) wait(ctx context.Context) error {
	c.mu.Lock()
	c.queued++
	c.mu.Unlock()
	within, cancel := c.bound(ctx)
	defer cancel()
	err := c.turn.Acquire(within, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queued--
	if err != nil {
		return context.Cause(within)
	}
	if within.Err() != nil {
		c.turn.Release(1)
		return context.Cause(within)
	}
	c.busy = true
	if c.idle != nil {
		c.idle.Stop()
	}
	return nil
}

// bound returns a context that also ends when the context or the interpreter
// does.
func (c *kernelContext) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	go func() {
		select {
		case <-c.s.closing:
			cancel(codeinterp.ErrClosed)
		case <-c.deleted:
			cancel(codeinterp.ErrContext)
		case <-stop:
		}
	}()
	return ctx, func() { close(stop); cancel(nil) }
}

func (c *kernelContext) release() {
	c.mu.Lock()
	c.busy = false
	c.lastUsed = time.Now()
	c.mu.Unlock()
	c.turn.Release(1)
	c.rest()
}

// rest starts the idle time.
func (c *kernelContext) rest() {
	d := c.s.opts.ContextIdle
	if d == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy || c.queued > 0 || c.gone {
		return
	}
	if c.idle == nil {
		c.idle = time.AfterFunc(d, func() { _ = c.s.remove(context.Background(), c.id) })
		return
	}
	c.idle.Reset(d)
}

func (c *kernelContext) kernel() *kernel {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.k
}

// ready makes sure that there is a kernel to run in: connected, prepared, and
// with the context's directory and environment.
func (c *kernelContext) ready(ctx context.Context) error {
	k := c.kernel()
	if !k.isDown() && !c.isFresh() {
		return nil
	}
	within, cancel := c.bound(ctx)
	defer cancel()
	for range 3 {
		err := k.ensure(within)
		if k.takeLost() {
			c.mu.Lock()
			c.lost, c.fresh = true, true
			c.mu.Unlock()
		}
		if err == nil {
			err = c.start(within)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, errGone) && !errors.Is(err, errDied):
			return err
		}
		if errors.Is(err, errGone) {
			if k, err = c.replace(within); err != nil {
				return err
			}
		}
	}
	return unavailable("the kernel died again and again")
}

// replace starts a new kernel in place of one that is gone.
func (c *kernelContext) replace(ctx context.Context) (*kernel, error) {
	old := c.kernel()
	err := c.s.c.await(ctx, func(ctx context.Context) error {
		return ignoreGone(c.s.c.do(ctx, http.MethodGet, "api/kernels/"+old.handle.kernel, nil, nil))
	})
	if err != nil {
		return nil, err
	}
	_ = c.s.discard(old)
	k, err := c.s.newKernel(ctx, old.rt)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.k, c.fresh = k, true
	c.mu.Unlock()
	return k, nil
}

func (c *kernelContext) isFresh() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fresh
}

// start gives a new process the context's directory and environment.
func (c *kernelContext) start(ctx context.Context) error {
	if !c.isFresh() {
		return nil
	}
	k := c.kernel()
	d := k.rt.dialect
	s := surroundings{cwd: c.opts.Cwd, env: c.opts.Env}
	if s.cwd == "" && d.start != nil {
		s.dir = c.dir
	}
	if s.dir != "" || s.cwd != "" || len(s.env) > 0 {
		if d.start == nil {
			return noSurroundings(k)
		}
		within, cancel := k.inTime(ctx)
		defer cancel()
		if err := k.hidden(within, d.start(s)); err != nil {
			return enterError(err)
		}
	}
	c.mu.Lock()
	c.fresh = false
	c.mu.Unlock()
	return nil
}

// note settles what a run says of the state.
func (c *kernelContext) note(res *codeinterp.Result) {
	k := c.kernel()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case res.Status == codeinterp.StatusNotRun:
		return
	case res.Cause == codeinterp.CauseRestart && res.Status == codeinterp.StatusLost:
		_ = k.takeLost()
		c.lost, c.fresh = false, true
		return
	}
	if k.takeLost() {
		c.lost, c.fresh = true, true
	}
	res.StateLost, c.lost = c.lost, false
}

// takeLost reports, once, that the kernel lost its state.
func (k *kernel) takeLost() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	lost := k.stateLost
	k.stateLost = false
	return lost
}

// kill ends the kernel's process, and keeps the kernel for a fresh one if
// again is set.
func (c *kernelContext) kill(again bool) error {
	k := c.kernel()
	k.mu.Lock()
	k.stateLost = true
	k.mu.Unlock()
	if again {
		err := k.c.restartKernel(context.Background(), k.handle.kernel)
		if err == nil {
			k.restarted()
			return nil
		}
		if _, refused := errors.AsType[*StatusError](err); !refused {
			c.s.leave(k)
			k.kill()
			return err
		}
	}
	err := c.s.discard(k)
	k.kill()
	return err
}

// end deletes the context: its run ends, those that wait never run, and the
// kernel goes.
func (c *kernelContext) end() error {
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return nil
	}
	c.gone = true
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
	close(c.deleted)
	_ = c.turn.Acquire(context.Background(), 1)
	defer c.turn.Release(1)
	k := c.kernel()
	k.mu.Lock()
	dead := k.dead
	k.mu.Unlock()
	if dead {
		k.drop()
		return nil
	}
	c.cleanUp(k)
	return c.s.discard(k)
}

// cleanUp removes the private directory, if the kernel can do so.
func (c *kernelContext) cleanUp(k *kernel) {
	d := k.rt.dialect
	if c.opts.Cwd != "" || c.dir == "" || d.remove == nil || k.isDown() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.s.opts.Grace)
	defer cancel()
	_ = k.hidden(ctx, d.remove(c.dir))
}
