package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// errStuck reports a method that did not return in time and was abandoned.
var errStuck = fmt.Errorf("%w: the runtime did not answer in time; what it was to end may still be running", codeinterp.ErrUnavailable)

// errExited reports a method that ended its goroutine.
var errExited = errors.New("it called runtime.Goexit")

type none = struct{}

// withoutValue adapts a function without a value for callWithin.
func withoutValue(f func(context.Context) error) func(context.Context) (none, error) {
	return func(ctx context.Context) (none, error) { return none{}, f(ctx) }
}

// call calls a method of a runtime or a session. A panic or Goexit is an error.
func call(ctx context.Context, f func(context.Context) error) (err error) {
	err = errNoReturn
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	return f(ctx)
}

func panicked(v any) error {
	return fmt.Errorf("%w: the provider panicked: %.200s", codeinterp.ErrUnavailable, fmt.Sprint(v))
}

// callWithin calls f on a goroutine of w. It returns errStuck if f has not returned
// within patience after ctx is done; late, if non-nil, then receives the result of f
// when f returns.
func callWithin[T any](w *workers, ctx context.Context, patience time.Duration, f func(context.Context) (T, error), late func(T, error)) (T, error) {
	type answer struct {
		t   T
		err error
	}
	done := make(chan answer, 1)
	a := &answer{err: errNoReturn}
	w.start(job{
		call:     func() { a.err = call(ctx, func(ctx context.Context) (err error) { a.t, err = f(ctx); return err }) },
		finished: func() { done <- *a },
	})
	select {
	case a := <-done:
		return a.t, a.err
	case <-ctx.Done():
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case a := <-done:
		return a.t, a.err
	case <-t.C:
	}
	if late != nil {
		go func() { a := <-done; late(a.t, a.err) }()
	}
	var zero T
	return zero, errStuck
}

// errNoReturn is the error of a method that ended its goroutine.
var errNoReturn = panicked(errExited)
