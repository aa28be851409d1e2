package codeinterp

import (
	"cmp"
	"context"
	"fmt"
	"sync"
)

// Approve returns a middleware that calls decide before code runs, before a context is
// made and before a program calls a function. The Call has the language of its context
// if that was made through the same Approve. A nil error allows the call; any other
// refuses it with ErrRefused, and the model reads its text as the reason. decide may
// block until ctx ends, for instance to ask a person, and must be safe for concurrent
// use. A panic refuses.
func Approve(decide func(context.Context, Call) error) Middleware {
	a := &approval{decide: decide}
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (Reply, error) {
			if err := a.check(ctx, c); err != nil {
				return Reply{Result: NotRun()}, &Error{Provider: "approve", Op: c.Op.String(), Err: err}
			}
			r, err := next(ctx, c)
			a.note(&c, &r, err)
			return r, err
		}
	}
}

type approval struct {
	decide    func(context.Context, Call) error
	languages sync.Map // of contexts, by their id
}

func (a *approval) language(id ContextID) string {
	l, _ := a.languages.Load(id)
	language, _ := l.(string)
	return language
}

// check asks with a copy of the call, which goes on as it came.
func (a *approval) check(ctx context.Context, c Call) (err error) {
	if !c.Op.Runs() && !c.Op.Creates() && !c.Op.Calls() {
		return nil
	}
	if c.Language == "" {
		c.Language = a.language(c.Context)
	}
	defer func() {
		// A policy that panicked has not agreed to anything.
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the policy panicked: %v", ErrRefused, p)
		}
	}()
	if err := a.decide(ctx, c); err != nil {
		// The caller's ctx ended: the call was not refused.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}

// note remembers the languages of contexts.
func (a *approval) note(c *Call, r *Reply, err error) {
	switch {
	case err != nil:
	case c.Op.Creates():
		a.languages.Store(r.Context, cmp.Or(c.Language, a.language(c.Context)))
	case c.Op.Deletes():
		a.languages.Delete(c.Context)
	}
}
