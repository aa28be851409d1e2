package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// functionCalls returns a fault in the calls of functions. Each interpreter has
// its own.
func functionCalls(broken func() func(ctx context.Context, f codeinterp.FunctionCall, next func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error)) (json.RawMessage, error)) wrapper {
	return calls(func() func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		handle := broken()
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			f, ok := c.Args.(codeinterp.FunctionCall)
			if !ok {
				return next(ctx, c)
			}
			v, err := handle(ctx, f, func(ctx context.Context, f codeinterp.FunctionCall) (json.RawMessage, error) {
				c.Args = f
				r, err := next(ctx, c)
				v, _ := r.Value.(json.RawMessage)
				return v, err
			})
			return codeinterp.Reply{Value: v}, err
		}
	})
}

type nextCall = func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error)

// everyCall is functionCalls without memory.
func everyCall(handle func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error)) wrapper {
	return functionCalls(func() func(context.Context, codeinterp.FunctionCall, nextCall) (json.RawMessage, error) {
		return handle
	})
}

// outlives has functions of some runs not see that these end.
func outlives(which func(*codeinterp.RunOptions) bool) wrapper {
	return options(func(_ codeinterp.Call, o *codeinterp.RunOptions) {
		if !which(o) {
			return
		}
		o.Functions = slices.Clone(o.Functions)
		for i, f := range o.Functions {
			if f.Call != nil {
				o.Functions[i].Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
					return f.Call(context.WithoutCancel(ctx), c)
				}
			}
		}
	})
}

func functionFaults() []fault {
	return []fault{
		{
			name: "a language that cannot call takes functions", want: "FunctionsRefused",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if info, ok := r.Value.(codeinterp.Info); ok {
					info.Languages = []codeinterp.LanguageInfo{info.Languages[0]}
					info.Languages[0].Functions = false
					r.Value = info
				}
				return r, err
			}),
		},
		{
			name: "arguments lose what is not ASCII", want: "FunctionCalled",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				f.Args = bytes.ReplaceAll(f.Args, []byte("é"), []byte("?"))
				return next(ctx, f)
			}),
		},
		{
			name: "a call is not told", want: "FunctionCalled", also: "FunctionLoop FunctionsTogether FunctionFromThread FunctionFails FunctionPanics FunctionTimeout FunctionCanceled FunctionsOfOthers FunctionLimits",
			wrap: results(func(_ codeinterp.Call, res *codeinterp.Result) { res.Calls = nil }),
		},
		{
			name: "an answer comes twice", want: "FunctionLoop",
			wrap: functionCalls(func() func(context.Context, codeinterp.FunctionCall, nextCall) (json.RawMessage, error) {
				var mu sync.Mutex
				var last json.RawMessage
				return func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
					v, err := next(ctx, f)
					mu.Lock()
					defer mu.Unlock()
					if f.Number == 500 {
						return last, err
					}
					last = v
					return v, err
				}
			}),
		},
		{
			name: "calls wait for each other", want: "FunctionsTogether",
			wrap: functionCalls(func() func(context.Context, codeinterp.FunctionCall, nextCall) (json.RawMessage, error) {
				turn := make(chan struct{}, 1)
				return func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
					turn <- struct{}{}
					defer func() { <-turn }()
					return next(ctx, f)
				}
			}),
		},
		{
			name: "only the main line can call", want: "FunctionFromThread",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				if f.Name == "beside" {
					return nil, &codeinterp.FunctionError{Message: "not the main thread"}
				}
				return next(ctx, f)
			}),
		},
		{
			name: "what a run left behind calls in the next one", want: "FunctionAfterEnd",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Code == "callwake" {
					_, _ = o.Functions[0].Call(ctx, codeinterp.FunctionCall{Name: "left"})
				}
				return next(ctx, c)
			}),
		},
		{
			name: "a task that a run left behind calls in the next one", want: "FunctionOfTaskLeft",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Code == `callwake "task"` {
					_, _ = o.Functions[0].Call(ctx, codeinterp.FunctionCall{Name: "left"})
				}
				return next(ctx, c)
			}),
		},
		{
			name: "programs read every error", want: "FunctionFails",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				v, err := next(ctx, f)
				if err != nil && ctx.Err() == nil {
					err = &codeinterp.FunctionError{Message: err.Error()}
				}
				return v, err
			}),
		},
		{
			name: "a panic is no failure", want: "FunctionPanics",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (_ json.RawMessage, err error) {
				defer func() {
					if recover() != nil {
						err = nil
					}
				}()
				return next(ctx, f)
			}),
		},
		{
			name: "results end after a megabyte", want: "FunctionLarge",
			wrap: everyCall(func(ctx context.Context, f codeinterp.FunctionCall, next nextCall) (json.RawMessage, error) {
				v, err := next(ctx, f)
				if len(v) > 1<<20 {
					v = append(v[:1<<20:1<<20], '"')
				}
				return v, err
			}),
		},
		{
			name: "calls outlive a timeout", want: "FunctionTimeout",
			wrap: outlives(func(o *codeinterp.RunOptions) bool { return o.Timeout > 0 }),
		},
		{
			name: "calls outlive a cancellation", want: "FunctionCanceled",
			wrap: outlives(func(o *codeinterp.RunOptions) bool { return o.Timeout == 0 && o.FunctionLimits.Timeout == 0 }),
		},
		{
			name: "runs wait for every function", want: "FunctionDeaf",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				var open sync.WaitGroup
				list := slices.Clone(o.Functions)
				for i, f := range list {
					if f.Call == nil {
						continue
					}
					list[i].Call = func(ctx context.Context, call codeinterp.FunctionCall) (json.RawMessage, error) {
						open.Add(1)
						defer open.Done()
						return f.Call(ctx, call)
					}
				}
				o.Functions = list
				defer open.Wait()
				return next(ctx, c)
			}),
		},
		{
			name: "a call goes to the last caller's function", want: "FunctionsOfOthers",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				var mu sync.Mutex
				last := map[string]func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error){}
				return options(func(_ codeinterp.Call, o *codeinterp.RunOptions) {
					list := append([]codeinterp.Function(nil), o.Functions...)
					mu.Lock()
					defer mu.Unlock()
					for i, f := range list {
						if f.Call == nil {
							continue
						}
						last[f.Name] = f.Call
						list[i].Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
							mu.Lock()
							call := last[f.Name]
							mu.Unlock()
							return call(ctx, c)
						}
					}
					o.Functions = list
				})(ci)
			},
		},
		{
			name: "a run's functions do not go before the context's", want: "FunctionsOfContext",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if c.Op == codeinterp.OpRunIn && len(o.Functions) > 0 && o.Functions[0].Name == "b" {
					o.Functions = o.Functions[1:]
				}
			}),
		},
	}
}
