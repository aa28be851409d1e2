package driver

import (
	"context"

	"github.com/toolcell/toolcell/codeinterp"
)

// BetweenRuns calls do with the session of a context when no run is in progress, for
// features of a provider beyond runs. name names the operation in errors.
func (i *Stateful) BetweenRuns(ctx context.Context, name string, id codeinterp.ContextID, do func(Session) error) (err error) {
	defer i.wrap(ctx, op(name), &err)
	s, err := i.turn(ctx, id)
	if err != nil {
		return err
	}
	defer s.release()
	if s.session == nil || s.resetPending {
		return errNoSession
	}
	return do(s.session)
}

// turn waits until no run of a context is in progress, and keeps others from beginning
// until release.
func (i *Stateful) turn(ctx context.Context, id codeinterp.ContextID) (*slot, error) {
	s, err := i.find(ctx, id)
	if err == nil && s.awaits(ctx) {
		err = errSelf
	}
	if err != nil {
		return nil, err
	}
	return s, s.acquire(ctx, nil)
}

// Adopt makes a context of the session that start returns for its id. name names the
// operation in errors.
func (i *Stateful) Adopt(ctx context.Context, name string, start func(codeinterp.ContextID) (Attached, error)) (id codeinterp.ContextID, err error) {
	defer i.wrap(ctx, op(name), &err)
	s := i.newContext()
	return i.open(ctx, s, nil, func(context.Context) (Attached, error) { return start(s.id) })
}
