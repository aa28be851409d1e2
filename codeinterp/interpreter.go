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
	// with ErrClosed, and so do later calls. A nil error means that nothing
	// computes any more; another says what may. From OnOutput it returns before
	// the run does.
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
	// empty on its next run, whose Result says StateLost, once.
	RunInContext(ctx context.Context, id ContextID, code string, opts *RunOptions) (Result, error)

	// DeleteContext ends the context's runs, queued ones included, and
	// releases it. Deleting an unknown or deleted context is ErrContext. A nil
	// error means that nothing of the context computes any more; another says
	// what may. Once called, it is done whatever ctx does, which only bounds
	// the wait. It may be called from OnOutput.
	DeleteContext(ctx context.Context, id ContextID) error
}

// A Describer says what a provider is and what it protects from. Where it is
// absent, callers assume the worst. [Describe] asks, also through [Wrap].
type Describer interface {
	// Describe returns facts that were probed, not hoped for. It is cheap
	// and never fails.
	Describe() Info
}

// Stateful returns ci as a StatefulInterpreter, if it is one. Ask it rather than
// a type assertion of your own, as for the optional groups.
func Stateful(ci CodeInterpreter) (StatefulInterpreter, bool) {
	s, ok := ci.(StatefulInterpreter)
	return s, ok
}
