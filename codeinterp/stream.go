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
		f := &feed{outputs: make(chan Output), seen: make(chan struct{}), left: make(chan struct{}), ended: make(chan struct{})}
		go f.run(func() { res, err = run(ctx, &RunOptions{OnOutput: f.output}) })
		defer func() {
			cancel(ErrStopped)
			close(f.left)
			<-f.ended
			// On the caller's goroutine, as if it had called run itself.
			if done = true; f.panicked != nil {
				panic(f.panicked)
			}
		}()
		f.loop(yield)
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

// A feed carries outputs from a run to a range loop, which stays on the
// goroutine of the caller.
type feed struct {
	outputs  chan Output
	seen     chan struct{} // the body is done with an output
	left     chan struct{} // closed once outputs are not read any more
	ended    chan struct{} // closed once the run has returned
	panicked any           // of the run
}

func (f *feed) run(run func()) {
	defer close(f.ended)
	defer func() { f.panicked = recover() }()
	run()
}

// output waits until the loop's body has seen o.
func (f *feed) output(o Output) error {
	select {
	case f.outputs <- o:
	case <-f.left:
		// The run is being canceled; what it still prints is in its Result.
		return nil
	}
	select {
	case <-f.seen:
	case <-f.left:
	}
	return nil
}

func (f *feed) loop(yield func(Output) bool) {
	for {
		select {
		case o := <-f.outputs:
			if !yield(o) {
				return
			}
			// The run waits for it in output, and nowhere else: this does not block.
			f.seen <- struct{}{}
		case <-f.ended:
			return
		}
	}
}
