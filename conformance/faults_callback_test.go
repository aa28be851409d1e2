package conformance

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func callbackFaults() []fault {
	return []fault{
		{
			name: "output comes at the end", want: "CallbackLive", also: everyCheckOf("toy") + " TruncationTold",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				on := o.OnOutput
				if on == nil {
					return next(ctx, c)
				}
				var held []codeinterp.Output
				o.OnOutput = func(out codeinterp.Output) error { held = append(held, out); return nil }
				r, err := next(ctx, c)
				for _, out := range held {
					_ = on(out)
				}
				return r, err
			}),
		},
		{
			name: "a slow consumer is disconnected", want: "CallbackSlow", also: "CallbacksSeeAll CallbackBlocksTimeout",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				slow := 0
				return func(o codeinterp.Output) error {
					if slow >= 3 {
						return errors.New("disconnected")
					}
					start := time.Now()
					err := on(o)
					if time.Since(start) > 5*time.Millisecond {
						slow++
					}
					return err
				}
			}),
		},
		{
			name: "what a slow consumer misses is dropped", want: "CallbackSlow", also: "CallbacksSeeAll CallbackBlocksTimeout",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				slow := false
				on := o.OnOutput
				o.OnOutput = func(out codeinterp.Output) error {
					if on == nil {
						return nil
					}
					start := time.Now()
					err := on(out)
					slow = slow || time.Since(start) > 5*time.Millisecond && time.Since(start) < 50*time.Millisecond
					return err
				}
				r, err := next(ctx, c)
				if slow && len(r.Result.Outputs) == 1 {
					r.Result.Outputs[0].Data = r.Result.Outputs[0].Data[:8]
				}
				return r, err
			}),
		},
		{
			name: "an error ends the callbacks", want: "CallbackError", also: "CallbackPanic CallbackGoexit CallbacksSeeAll",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				failed := false
				return func(o codeinterp.Output) (err error) {
					if failed {
						return nil
					}
					failed = true
					if err = on(o); err == nil {
						failed = false
					}
					return err
				}
			}),
		},
		{
			name: "errors are forgotten", want: "CallbackError",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				return func(o codeinterp.Output) error { _ = on(o); return nil }
			}),
		},
		{
			name: "a panic goes through", want: "CallbackPanic",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				on := o.OnOutput
				var caught any
				if on != nil {
					o.OnOutput = func(out codeinterp.Output) error {
						defer func() {
							if p := recover(); p != nil {
								caught = p
							}
						}()
						return on(out)
					}
				}
				r, err := next(ctx, c)
				if caught != nil {
					panic(caught)
				}
				return r, err
			}),
		},
		{
			name: "an exit ends the callbacks", want: "CallbackGoexit", also: "CallbackPanic CallbacksSeeAll",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				inside := false
				return func(o codeinterp.Output) error {
					if inside {
						return nil
					}
					inside = true
					err := on(o)
					inside = false
					return err
				}
			}),
		},
		{
			name: "one buffer for all chunks", want: "CallbackMemory", also: "CallbacksSeeAll ChunksEndWhole",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				buf := make([]byte, 0, 64<<10)
				return func(o codeinterp.Output) error {
					if len(o.Data) > 0 {
						buf = append(buf[:0], o.Data...)
						o.Data = buf
					}
					return on(o)
				}
			}),
		},
		{
			name: "the timeout waits for the callback", want: "CallbackBlocksTimeout",
			wrap: runs(patient),
		},
		{
			name: "callbacks overlap", want: "CallbacksSerial", also: "CallbacksSeeAll",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if on := o.OnOutput; on != nil && strings.Contains(c.Code, `print "second"`) {
					o.OnOutput = func(out codeinterp.Output) error {
						var wg sync.WaitGroup
						wg.Go(func() { _ = on(out) })
						wg.Go(func() { _ = on(out) })
						wg.Wait()
						return nil
					}
				}
			}),
		},
		{
			name: "the last callback comes after the run", want: "CallbacksEnd",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if on := o.OnOutput; on != nil && r.Result.Stderr() == "e1e2" {
					time.AfterFunc(time.Millisecond, func() { _ = on(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("!")}) })
				}
				return r, err
			}),
		},
		{
			name: "stderr is not passed on", want: "CallbacksSeeAll", also: "CallbackError CallbackPanic CallbackGoexit LossOfEachTold",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				return func(o codeinterp.Output) error {
					if o.Kind == codeinterp.Stderr {
						return nil
					}
					return on(o)
				}
			}),
		},
		{
			name: "chunks are cut anywhere", want: "ChunksEndWhole",
			wrap: live(func(on func(codeinterp.Output) error) func(codeinterp.Output) error {
				return func(o codeinterp.Output) error {
					rest := o
					if n := len(o.Data); n > 1 && n < 100 {
						o.Data, rest.Data = o.Data[:2], o.Data[2:]
						if err := on(o); err != nil || len(rest.Data) == 0 {
							return err
						}
					}
					return on(rest)
				}
			}),
		},
	}
}

// patient counts a timeout without the time of callbacks.
func patient(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
	if on := o.OnOutput; on != nil && strings.Contains(c.Code, `print "second"`) {
		blocked := time.Duration(0)
		o.OnOutput = func(out codeinterp.Output) error {
			start := time.Now()
			defer func() { blocked += time.Since(start) }()
			return on(out)
		}
		o.Timeout += 2 * time.Second
	}
	return next(ctx, c)
}
