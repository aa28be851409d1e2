package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// endedFaults are mistakes in how runs end by themselves.
func endedFaults() []fault {
	return []fault{
		{
			name: "an exit loses what was printed", want: "ExitZero",
			wrap: loses(func(c codeinterp.Call) bool { return uses(c, `exit "0"`) }, codeinterp.Stdout),
		},
		{
			name: "exit codes have a sign", want: "ExitCode",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusError && res.Cause == "" {
					res.ExitCode = int(int8(res.ExitCode))
				}
			}),
		},
		{
			name: "the worker that overflowed serves the next RunCode", want: "Recursion",
			wrap: nextRunCode(func(c codeinterp.Call, _ codeinterp.Result) bool { return uses(c, "recurse") },
				func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					return refuse(c, codeinterp.ErrUnavailable)
				}),
		},
		{
			name: "who was killed has no Cause", want: "KilledBySignal",
			wrap: causeTells(codeinterp.CauseSignal, func(res *codeinterp.Result) { res.Cause = "" }),
		},
		{
			name: "what a worker says of an exit is the next RunCode's", want: "RunsAreIndependent",
			wrap: nextRunCode(func(c codeinterp.Call, res codeinterp.Result) bool { return uses(c, "exit") && res.ExitCode == 3 },
				func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					c.Code = lines(toyPrograms().PrintErr("exit status 3\n"), c.Code)
					return next(ctx, c)
				}),
		},
		{
			name: "whoever waits and has printed nothing is deaf", want: "TimeoutSilent",
			wrap: deaf(func(c codeinterp.Call) bool { return waits(c) && !strings.Contains(c.Code, "print ") }),
		},
		{
			name: "an interrupt is enough in contexts", want: "TimeoutStubborn",
			wrap: deaf(func(c codeinterp.Call) bool { return c.Op == codeinterp.OpRunIn && resists(c) }),
		},
		{
			name: "stderr is lost by a timeout", want: "TimeoutKeepsOutput",
			wrap: loses(func(c codeinterp.Call) bool { return waits(c) && uses(c, `eprint "too"`) }, codeinterp.Stderr),
		},
		{
			name: "a timeout of more than a day is refused", want: "TimeoutNotReached",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if o.Timeout > 24*time.Hour {
					return refuse(c, codeinterp.ErrInvalid)
				}
				return next(ctx, c)
			}),
		},
		{
			name: "RunCode starts anyway", want: "CanceledBefore",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op != codeinterp.OpRun || ctx.Err() == nil || !uses(c, `print "ran"`) {
					return next(ctx, c)
				}
				r, err := next(context.WithoutCancel(ctx), c)
				if err == nil {
					r.Result.Status, r.Result.ExitCode = codeinterp.StatusCanceled, codeinterp.ExitCanceled
					err = toyErr("run", context.Cause(ctx))
				}
				return r, err
			}),
		},
		{
			name: "stderr is lost by a cancellation, and nobody sees it", want: "CanceledDuring",
			wrap: loses(func(c codeinterp.Call) bool {
				return waits(c) && uses(c, `eprint "warned"`) && uses(c, `print "first"`)
			}, codeinterp.Stderr),
		},
		{
			name: "a cancellation of a RunCode only interrupts", want: "CanceledStubborn",
			wrap: blind(func(c codeinterp.Call) bool { return c.Op == codeinterp.OpRun && resists(c) }),
		},
		{
			name: "a deadline is the end of a ctx of its own", want: "CanceledByDeadline",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusCanceled && errors.Is(err, context.DeadlineExceeded) {
					err = toyErr(c.Op.String(), context.Canceled)
				}
				return r, err
			}),
		},
		{
			name: "canceled early, it says that it is unavailable", want: "CanceledAnytime",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				start := time.Now()
				r, err := next(ctx, c)
				if took := time.Since(start); r.Result.Status == codeinterp.StatusCanceled && took < 10*time.Millisecond && uses(c, `pause "40ms"`) {
					err = toyErr(c.Op.String(), codeinterp.ErrUnavailable)
				}
				return r, err
			}),
		},
	}
}

// loses loses a kind of output of some runs, before anybody sees it.
func loses(which func(codeinterp.Call) bool, kind codeinterp.Kind) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		if !which(c) {
			return next(ctx, c)
		}
		if on := o.OnOutput; on != nil {
			o.OnOutput = func(out codeinterp.Output) error {
				if out.Kind == kind {
					return nil
				}
				return on(out)
			}
		}
		r, err := next(ctx, c)
		r.Result.Outputs = joined(not(kind)(slices.Clone(r.Result.Outputs)))
		return r, err
	})
}

// nextRunCode has a RunCode end in another way that comes after one of a kind.
func nextRunCode(after func(codeinterp.Call, codeinterp.Result) bool, then handler) wrapper {
	return calls(func() handler {
		var hit atomic.Bool
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op != codeinterp.OpRun {
				return next(ctx, c)
			}
			if hit.Swap(false) {
				return then(ctx, c, next)
			}
			r, err := next(ctx, c)
			if after(c, r.Result) {
				hit.Store(true)
			}
			return r, err
		}
	})
}
