package kernel

import "context"

// A Turn is a lock that is waited for within a ctx.
type Turn chan struct{}

// NewTurn returns a Turn that nothing has taken.
func NewTurn() Turn { return make(Turn, 1) }

// Take takes the turn, which the caller gives back, or returns why ctx ended.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Give gives it back.
func (t Turn) Give() { <-t }
