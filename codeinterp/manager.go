package codeinterp

import "context"

// A ContextManager looks after the contexts of a [StatefulInterpreter]. It is
// an optional group: a provider has all three methods or none. See [Manager].
type ContextManager interface {
	// ListContexts returns the live contexts, oldest first.
	ListContexts(ctx context.Context) ([]ContextInfo, error)

	// RestartContext empties the context's state and keeps its id. A run in
	// progress ends as StatusLost with StateLost, since its caller did not ask
	// for the restart; the next run does not report it again. Runs that have not
	// begun go on in the empty state. A nil error means that nothing of the
	// old state computes any more; another says what may. Once called, it is
	// done whatever ctx does, which only bounds the wait. It may be called
	// from OnOutput.
	RestartContext(ctx context.Context, id ContextID) error

	// InterruptContext interrupts the run in progress, as Ctrl-C would, and
	// does nothing where there is none. It returns when the interrupt was
	// delivered; where the program has not begun yet, it is kept until then.
	// State survives where the program and the runtime allow it. The
	// interrupted run ends as StatusError with exit code 130 and
	// CauseInterrupt, and with StateLost where it had to be killed.
	InterruptContext(ctx context.Context, id ContextID) error
}

// Manager returns the ContextManager of ci, if ci has contexts and one.
func Manager(ci CodeInterpreter) (ContextManager, bool) { return managers.find(ci) }

var managers = group[ContextManager]{
	contexts: true,
	handle:   func(h Handler) ContextManager { return managing(h) },
}

// The operations of a ContextManager.
var (
	OpList      = managers.op("list contexts", reads, serveList)
	OpRestart   = managers.op("restart context", 0, serveRestart)
	OpInterrupt = managers.op("interrupt context", 0, serveInterrupt)
)

func serveList(ctx context.Context, m ContextManager, _ Call) (r Reply, err error) {
	r.Contexts, err = m.ListContexts(ctx)
	return r, err
}

func serveRestart(ctx context.Context, m ContextManager, c Call) (Reply, error) {
	return Reply{}, m.RestartContext(ctx, c.Context)
}

func serveInterrupt(ctx context.Context, m ContextManager, c Call) (Reply, error) {
	return Reply{}, m.InterruptContext(ctx, c.Context)
}

// managing is a ContextManager whose calls go to a handler.
type managing Handler

func (h managing) ListContexts(ctx context.Context) ([]ContextInfo, error) {
	r, err := h(ctx, Call{Op: OpList})
	return r.Contexts, err
}

func (h managing) RestartContext(ctx context.Context, id ContextID) error {
	_, err := h(ctx, Call{Op: OpRestart, Context: id})
	return err
}

func (h managing) InterruptContext(ctx context.Context, id ContextID) error {
	_, err := h(ctx, Call{Op: OpInterrupt, Context: id})
	return err
}
