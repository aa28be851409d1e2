package jupyter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// ListContexts lists the contexts of this client, whatever else there is on
// the server.
func (s *Stateful) ListContexts(ctx context.Context) ([]codeinterp.ContextInfo, error) {
	if err := s.usable(ctx); err != nil {
		return nil, wrap("list contexts", err)
	}
	s.cmu.Lock()
	defer s.cmu.Unlock()
	list := make([]codeinterp.ContextInfo, 0, len(s.contexts))
	for _, c := range s.contexts {
		list = append(list, c.info())
	}
	slices.SortFunc(list, func(a, b codeinterp.ContextInfo) int { return a.Created.Compare(b.Created) })
	return list, nil
}

func (s *Stateful) usable(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return codeinterp.ErrClosed
	}
	return nil
}

func (c *kernelContext) info() codeinterp.ContextInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return codeinterp.ContextInfo{ID: c.id, Language: c.language, Cwd: c.opts.Cwd,
		Created: c.created, LastUsed: c.lastUsed, Busy: c.busy, Queued: c.queued}
}

// RestartContext restarts the context's kernel and keeps its id.
func (s *Stateful) RestartContext(ctx context.Context, id codeinterp.ContextID) error {
	return wrap("restart context", s.restart(ctx, id))
}

func (s *Stateful) restart(ctx context.Context, id codeinterp.ContextID) error {
	c, err := s.find(id)
	if err != nil {
		return err
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	if !s.begin() {
		return codeinterp.ErrClosed
	}
	defer s.ops.Done()
	within, cancel := c.bound(ctx)
	defer cancel()
	turn := make(chan error, 1)
	// A run in progress does the restart; where there is none we do.
	waiting, give := context.WithCancel(within)
	defer give()
	if c.turn.TryAcquire(1) {
		turn <- nil
	} else {
		go func() { turn <- c.turn.Acquire(waiting, 1) }()
	}
	o := order{why: stopRestart, done: make(chan error, 1)}
	select {
	case c.orders <- o:
		give()
		if <-turn == nil {
			c.turn.Release(1)
		}
		return <-o.done
	case err := <-turn:
		if err != nil {
			return context.Cause(within)
		}
	}
	defer c.turn.Release(1)
	err = c.kill(true)
	c.forget()
	return err
}

// forget notes that the state is gone because the caller wanted it.
func (c *kernelContext) forget() {
	c.kernel().takeLost()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost, c.fresh = false, true
}

// InterruptContext interrupts the run in progress. One that does not end
// within the grace of Options loses its kernel.
func (s *Stateful) InterruptContext(ctx context.Context, id codeinterp.ContextID) error {
	return wrap("interrupt context", s.interrupt(ctx, id))
}

func (s *Stateful) interrupt(ctx context.Context, id codeinterp.ContextID) error {
	c, err := s.find(id)
	if err != nil {
		return err
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	for {
		if c.turn.TryAcquire(1) {
			c.turn.Release(1)
			return nil
		}
		select {
		case c.orders <- order{why: stopInterrupt, done: make(chan error, 1)}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.deleted:
			return codeinterp.ErrContext
		case <-s.closing:
			return codeinterp.ErrClosed
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func noSurroundings(k *kernel) error {
	return fmt.Errorf("%w: kernel %q takes no environment, directory or standard input", codeinterp.ErrInvalid, k.rt.name)
}
