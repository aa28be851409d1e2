package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// stoppedInCall has a timeout, or the end of ctx by cause, in the midst of a
// call. Where calls are slow to come, a timeout is given more time.
func (e *env) stoppedInCall(ctx context.Context, timeout time.Duration, cause error) error {
	for try := 0; ; try++ {
		began, err := e.stopInCall(ctx, timeout, cause)
		if began || cause != nil || try == 2 {
			return err
		}
		timeout *= 4
	}
}

// stopInCall reports whether the function was called, and what was wrong.
func (e *env) stopInCall(ctx context.Context, timeout time.Duration, cause error) (began bool, _ error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var called, returned atomic.Bool
	f := codeinterp.Function{Name: "waits", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
		called.Store(true)
		defer returned.Store(true)
		cancel(cause)
		select {
		case <-ctx.Done():
		case <-time.After(10 * e.patience()):
		}
		// Time for a run that does not wait for the function to return before it.
		time.Sleep(50 * time.Millisecond)
		return nil, context.Cause(ctx)
	}}
	if cause == nil {
		// For f, which is not to end ctx where the timeout does; what is deferred
		// stays the real one.
		cancel = func(error) {}
	}
	res, err := e.run(ctx, lines(e.p.Call("waits", "{}"), e.p.Print("on")), &codeinterp.RunOptions{Functions: []codeinterp.Function{f}, Timeout: timeout})
	if cause == nil {
		err = wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	} else {
		err = wantErr(res, err, cause, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
	}
	switch {
	case err != nil:
	case !called.Load():
		err = errors.New("the function was not called")
	case !returned.Load():
		err = errors.New("the run returned before the function")
	case res.CallbackErr != nil:
		err = fmt.Errorf("CallbackErr is %v, but the function heeds its ctx", res.CallbackErr)
	case len(res.Calls) != 1 || res.Calls[0].Error == "" || strings.TrimSpace(res.Stdout()) != "": // a shell may end the line that was to show it
		err = fmt.Errorf("Calls are %+v, stdout %q; want a call without an answer", res.Calls, res.Stdout())
	}
	return called.Load(), err
}

// afterEnd has a call come after the end of the run that it is of, while another
// goes on, wake, that has a function of the same name.
func (e *env) afterEnd(ctx context.Context, left func(name, args string) string, wake string) error {
	var called atomic.Int64
	f := codeinterp.Function{Name: "left", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		called.Add(1)
		return nil, nil
	}}
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	for _, code := range []string{left("left", "{}"), wake} {
		res, err := e.stateful().RunInContext(ctx, id, code, &codeinterp.RunOptions{Functions: []codeinterp.Function{f}})
		switch {
		case err != nil || !res.OK():
			return wantOK(res, err)
		case called.Load() != 0 || len(res.Calls) != 0:
			return fmt.Errorf("%d calls were served, %d are told; want none after the end", called.Load(), len(res.Calls))
		case code == wake:
			return wantText("what the call came to", strings.TrimSpace(res.Stdout()), "refused")
		}
	}
	return nil
}

// functionDeaf has a timeout in a call of a function that goes on.
func functionDeaf(ctx context.Context, e *env) error {
	timeout, err := e.timeout(ctx, 300*time.Millisecond)
	if err != nil {
		return err
	}
	release := make(chan struct{})
	defer close(release)
	f := codeinterp.Function{Name: "deaf", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		select {
		case <-release:
		case <-time.After(time.Hour): // where the run never returns
		}
		return nil, nil
	}}
	res, err := e.run(ctx, e.p.Call("deaf", "{}"), &codeinterp.RunOptions{Functions: []codeinterp.Function{f}, Timeout: timeout})
	if err := wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
		return err
	}
	if res.CallbackErr == nil || !strings.Contains(res.CallbackErr.Error(), "deaf") {
		return fmt.Errorf("CallbackErr is %v, but the function \"deaf\" has not returned", res.CallbackErr)
	}
	return nil
}
