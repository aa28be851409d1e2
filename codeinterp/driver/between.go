package driver

import (
	"context"

	"github.com/toolcell/toolcell/codeinterp"
)

// An extra is an operation of one provider only.
type extra string

func (e extra) String() string { return string(e) }

// BetweenRuns calls do with the session of a context when no run is in progress, for
// features of a provider beyond runs. op names the operation in errors.
func (i *Stateful) BetweenRuns(ctx context.Context, op string, id codeinterp.ContextID, do func(Session) error) error {
	return i.wrap(ctx, extra(op), i.betweenRuns(ctx, id, do))
}

func (i *Stateful) betweenRuns(ctx context.Context, id codeinterp.ContextID, do func(Session) error) error {
	s, err := i.find(ctx, id)
	if err != nil {
		return err
	}
	if s.awaits(ctx) {
		return errSelf
	}
	if err := s.acquire(ctx, nil); err != nil {
		return err
	}
	defer s.release()
	if s.session == nil || s.resetPending {
		return errNoSession
	}
	return do(s.session)
}

// Adopt makes a context of the session that start returns for its id. op names the operation
// in errors.
func (i *Stateful) Adopt(ctx context.Context, op string, start func(codeinterp.ContextID) (Attached, error)) (codeinterp.ContextID, error) {
	s := i.newContext()
	id, err := i.open(ctx, s, nil, func(context.Context) (Attached, error) { return start(s.id) })
	return id, i.wrap(ctx, extra(op), err)
}
