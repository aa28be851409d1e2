package codeinterp

import "context"

// A ContextManager looks after the contexts of a [StatefulInterpreter]. It is
// an optional group: a provider has all three methods or none. See [Manager].
type ContextManager interface {
	// ListContexts returns the live contexts, oldest first.
	ListContexts(ctx context.Context) ([]ContextInfo, error)

	// RestartContext empties the context's state and keeps its id. A run in progress
	// ends as StatusLost with StateLost; the next run does not report the loss again.
	// Queued runs run in the empty state. A nil error means that nothing of the old
	// state computes any more; another says what may. If ctx ends, the restart goes
	// on without the caller. It may be called from OnOutput.
	RestartContext(ctx context.Context, id ContextID) error

	// InterruptContext interrupts the run in progress, if any, as Ctrl-C does. It
	// returns when the interrupt was delivered; if the program has not started, it
	// waits for the start. The state survives if the program and the runtime allow
	// it. The run ends as StatusError with exit code 130 and CauseInterrupt, and with
	// StateLost if it had to be killed.
	InterruptContext(ctx context.Context, id ContextID) error
}

// Manager returns the ContextManager of ci, if ci has contexts and one.
func Manager(ci CodeInterpreter) (ContextManager, bool) { return managers.find(ci) }

var managers = group[ContextManager]{
	contexts: true,
	handle:   func(h Handler) ContextManager { return managerHandler(h) },
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

// managerHandler is a ContextManager whose calls go to a handler.
type managerHandler Handler

func (h managerHandler) ListContexts(ctx context.Context) ([]ContextInfo, error) {
	r, err := h(ctx, Call{Op: OpList})
	return r.Contexts, err
}

func (h managerHandler) RestartContext(ctx context.Context, id ContextID) error {
	_, err := h(ctx, Call{Op: OpRestart, Context: id})
	return err
}

func (h managerHandler) InterruptContext(ctx context.Context, id ContextID) error {
	_, err := h(ctx, Call{Op: OpInterrupt, Context: id})
	return err
}
