package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Attacher is a Runtime whose states outlive this process: a context can be
// given up without ending its state, and taken up again by its reference.
type Attacher interface {
	// Attach returns a session around the state that ref names. It is
	// codeinterp.ErrContext where that is gone, codeinterp.ErrInvalid where ref
	// is no reference. late is Options.Late.
	Attach(ctx context.Context, ref string, late func(codeinterp.Output)) (Attached, error)

	// Detach is called instead of s.Close and leaves the state running. Where
	// it fails, the session stays. unread takes what came by Options.Late and
	// was in no Result, which whoever attaches is to see; it is called once
	// nothing comes that way any more.
	Detach(ctx context.Context, s Session, unread func() codeinterp.Result) (ref string, err error)
}

// An Attached is a session that was taken up again.
type Attached struct {
	Session  Session
	Language string
	Options  codeinterp.ContextOptions // those that it was created with

	// Empty says that no program had begun in the state when its reference was
	// made, so that there is nothing to lose.
	Empty bool
}

// An Adopter gives contexts up and takes them up again.
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

// Detach gives a context up once the runs before have ended, and returns the
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
	// With the turn no run is in progress, whose end would be cut off.
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
	ref, err := during(s, ctx, func(ctx context.Context) (string, error) { return a.rt.Detach(ctx, session, unread) },
		func(string, error) { s.abandon(nil) })
	if errors.Is(err, errStuck) {
		s.giveUp()
		s.hold(nil)
	}
	if err != nil {
		s.mu.Lock()
		s.late.putBack(&taken)
		s.mu.Unlock()
		return "", err
	}
	s.hold(nil)
	a.i.forget(s)
	// Without a session, so that the end of the slot closes nothing.
	s.finish(codeinterp.ErrContext)
	return ref, nil
}
