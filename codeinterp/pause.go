package codeinterp

import "context"

// A Pauser stops all programs of an interpreter for a while. It is an optional group;
// see [Pauses]. [Info].Pause says how it stops them.
type Pauser interface {
	// Pause stops the processes of all runs, contexts and commands; a nil error means
	// that none of them computes. Timeouts of runs and the time that an interrupted
	// program has to end stand still meanwhile; a program's own clocks and timers go
	// on. Pause waits for programs that are starting. Until Resume, runs in progress
	// and queued ones wait, and calls that need a process fail with ErrPaused. Canceled
	// and deleted ones are killed, and Close works. It does nothing where the
	// interpreter is paused.
	Pause(ctx context.Context) error

	// Resume continues what Pause has stopped. It does nothing where nothing is paused.
	Resume(ctx context.Context) error
}

// Pauses returns the Pauser of ci, if it has one. A view of [Share] has none: a holder
// does not stop the others.
func Pauses(ci CodeInterpreter) (Pauser, bool) { return pausers.find(ci) }

var pausers = group[Pauser]{handle: func(h Handler) Pauser { return pauseHandler(h) }}

func hidesPauser(kind any) bool { _, is := kind.(*Pauser); return is }

// The operations of a Pauser.
var (
	OpPause = pausers.op("pause", 0, func(ctx context.Context, p Pauser, _ Call) (Reply, error) {
		return Reply{}, p.Pause(ctx)
	})
	OpEndPause = pausers.op("resume", 0, func(ctx context.Context, p Pauser, _ Call) (Reply, error) {
		return Reply{}, p.Resume(ctx)
	})
)

// pauseHandler is a Pauser whose calls go to a handler.
type pauseHandler Handler

func (h pauseHandler) Pause(ctx context.Context) error {
	_, err := h(ctx, Call{Op: OpPause})
	return err
}

func (h pauseHandler) Resume(ctx context.Context) error {
	_, err := h(ctx, Call{Op: OpEndPause})
	return err
}
