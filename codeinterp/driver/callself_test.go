package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestCallThatRunsInItsOwnContext: it gets an error, also through another
// context, and one that deletes or restarts its context ends itself.
func TestCallThatRunsInItsOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{programs: callers}, driver.Config{})
		other := create(t, ci)
		var inner func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error)
		f := fn("f", func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return inner(ctx, c) })
		o := &codeinterp.RunOptions{Functions: []codeinterp.Function{f}, Timeout: time.Minute}
		for name, id2 := range map[string]codeinterp.ContextID{"itself": id, "through another": other} {
			inner = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
				if c.Context == id2 {
					_, err := ci.RunInContext(ctx, id, "ok", nil)
					return nil, err
				}
				res, err := ci.RunInContext(ctx, id2, "call f {}", o)
				return raw(strconv.Quote(res.Stdout())), err
			}
			res, err := ci.RunInContext(t.Context(), id, "call f {}", o)
			if err != nil || !strings.Contains(res.Stdout(), "waits for the function") {
				t.Errorf("%s: %q, %v", name, res.Stdout(), err)
			}
		}
		var del error
		inner = func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			del = ci.DeleteContext(ctx, id)
			return nil, nil
		}
		res, err := ci.RunInContext(t.Context(), id, "call f {}", o)
		if del != nil && !errors.Is(del, driver.ErrEnded) || !errors.Is(err, codeinterp.ErrContext) || res.Status != codeinterp.StatusLost {
			t.Errorf("delete: %v; %+v, %v", del, res, err)
		}
		ci.Close()
	})
}

// TestCallAfterTheEnd: what is left of a program reaches nothing.
func TestCallAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var old *driver.Program
		ci, id := stateful(t, &fake{programs: map[string]program{"keep": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
			p.Begin()
			old = p
			return driver.Outcome{}, nil
		}}}, driver.Config{})
		called := false
		f := fn("f", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			called = true
			return nil, nil
		})
		ci.RunInContext(t.Context(), id, "keep", &codeinterp.RunOptions{Functions: []codeinterp.Function{f}})
		if v, err := old.Call(t.Context(), "f", nil); err != driver.ErrEnded || v != nil || called {
			t.Errorf("%s, %v, called %t", v, err, called)
		}
		ci.Close()
	})
}
