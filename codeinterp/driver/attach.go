package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Attacher is a Runtime whose states outlive this process: a context can be
// detached without ending its state and attached again by its reference.
type Attacher interface {
	// Attach returns a session for the state that ref names. The error is
	// codeinterp.ErrContext if the state is gone, codeinterp.ErrInvalid if ref is
	// not a reference. late is Options.Late.
	Attach(ctx context.Context, ref string, late func(codeinterp.Output)) (Attached, error)

	// Detach is called instead of s.Close and leaves the state running. If it
	// fails, the session stays. Detach calls unread after the last call of
	// Options.Late: it returns late output that was in no Result, for the one who
	// attaches.
	Detach(ctx context.Context, s Session, unread func() codeinterp.Result) (ref string, err error)
}

// An Attached is a session that was attached.
type Attached struct {
	Session  Session
	Language string
	Options  codeinterp.ContextOptions // those that it was created with

	// Empty says that no program had begun in the state when it was detached.
	Empty bool
}

// An Adopter detaches and attaches contexts.
type Adopter struct {
	i  *Stateful
	rt Attacher
}

// Adopts returns the Adopter of an interpreter whose runtime is an [Attacher].
func Adopts(i *Stateful) (Adopter, bool) {
	rt, ok := i.rt.(Attacher)
	return Adopter{i, rt}, ok
}

// Attach makes a context of the state that ref names.
func (a Adopter) Attach(ctx context.Context, ref string) (codeinterp.ContextID, error) {
	s := a.i.newContext()
	id, err := a.i.open(ctx, s, nil, func(ctx context.Context) (Attached, error) { return a.rt.Attach(ctx, ref, s.opts.Late) })
	return id, a.i.wrap(ctx, op("attach"), err)
}

// Detach removes a context after its earlier runs have ended, and returns the
// reference of its state, which goes on.
func (a Adopter) Detach(ctx context.Context, id codeinterp.ContextID) (string, error) {
	ref, err := a.detach(ctx, id)
	return ref, a.i.wrap(ctx, op("detach"), err)
}

func (a Adopter) detach(ctx context.Context, id codeinterp.ContextID) (string, error) {
	s, err := a.i.find(ctx, id)
	if err != nil {
		return "", err
	}
	if s.awaits(ctx) {
		return "", errSelf
	}
	// Holding the turn, no run is in progress.
	if err := s.acquire(ctx, nil); err != nil {
		return "", err
	}
	defer s.release()
	session := s.session
	if session == nil {
		return "", fmt.Errorf("%w: the context has no session just now", codeinterp.ErrUnavailable)
	}
	var taken codeinterp.Result
	unread := func() codeinterp.Result {
		s.mu.Lock()
		defer s.mu.Unlock()
		taken = s.late.take()
		return taken
	}
	ref, err := callInSlot(s, ctx, func(ctx context.Context) (string, error) { return a.rt.Detach(ctx, session, unread) },
		func(string, error) { s.closeReturned(nil) })
	if errors.Is(err, errStuck) {
		s.countStuck()
		s.setSession(nil)
	}
	if err != nil {
		s.mu.Lock()
		s.late.putBack(&taken)
		s.mu.Unlock()
		return "", err
	}
	s.setSession(nil)
	a.i.removeContext(s)
	s.terminate(codeinterp.ErrContext)
	return ref, nil
}
