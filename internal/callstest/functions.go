// Package callstest has functions of the host, and programs in Python that call them,
// for the tests of all providers.
package callstest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Function makes a Function over decoded arguments.
func Function(name string, f func(ctx context.Context, args map[string]any) (any, error)) codeinterp.Function {
	return codeinterp.Function{Name: name, Call: func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		var args map[string]any
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return nil, err
		}
		v, err := f(ctx, args)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}}
}

// Functions are what programs of tests call. One of them, never, returns after
// the test.
func Functions(t testing.TB) []codeinterp.Function {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return []codeinterp.Function{
		Function("add", func(_ context.Context, a map[string]any) (any, error) {
			return a["a"].(float64) + a["b"].(float64), nil
		}),
		Function("echo", func(_ context.Context, a map[string]any) (any, error) { return a["v"], nil }),
		Function("nothing", func(context.Context, map[string]any) (any, error) { return nil, nil }),
		Function("fail", func(context.Context, map[string]any) (any, error) {
			return nil, &codeinterp.FunctionError{Message: "no such café"}
		}),
		Function("secret", func(context.Context, map[string]any) (any, error) { return nil, errors.New("/host/secret") }),
		Function("panics", func(context.Context, map[string]any) (any, error) { panic("/host/secret") }),
		Function("repeat", func(_ context.Context, a map[string]any) (any, error) {
			return strings.Repeat(a["s"].(string), int(a["n"].(float64))), nil
		}),
		Function("size", func(_ context.Context, a map[string]any) (any, error) { return len(a["s"].(string)), nil }),
		Function("hang", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		Function("late", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			time.Sleep(500 * time.Millisecond) // it ignores its ctx, for a while
			return nil, nil
		}),
		Function("never", func(context.Context, map[string]any) (any, error) {
			<-end
			return nil, nil
		}),
	}
}

// Meet makes a function that returns its argument v once n calls of it are in
// progress.
func Meet(n int32) codeinterp.Function {
	var open atomic.Int32
	met := make(chan struct{})
	return Function("meet", func(ctx context.Context, a map[string]any) (any, error) {
		if open.Add(1) == n {
			close(met)
		}
		select {
		case <-met:
			return a["v"], nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

// Unlisted returns two functions, of which closed only says why it cannot be called,
// and is unlisted if that is set.
func Unlisted(unlisted bool) []codeinterp.Function {
	return []codeinterp.Function{
		{Name: "closed", Unlisted: unlisted, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: "not on Sundays"}
		}},
		{Name: "works", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return json.RawMessage("5"), nil
		}},
	}
}
