package codeinterp

import (
	"context"
	"errors"
	"iter"
)

// ErrStopped is the cause of the cancellation that [Stream] makes of leaving
// its loop early.
var ErrStopped = errors.New("output loop left")

// Stream adapts one run to a range loop:
//
//	outputs, result := codeinterp.Stream(ctx, func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
//		o.Timeout = time.Minute
//		return ci.RunCode(ctx, "python", code, o)
//	})
//	for out := range outputs { ... }
//	res, err := result()
//
// run gets options whose OnOutput feeds the loop, and may fill in the others.
// Leaving the loop early cancels the run, which then returns ErrStopped with
// its partial Result. The loop can be run once. result may be called only
// after it, and runs the program to its end where there was no loop.
func Stream(ctx context.Context, run func(context.Context, *RunOptions) (Result, error)) (outputs iter.Seq[Output], result func() (Result, error)) {
	var (
		res           Result
		err           error
		started, done bool
	)
	outputs = func(yield func(Output) bool) {
		if started {
			panic("codeinterp: Stream's loop run twice")
		}
		started = true
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		l := loop{yield: yield, leave: func() { cancel(ErrStopped) }}
		res, err = run(ctx, &RunOptions{OnOutput: l.output})
		done = true
		if l.panicked != nil {
			panic(l.panicked)
		}
	}
	return outputs, func() (Result, error) {
		if !started {
			outputs(func(Output) bool { return true })
		}
		if !done {
			panic("codeinterp: Stream's result called inside the loop")
		}
		return res, err
	}
}

// A loop feeds the body of a range loop. A panic of the body ends the run
// like a break, and goes on once the run has returned.
type loop struct {
	yield    func(Output) bool
	leave    func()
	left     bool
	panicked any
}

func (l *loop) output(o Output) error {
	if l.left {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			l.panicked, l.left = p, true
			l.leave()
		}
	}()
	if !l.yield(o) {
		l.left = true
		l.leave()
	}
	return nil
}
