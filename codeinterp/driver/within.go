package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// errStuck says that a method did not return in time and was given up.
var errStuck = fmt.Errorf("%w: the runtime did not answer in time; what it was to end may still be running", codeinterp.ErrUnavailable)

// errExited says that a method ended its goroutine.
var errExited = errors.New("it called runtime.Goexit")

type none = struct{}

// withoutValue makes a function without a value one with a value.
func withoutValue(f func(context.Context) error) func(context.Context) (none, error) {
	return func(ctx context.Context) (none, error) { return none{}, f(ctx) }
}

// call calls a method of a runtime or a session: what it does instead of
// returning is an error.
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

// within calls f on a goroutine of w, and gives it up where it is not back
// within patience after ctx is done. late, if not nil, is then called with what
// f returns one day.
func within[T any](w *workers, ctx context.Context, patience time.Duration, f func(context.Context) (T, error), late func(T, error)) (T, error) {
	type answer struct {
		t   T
		err error
	}
	done := make(chan answer, 1)
	a := &answer{err: errNoReturn}
	w.start(job{
		call: func() { a.err = call(ctx, func(ctx context.Context) (err error) { a.t, err = f(ctx); return err }) },
		tell: func() { done <- *a },
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

// errNoReturn is what became of a method that ended its goroutine.
var errNoReturn = panicked(errExited)
