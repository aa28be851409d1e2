package codeinterp

import "context"

// A CodeInterpreter runs source code, one independent run at a time: nothing
// that a run defines is seen by a later one.
//
// Implementations must be safe for concurrent use. Every error they return is
// an [*Error] that wraps one of the sentinels of this package or the cause of
// the caller's own context.
type CodeInterpreter interface {
	// Languages lists the canonical names of the accepted languages, sorted.
	// The answer never changes during the value's life, and the caller may
	// keep and modify the slice.
	Languages() []string

	// RunCode runs code in a fresh state and returns once the program has
	// ended and OnOutput has seen all of its output. A program that fails is
	// a Result, not an error; see [Result]. opts may be nil.
	RunCode(ctx context.Context, language, code string, opts *RunOptions) (Result, error)

	// Close ends every run, releases every resource and returns when both
	// are done. It is idempotent. Runs that it ends return what they have
	// with ErrClosed, and so do later calls.
	Close() error
}

// A ContextID names a live context. It is opaque, carries at least 128 random
// bits, and means nothing to any other interpreter value.
type ContextID string

// A StatefulInterpreter also runs code in contexts, whose variables outlive a
// run. Having these methods is the promise that they work: a provider that
// cannot keep state returns a value without them. See [Stateful].
//
// Runs in one context queue first in, first out; each queued run can be
// canceled, and then it never ran. Different contexts run in parallel.
type StatefulInterpreter interface {
	CodeInterpreter

	// CreateContext starts an empty context. opts may be nil.
	CreateContext(ctx context.Context, language string, opts *ContextOptions) (ContextID, error)

	// RunInContext is RunCode in the state that earlier runs of the context
	// left behind. A context whose process died keeps its id and starts
	// empty on its next run; Result.StateLost tells, once.
	RunInContext(ctx context.Context, id ContextID, code string, opts *RunOptions) (Result, error)

	// DeleteContext ends the context's runs, queued ones included, and
	// releases it. Deleting an unknown or deleted context is ErrContext.
	DeleteContext(ctx context.Context, id ContextID) error
}

// A ContextManager looks after the contexts of a [StatefulInterpreter]. It is
// one capability: a provider has all three methods or none. See [Manager].
type ContextManager interface {
	// ListContexts returns the live contexts, oldest first.
	ListContexts(ctx context.Context) ([]ContextInfo, error)

	// RestartContext empties the context's state and keeps its id. A run in
	// progress ends as StatusLost; queued runs go on in the empty state. The
	// next run does not report StateLost: the caller asked for it.
	RestartContext(ctx context.Context, id ContextID) error

	// InterruptContext interrupts the run in progress, as Ctrl-C would, and
	// does nothing where there is none. State survives where the program and
	// the runtime allow it. The interrupted run ends as StatusError with
	// exit code 130, or StatusLost where it had to be killed.
	InterruptContext(ctx context.Context, id ContextID) error
}

// A Describer tells what a provider is and what it protects from. Where it is
// absent, callers assume the worst; see [Describe].
type Describer interface {
	// Describe returns facts that were probed, not hoped for. It is cheap
	// and never fails.
	Describe() Info
}

// Stateful returns ci as a StatefulInterpreter, if it is one. It is the only
// place where presence is read.
func Stateful(ci CodeInterpreter) (StatefulInterpreter, bool) {
	s, ok := ci.(StatefulInterpreter)
	return s, ok
}

// Manager returns ci's ContextManager, if ci is stateful and has one.
func Manager(ci CodeInterpreter) (ContextManager, bool) {
	if _, ok := Stateful(ci); !ok {
		return nil, false
	}
	m, ok := ci.(ContextManager)
	return m, ok
}

// Stateless returns ci without its context methods; Describe stays.
func Stateless(ci CodeInterpreter) CodeInterpreter {
	if _, ok := Stateful(ci); !ok {
		return ci
	}
	if d, ok := ci.(Describer); ok {
		return statelessDescriber{ci, d}
	}
	return stateless{ci}
}

// stateless embeds the interface, so only the interface's methods are promoted.
type stateless struct{ CodeInterpreter }

type statelessDescriber struct {
	CodeInterpreter
	Describer
}
