package conformance

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// deaf drops the timeout of some runs, which end after a minute then.
func deaf(which func(c codeinterp.Call) bool) wrapper {
	return options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
		if o.Timeout > 0 && o.Timeout < time.Minute && which(c) {
			o.Timeout = time.Minute
		}
	})
}

// blind drops the caller's ctx for some runs, which end after a minute then.
func blind(which func(c codeinterp.Call) bool) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		if ctx.Err() == nil && which(c) {
			caller := ctx
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			r, err := next(ctx, c)
			if r.Result.Status == codeinterp.StatusCanceled && caller.Err() != nil {
				err = toyErr("run", context.Cause(caller))
			}
			return r, err
		}
		return next(ctx, c)
	})
}

// looping says that a loop is to go on.
var looping atomic.Bool

func waits(c codeinterp.Call) bool  { return uses(c, "pause \"1h") }
func spins(c codeinterp.Call) bool  { return uses(c, "spin") }
func floods(c codeinterp.Call) bool { return uses(c, "flood") }
func resists(c codeinterp.Call) bool {
	return uses(c, "stubborn")
}

func stopFaults() []fault {
	return append(timeoutFaults(), cancelFaults()...)
}

func timeoutFaults() []fault {
	return []fault{
		{
			name: "deaf while it waits", want: "TimeoutSilent",
			also: "TimeoutKeepsOutput Hammer EnvRestoredAfterFailure StateAfterTimeout StateAfterInterrupt CallbackBlocksTimeout",
			wrap: deaf(waits),
		},
		{name: "deaf while it computes", want: "TimeoutSpin", wrap: deaf(spins)},
		{name: "each output starts the clock again", want: "TimeoutChatty", wrap: deaf(floods)},
		{name: "an interrupt is enough", want: "TimeoutStubborn", also: "LatenessKept StateAfterKill", wrap: deaf(resists)},
		{
			name: "a program that yields ended by itself", want: "TimeoutWins",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, "yield") {
					r.Result.Status, r.Result.ExitCode, err = codeinterp.StatusOK, 0, nil
				}
				return r, err
			}),
		},
		{
			name: "a timeout is a failed program", want: "TimeoutSilent", also: everyCheckOf("toy"),
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusTimeout {
					res.Status, res.ExitCode = codeinterp.StatusError, 1
				}
			}),
		},
		{
			name: "a timeout is a Go error", want: "TimeoutSilent", also: everyCheckOf("toy") + " StatusAndError",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusTimeout {
					err = toyErr("run", context.DeadlineExceeded)
				}
				return r, err
			}),
		},
		{
			name: "output before the timeout is dropped", want: "TimeoutKeepsOutput", also: "TimeoutChatty CallbacksSeeAll RepeatingEnds",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusTimeout {
					res.Outputs = nil
				}
			}),
		},
		{
			name: "long timeouts overflow", want: "TimeoutNotReached", also: "Duration",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if c.Run != nil && c.Run.Timeout > 24*time.Hour {
					res.Status, res.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
				}
			}),
		},
		{
			name: "the loop goes on", want: "StoppedCodeIsDead", real: true, clean: func() { looping.Store(false) },
			suite: func(s *suite) { s.settling = []time.Duration{0, 100 * time.Millisecond} }, // it takes a processor meanwhile
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if spins(c) {
					looping.Store(true)
					go func() {
						for looping.Load() {
						}
					}()
				}
				return next(ctx, c)
			}),
		},
		{
			name: "the program goes on in the background", want: "StoppedCodeWritesNoMore",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, "append") {
					go func() {
						for range 100 {
							time.Sleep(5 * time.Millisecond)
							_, _ = next(context.WithoutCancel(ctx), codeinterp.Call{Op: c.Op, Context: c.Context,
								Code: c.Code, Run: &codeinterp.RunOptions{Timeout: 15 * time.Millisecond}})
						}
					}()
				}
				return r, err
			}),
		},
	}
}

func cancelFaults() []fault {
	return []fault{
		{
			name: "the program starts anyway", want: "CanceledBefore", also: "CanceledAnytime FaultsInOrder LateOutput",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if ctx.Err() == nil || !strings.Contains(c.Code, "print \"ran\"") {
					return next(ctx, c)
				}
				r, _ := next(context.WithoutCancel(ctx), c)
				r.Result.Status, r.Result.ExitCode = codeinterp.StatusCanceled, codeinterp.ExitCanceled
				return r, toyErr("run", context.Cause(ctx))
			}),
		},
		{
			name: "the cause is lost", want: "CanceledDuring", also: everyCheckOf("toy"),
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusCanceled {
					err = toyErr("run", context.Canceled)
				}
				return r, err
			}),
		},
		{
			name: "output before the cancellation is dropped", want: "CanceledDuring", also: "CallbacksSeeAll",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusCanceled {
					res.Outputs = nil
				}
			}),
		},
		{name: "blind while it computes", want: "CanceledSpin", wrap: blind(spins)},
		{name: "a cancellation only interrupts", want: "CanceledStubborn", also: "StateAfterKill", wrap: blind(resists)},
		{
			name: "a deadline is a timeout", want: "CanceledByDeadline", also: "CallbackLive ContextsParallel Duration",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusCanceled && errors.Is(err, context.DeadlineExceeded) {
					r.Result.Status, r.Result.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
					return r, nil
				}
				return r, err
			}),
		},
		{
			name: "a run's ctx is kept for the next", want: "CanceledAfter",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var last atomic.Pointer[context.Context]
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if !c.Op.Runs() {
						return next(ctx, c)
					}
					if l := last.Swap(nil); l != nil && (*l).Err() != nil && c.Code == `print "next"` {
						return refuse(c, codeinterp.ErrUnavailable)
					}
					r, err := next(ctx, c)
					if c.Code == `print "x"` {
						last.Store(&ctx)
					}
					return r, err
				}
			}),
		},
		{
			name: "canceled too early, it fails", want: "CanceledAnytime", also: everyCheckOf("toy") + " CallbacksSeeAll",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				start := time.Now()
				r, err := next(ctx, c)
				if ctx.Err() != nil && time.Since(start) > 0 && time.Since(start) < 10*time.Millisecond && uses(c, "pause \"40ms\"") {
					return refuse(c, codeinterp.ErrUnavailable)
				}
				return r, err
			}),
		},
		{
			name: "the context is created anyway", want: "CreateCanceled",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op == codeinterp.OpCreate && ctx.Err() != nil {
					_, _ = next(context.WithoutCancel(ctx), c)
				}
				return next(ctx, c)
			}),
		},
	}
}
