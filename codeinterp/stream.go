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
// run gets options whose OnOutput feeds the loop, and may set the others. Leaving the
// loop early cancels the run, which returns ErrStopped with its partial Result; so does
// a panic or runtime.Goexit in the body, which continues after the run has returned.
// The loop can run once. result must be called after it; without a loop it runs the
// program to its end.
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
		next, seen, left := make(chan Output), make(chan struct{}), make(chan struct{})
		// On a goroutine of its own, so that the loop stays on the caller's.
		ended := start(func() {
			res, err = run(ctx, &RunOptions{OnOutput: func(o Output) error {
				select {
				case next <- o:
				case <-left:
					return nil // the run is being canceled; what it still prints is in its Result
				}
				select {
				case <-seen:
				case <-left:
				}
				return nil
			}})
		})
		defer func() {
			cancel(ErrStopped)
			close(left)
			// On the caller's goroutine, as if it had called run itself.
			if v := <-ended; v != nil {
				panic(v)
			}
		}()
		defer func() { done = true }()
		for {
			select {
			case o := <-next:
				if !yield(o) {
					return
				}
				// The run waits for it, and nowhere else: this does not block.
				seen <- struct{}{}
			case v := <-ended:
				ended <- v
				return
			}
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

// start calls f on another goroutine. The channel receives its panic, nil without one.
func start(f func()) chan any {
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		f()
	}()
	return ended
}
