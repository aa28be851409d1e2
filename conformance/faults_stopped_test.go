package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func stoppedFaults() []fault {
	return []fault{
		{
			name: "RunCode panics, on a goroutine of the check's own", want: "CloseDuringRun", also: "StoppedAtUserCode CanceledDuring",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op == codeinterp.OpRun && uses(c, `eprint "warned"`) && o.OnOutput != nil && ctx.Done() != nil && waits(c) {
					panic("no such pipe")
				}
				return next(ctx, c)
			}),
		},
		{
			name: "a program writes on after it was canceled", want: "StoppedCodeWritesNoMore",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, "append") && r.Result.Status == codeinterp.StatusCanceled {
					appendsOn(next, c)
				}
				return r, err
			}),
		},
		{
			name: "a program writes on after a restart", want: "StoppedCodeWritesNoMore",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, "append") && r.Result.Cause == codeinterp.CauseRestart {
					appendsOn(next, c)
				}
				return r, err
			}),
		},
		{
			name: "a program writes on after it was interrupted", want: "StoppedCodeWritesNoMore",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, "append") && r.Result.Cause == codeinterp.CauseInterrupt {
					appendsOn(next, c)
				}
				return r, err
			}),
		},
		{
			name: "a program writes on after its context was deleted", want: "EndedCodeWritesNoMore",
			wrap: calls(func() handler {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpCreate && c.NewContext != nil {
						m.set(r.Context, c.NewContext.Cwd)
					}
					if uses(c, "append") && m.get(c.Context) != "" && r.Result.Cause == codeinterp.CauseClosed && errors.Is(err, codeinterp.ErrContext) {
						writesOn(m.get(c.Context))
					}
					return r, err
				}
			}),
		},
		{
			name: "a program writes on after Close", want: "EndedCodeWritesNoMore",
			wrap: calls(func() handler {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpCreate && c.NewContext != nil {
						m.set(r.Context, c.NewContext.Cwd)
					}
					if uses(c, "append") && m.get(c.Context) != "" && r.Result.Cause == codeinterp.CauseClosed && errors.Is(err, codeinterp.ErrClosed) {
						writesOn(m.get(c.Context))
					}
					return r, err
				}
			}),
		},
		{
			name: "an interrupt before the program has begun is dropped", want: "InterruptEarly",
			wrap: calls(func() handler {
				runs := newActive()
				var last atomic.Int64 // when a run began
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpInterrupt && runs.count(c.Context) > 0 && time.Now().UnixNano()-last.Load() < int64(2*time.Millisecond) {
						runs.mu.Lock()
						p := runs.notes[c.Context]
						runs.mu.Unlock()
						if p == 0 {
							return codeinterp.Reply{}, nil
						}
					}
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					var o codeinterp.RunOptions
					if c.Run != nil {
						o = *c.Run
					}
					on := o.OnOutput
					last.Store(time.Now().UnixNano())
					runs.mu.Lock()
					runs.notes[c.Context] = 0
					runs.mu.Unlock()
					o.OnOutput = func(out codeinterp.Output) error {
						runs.mu.Lock()
						runs.notes[c.Context]++
						runs.mu.Unlock()
						if on == nil {
							return nil
						}
						return on(out)
					}
					c.Run = &o
					r, err, _ := runs.run(ctx, c, next)
					return r, err
				}
			}),
		},
		{
			name: "a delete whose ctx has ended leaves the run alone", want: "EndedCtxDeletes",
			wrap: calls(func() handler {
				runs := newActive()
				var gone memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if gone.get(c.Context) != "" && c.Op != codeinterp.OpList {
						return refuse(c, codeinterp.ErrContext)
					}
					if c.Op == codeinterp.OpDelete && ctx.Err() != nil && runs.count(c.Context) > 0 {
						gone.set(c.Context, "gone")
						return codeinterp.Reply{}, toyErr("delete context", context.Cause(ctx))
					}
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					r, err, _ := runs.run(ctx, c, next)
					return r, err
				}
			}),
		},
		{
			name: "a restart whose ctx has ended leaves the run alone", want: "EndedCtxRestarts",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpRestart && ctx.Err() != nil && runs.count(c.Context) > 0 {
						return codeinterp.Reply{}, toyErr("restart context", context.Cause(ctx))
					}
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					r, err, _ := runs.run(ctx, c, next)
					return r, err
				}
			}),
		},
		{
			name: "stderr is lost by a cancellation", want: "CanceledDuring", also: "CallbacksSeeAll",
			wrap: bufferedStderr(func(r *codeinterp.Result) bool { return r.Status == codeinterp.StatusCanceled }),
		},
		{
			name: "stderr is lost where the state is", want: "DeletedDuring", also: "CloseDuringRun RestartDuring CloseDuringContext CallbacksSeeAll",
			wrap: bufferedStderr(func(r *codeinterp.Result) bool { return r.Status == codeinterp.StatusLost }),
		},
		{
			name: "stderr is lost by an interrupt", want: "InterruptDuring", also: "CallbacksSeeAll",
			wrap: bufferedStderr(func(r *codeinterp.Result) bool { return r.Cause == codeinterp.CauseInterrupt }),
		},
		{
			name: "canceled runs tell of a signal", want: "StoppedAtUserCode",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusCanceled {
					res.Error = &codeinterp.ProgramError{Name: "Error", Message: "interrupted by `SIGINT`"}
				}
			}),
		},
		{
			name: "interrupted runs tell of a signal", want: "InterruptDuring",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseInterrupt {
					res.Error = &codeinterp.ProgramError{Name: "Error", Message: "interrupted by `SIGINT`"}
				}
			}),
		},
		{
			name: "every interrupt kills", want: "InterruptDuring",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRunIn && r.Result.Cause == codeinterp.CauseInterrupt && !r.Result.StateLost {
					_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRestart, Context: c.Context})
					r.Result.StateLost = true
				}
				return r, err
			}),
		},
		{
			name: "a deadline is a timeout where there is one too", want: "CanceledByDeadline", also: "Duration",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if o.Timeout > 0 && r.Result.Status == codeinterp.StatusCanceled {
					r.Result.Status, r.Result.ExitCode, err = codeinterp.StatusTimeout, 124, nil
				}
				return r, err
			}),
		},
	}
}

// appendsOn has a program that was ended go on for a while.
func appendsOn(next codeinterp.Handler, c codeinterp.Call) {
	go func() {
		for range 60 {
			time.Sleep(5 * time.Millisecond)
			_, _ = next(context.Background(), codeinterp.Call{Op: c.Op, Context: c.Context, Code: c.Code, Run: &codeinterp.RunOptions{Timeout: 15 * time.Millisecond}})
		}
	}()
}

// writesOn writes to the file in a directory of the host for a while.
func writesOn(dir string) {
	go func() {
		for range 60 {
			time.Sleep(5 * time.Millisecond)
			if f, err := os.OpenFile(filepath.Join(dir, heartbeat), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
				_, _ = f.WriteString(".")
				_ = f.Close()
			}
		}
	}()
}

// bufferedStderr keeps what a program that waits prints to standard error, which is
// lost by some ends.
func bufferedStderr(lost func(*codeinterp.Result) bool) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		on := o.OnOutput
		var held []codeinterp.Output
		if on != nil {
			o.OnOutput = func(out codeinterp.Output) error {
				if isStderr(out) && waits(c) {
					held = append(held, out)
					return nil
				}
				return on(out)
			}
		}
		r, err := next(ctx, c)
		if lost(&r.Result) && waits(c) {
			r.Result.Outputs = joined(slices.DeleteFunc(slices.Clone(r.Result.Outputs), isStderr))
		} else {
			for _, h := range held {
				_ = on(h)
			}
		}
		return r, err
	})
}

func isStderr(o codeinterp.Output) bool { return o.Kind == codeinterp.Stderr }
