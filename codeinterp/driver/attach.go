package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Attacher is a Runtime whose states outlive this process: a context can be
// detached without ending its state and attached again by its reference. Its interpreters
// have [codeinterp.Attaches].
//
// A session that was attached may have a run of the process before. Its Run with
// Program.Resume follows that; without such a run it returns codeinterp.ErrNoRun before
// Program.Begin. Any other Run ends the wait for it first, by [ReportRun].
type Attacher interface {
	// Attach returns a session for the state that ref names. The errors are those of
	// [codeinterp.ContextAttacher]. late is Options.Late.
	Attach(ctx context.Context, ref codeinterp.Ref, late func(codeinterp.Output)) (Attached, error)

	// Refer returns the reference of a state that stays attached. It may be called at any
	// time and does not wait.
	Refer(s Session) (codeinterp.Ref, error)

	// Detach is called instead of s.Close and leaves the state running. If it
	// fails, the session stays. unread, called after the last call of Options.Late,
	// reports whether there is late output that was in no Result.
	Detach(ctx context.Context, s Session, unread func() bool) (codeinterp.Ref, error)
}

// An Attached is a session that was attached.
type Attached struct {
	Session  Session
	Language string
	Options  codeinterp.ContextOptions // those that it was created with

	// Empty says that no program had begun in the state when it was detached.
	Empty bool

	// Runs is how many programs had begun in the state, if it is known.
	Runs int
}

// An attacher is the codeinterp.ContextAttacher of an interpreter whose runtime is an
// Attacher.
type attacher struct {
	*Stateful
	rt Attacher
}

// attaches returns the ContextAttacher of an interpreter that has one.
func (i *Stateful) attaches() (codeinterp.ContextAttacher, bool) {
	rt, ok := i.rt.(Attacher)
	return attacher{i, rt}, ok
}

// Attach implements codeinterp.ContextAttacher.
func (a attacher) Attach(ctx context.Context, ref codeinterp.Ref) (id codeinterp.ContextID, err error) {
	defer a.wrap(ctx, codeinterp.OpAttach, &err)
	s := a.newContext()
	return a.open(ctx, s, nil, func(ctx context.Context) (Attached, error) { return a.rt.Attach(ctx, ref, s.opts.Late) })
}

// Refer implements codeinterp.ContextAttacher.
func (a attacher) Refer(ctx context.Context, id codeinterp.ContextID) (ref codeinterp.Ref, err error) {
	defer a.wrap(ctx, codeinterp.OpRefer, &err)
	s, err := a.find(ctx, id)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session == nil {
		return "", errNoSession
	}
	return a.rt.Refer(session)
}

// ResumeRun implements codeinterp.ContextAttacher.
func (a attacher) ResumeRun(ctx context.Context, id codeinterp.ContextID, opts *codeinterp.RunOptions) (res codeinterp.Result, err error) {
	defer a.wrap(ctx, codeinterp.OpResume, &err)
	if opts == nil {
		opts = &codeinterp.RunOptions{}
	}
	// Of the options only these are for a run that has begun.
	o, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Timeout: opts.Timeout, OnOutput: opts.OnOutput, MaxOutput: opts.MaxOutput})
	if err != nil {
		return codeinterp.NotRun(), err
	}
	s, err := a.find(ctx, id)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	r := newRun(s, ctx, &o, "")
	r.prog.Resume = true
	return r.inTurn()
}

var errNoSession = fmt.Errorf("%w: the context has no session just now", codeinterp.ErrUnavailable)

// Detach implements codeinterp.ContextAttacher.
func (a attacher) Detach(ctx context.Context, id codeinterp.ContextID) (ref codeinterp.Ref, err error) {
	defer a.wrap(ctx, codeinterp.OpDetach, &err)
	s, err := a.turn(ctx, id)
	if err != nil {
		return "", err
	}
	defer s.release()
	session := s.session
	if session == nil {
		return "", errNoSession
	}
	unread := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.late.empty()
	}
	ref, err = callInSlot(s, ctx, func(ctx context.Context) (codeinterp.Ref, error) { return a.rt.Detach(ctx, session, unread) },
		func(codeinterp.Ref, error) { s.closeReturned(nil) })
	if errors.Is(err, errStuck) {
		s.countStuck()
		s.setSession(nil)
	}
	if err != nil {
		return "", err
	}
	s.setSession(nil)
	a.removeContext(s)
	s.terminate(codeinterp.ErrContext)
	return ref, nil
}

// ReportRun reports a run that was not resumed by late output: what is in out, and a line
// that says how it ended.
func ReportRun(late func(codeinterp.Output), out *Output, o Outcome) {
	e := ending{Outcome: o}
	res, _ := e.result(nil)
	out.Finish(&res)
	for _, output := range res.Outputs {
		late(output)
	}
	text := fmt.Sprintf("A run that was in progress when its host ended has ended: %s, exit code %d", res.Status, res.ExitCode)
	if res.Error != nil {
		text += ", " + res.Error.Name + ": " + res.Error.Message
	}
	for _, t := range res.Truncated {
		text += fmt.Sprintf("; output of it is missing: %s (%s)", t.Stream, t.Reason)
	}
	late(codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(text + ".\n"), Late: true})
}
