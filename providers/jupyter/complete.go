package jupyter

import (
	"context"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

var _ driver.Completer = (*runtime)(nil)

// Complete implements driver.Completer. If the kernel has not answered, what
// its completer does is ended before the next program, as one that was left is.
func (rt *runtime) Complete(ctx context.Context, of driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	s := of.(*session)
	s.turn.take()
	defer s.turn.give()
	k := s.k.Load()
	if err := checkRequest(code); err != nil {
		return codeinterp.Completion{}, err
	}
	if s.left != nothing && s.left != ofCompletion {
		return codeinterp.Completion{}, server.Unavailable("an earlier program may still be running")
	}
	// What was lost may be no more than the connection.
	if err := k.Ensure(ctx, nil); errors.Is(err, kernel.ErrGone) {
		return codeinterp.Completion{}, nil
	} else if err != nil {
		return codeinterp.Completion{}, err
	}
	c, err := k.Complete(ctx, code, cursor)
	switch {
	case err == nil: // so has the one before it, which was given up
		s.left = nothing
	case err != nil && ctx.Err() != nil && !s.foreign:
		s.left = ofCompletion
	}
	if errors.Is(err, kernel.ErrGone) {
		return codeinterp.Completion{}, nil
	}
	return c, err
}
