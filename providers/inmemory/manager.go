package inmemory

import (
	"context"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

// ListContexts implements codeinterp.ContextManager.
func (s *Stateful) ListContexts(ctx context.Context) ([]codeinterp.ContextInfo, error) {
	if err := s.enterAlways(ctx); err != nil {
		return nil, wrap("list contexts", err)
	}
	defer s.pending.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]codeinterp.ContextInfo, 0, len(s.contexts))
	for _, c := range s.contexts {
		list = append(list, c.info())
	}
	slices.SortFunc(list, func(a, b codeinterp.ContextInfo) int { return a.Created.Compare(b.Created) })
	return list, nil
}

func (c *state) info() codeinterp.ContextInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	cwd := "/"
	if c.cwd != "." {
		cwd += c.cwd
	}
	return codeinterp.ContextInfo{ID: c.id, Language: c.language, Cwd: cwd, Created: c.created, LastUsed: c.lastUsed,
		Busy: c.current != nil, Queued: c.queued}
}

// RestartContext implements codeinterp.ContextManager. The context's files
// stay.
func (s *Stateful) RestartContext(ctx context.Context, id codeinterp.ContextID) error {
	return s.manage(ctx, "restart context", id, func(c *state) error {
		c.reset.Store(true)
		if err := c.stopRun(ctx, errRestart); err != nil {
			return err
		}
		if c.turn.TryAcquire(1) {
			c.renew()
			c.turn.Release(1)
		}
		return nil
	})
}

// InterruptContext implements codeinterp.ContextManager. It returns when the
// run has ended.
func (s *Stateful) InterruptContext(ctx context.Context, id codeinterp.ContextID) error {
	return s.manage(ctx, "interrupt context", id, func(c *state) error { return c.stopRun(ctx, errInterrupt) })
}

func (s *Stateful) manage(ctx context.Context, op string, id codeinterp.ContextID, do func(*state) error) error {
	if err := s.enterAlways(ctx); err != nil {
		return wrap(op, err)
	}
	defer s.pending.Done()
	c, err := s.context(id)
	if err != nil {
		return wrap(op, err)
	}
	return wrap(op, do(c))
}
