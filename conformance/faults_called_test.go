package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func calledFaults() []fault {
	return []fault{
		{
			name: "functions are not told the context", want: "FunctionCalled",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				f.Context = ""
				return next(ctx, f)
			}),
		},
		{
			name: "the values of ctx are lost", want: "FunctionCalled",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				c, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
				return next(c, f)
			}),
		},
		{
			name: "what a function shows is lost", want: "FunctionShows",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				f.Show = func(codeinterp.Output) bool { return true }
				return next(ctx, f)
			}),
		},
		{
			name: "what a function shows comes after its result", want: "FunctionShows",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				show := f.Show
				var held []codeinterp.Output
				f.Show = func(o codeinterp.Output) bool { held = append(held, o); return true }
				v, err := next(ctx, f)
				go func() {
					time.Sleep(time.Millisecond)
					for _, h := range held {
						show(h)
					}
				}()
				return v, err
			}),
		},
		{
			name: "what is shown after the end is taken", want: "FunctionShows",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				show := f.Show
				f.Show = func(o codeinterp.Output) bool { show(o); return true }
				return next(ctx, f)
			}),
		},
		{
			name: "calls have no limit", want: "FunctionLimits",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.FunctionLimits.Calls > 0 {
					o.FunctionLimits.Calls = 0
				}
			}),
		},
		{
			name: "results have no limit", want: "FunctionLimits",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.FunctionLimits.Result > 0 {
					o.FunctionLimits.Result = 0
				}
			}),
		},
		{
			name: "arguments have no limit", want: "FunctionLimits",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.FunctionLimits.Args > 0 {
					o.FunctionLimits.Args = 0
				}
			}),
		},
		{
			name: "a call has all the time it wants", want: "FunctionLimits",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.FunctionLimits.Timeout > 0 {
					o.FunctionLimits.Timeout = 0
				}
			}),
		},
		{
			name: "all calls are served at once", want: "FunctionLimits",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if o.FunctionLimits.Parallel > 0 {
					o.FunctionLimits.Parallel = 0
				}
			}),
		},
		{
			name: "a call is in the run's time", want: "FunctionUntimed",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) { o.FunctionLimits.Untimed = false }),
		},
		{
			name: "malformed functions are dropped", want: "FunctionsInvalid",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				seen := map[string]bool{}
				o.Functions = slices.DeleteFunc(slices.Clone(o.Functions), func(f codeinterp.Function) bool {
					bad := !codeinterp.ValidFunctionName(f.Name) || seen[f.Name] || f.Call == nil
					seen[f.Name] = true
					return bad
				})
			}),
		},
		{
			name: "a run's functions stay for the next", want: "FunctionsOfContext",
			wrap: calls(func() handler {
				var mu sync.Mutex
				had := map[codeinterp.ContextID][]codeinterp.Function{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					var o codeinterp.RunOptions
					if c.Run != nil {
						o = *c.Run
					}
					mu.Lock()
					if len(o.Functions) > 0 {
						had[c.Context] = o.Functions
					} else if uses(c, `callcaught "own"`) {
						o.Functions = had[c.Context]
					}
					mu.Unlock()
					c.Run = &o
					return next(ctx, c)
				}
			}),
		},
		{
			name: "a context's functions go with its state", want: "FunctionsOfContext",
			wrap: calls(func() handler {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpRestart {
						m.set(c.Context, "restarted")
					}
					if f, ok := c.Args.(codeinterp.FunctionCall); ok && f.Context != "" && m.get(f.Context) != "" {
						return codeinterp.Reply{}, &codeinterp.FunctionError{Message: "gone"}
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "no result is an error", want: "FunctionNothing", also: "FunctionUntimed",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				v, err := next(ctx, f)
				if err == nil && len(v) == 0 {
					return nil, &codeinterp.FunctionError{Message: "no result"}
				}
				return v, err
			}),
		},
		{
			name: "no result is empty text", want: "FunctionNothing",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				v, err := next(ctx, f)
				if err == nil && len(v) == 0 {
					v = json.RawMessage(`""`)
				}
				return v, err
			}),
		},
		{
			name: "the host is not told what failed", want: "FunctionFails", also: "FunctionPanics",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Calls {
					res.Calls[i].Err, res.Calls[i].Duration = nil, 0
				}
			}),
		},
		{
			name: "what was refused has failed", want: "FunctionFails",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				v, err := next(ctx, f)
				if errors.Is(err, codeinterp.ErrRefused) {
					err = errors.New("failed")
				}
				return v, err
			}),
		},
	}
}
