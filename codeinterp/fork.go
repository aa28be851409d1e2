package codeinterp

import "context"

// A ContextForker copies contexts. It is an optional group; see [Forks].
type ContextForker interface {
	// ForkContext returns a new context that begins as a copy of another: its variables,
	// files, files that are open, functions. What one of them does from then on the other
	// does not see, and random numbers differ. It waits for runs in progress and queued
	// ones. A language without forks is ErrInvalid; see [LanguageInfo].
	ForkContext(ctx context.Context, id ContextID) (ContextID, error)
}

// Forks returns the ContextForker of ci, if ci has contexts and one.
func Forks(ci CodeInterpreter) (ContextForker, bool) { return forkers.find(ci) }

var forkers = group[ContextForker]{
	contexts: true,
	handle:   func(h Handler) ContextForker { return forksHandler(h) },
}

// OpFork is ForkContext. Its Call's Context is what is copied, its Reply's the copy.
var OpFork = forkers.op("fork context", creates, func(ctx context.Context, of ContextForker, c Call) (r Reply, err error) {
	r.Context, err = of.ForkContext(ctx, c.Context)
	return r, err
})

// forksHandler is a ContextForker whose calls go to a handler.
type forksHandler Handler

func (h forksHandler) ForkContext(ctx context.Context, id ContextID) (ContextID, error) {
	r, err := h(ctx, Call{Op: OpFork, Context: id})
	return r.Context, err
}
