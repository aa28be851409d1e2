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

// Complete implements driver.Completer. A completer that has not answered is waited for
// before the next program.
func (rt *runtime) Complete(ctx context.Context, of driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	s := of.(*session)
	if err := s.turn.Take(ctx); err != nil {
		return codeinterp.Completion{}, err
	}
	defer s.turn.Give()
	k := s.k.Load()
	if err := checkRequest(code); err != nil {
		return codeinterp.Completion{}, err
	}
	if s.left != nothing {
		return codeinterp.Completion{}, server.Unavailable("an earlier program may still be running")
	}
	// What was lost may be no more than the connection.
	if err := k.Ensure(ctx, nil); errors.Is(err, kernel.ErrGone) {
		return codeinterp.Completion{}, nil
	} else if err != nil {
		return codeinterp.Completion{}, err
	}
	c, err := k.Complete(ctx, code, cursor)
	if errors.Is(err, kernel.ErrGone) {
		return codeinterp.Completion{}, nil
	}
	return c, err
}
