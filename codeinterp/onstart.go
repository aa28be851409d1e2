package codeinterp

import "context"

type startKey struct{}

// OnStart returns a ctx for runs through [Wrap]: f is called when a run has passed all
// middlewares, just before the provider gets it.
func OnStart(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, startKey{}, f)
}

// started calls what OnStart was given, if ci is a provider's value.
func started(ctx context.Context, ci CodeInterpreter, op Op) {
	if _, ok := ci.(layer); ok || !op.Runs() {
		return
	}
	if f, ok := ctx.Value(startKey{}).(func()); ok {
		f()
	}
}
