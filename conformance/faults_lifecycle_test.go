package conformance

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func lifecycleFaults() []fault {
	return []fault{
		{
			name: "a restart's victim keeps quiet about its state", want: "RestartDuring",
			wrap: causeTells(codeinterp.CauseRestart, func(res *codeinterp.Result) { res.StateLost = false }),
		},
		{
			name: "a deleted context's run keeps quiet about its state", want: "DeletedDuring", also: "CloseDuringContext",
			wrap: causeTells(codeinterp.CauseClosed, func(res *codeinterp.Result) { res.StateLost = false }),
		},
		{
			name: "an interrupt by force is a loss", want: "InterruptStubborn",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseInterrupt && res.StateLost {
					res.Status, res.ExitCode = codeinterp.StatusLost, codeinterp.ExitKilled
				}
			}),
		},
		{
			name: "nothing is deleted once ctx has ended", want: "EndedCtxDeletes",
			wrap: endedRefuses(codeinterp.OpDelete),
		},
		{
			name: "nothing is restarted once ctx has ended", want: "EndedCtxRestarts",
			wrap: endedRefuses(codeinterp.OpRestart),
		},
		{
			name: "contexts are listed whatever ctx does", want: "EndedCtxDoesNothing",
			wrap: deafTo(codeinterp.OpList),
		},
		{
			name: "runs are interrupted whatever ctx does", want: "EndedCtxDoesNothing",
			wrap: deafTo(codeinterp.OpInterrupt),
		},
		{
			name: "the id is looked at first", want: "FaultsInOrder", also: "InvalidCode ClosedCalls",
			wrap: idFirst(),
		},
		{
			name: "a delete waits for its run, and the run for OnOutput", want: "ManagedFromCallback",
			wrap: waitsForRun(codeinterp.OpDelete),
		},
		{
			name: "a restart waits for its run, and the run for OnOutput", want: "ManagedFromCallback",
			wrap: waitsForRun(codeinterp.OpRestart),
		},
		{
			name: "Close waits for its runs, and those for OnOutput", want: "ClosedFromCallback",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				var active atomic.Int32
				ci = call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					active.Add(1)
					defer active.Add(-1)
					return next(ctx, c)
				})(ci)
				return onClose(func(ci codeinterp.CodeInterpreter) func() error {
					return func() error {
						err := ci.Close()
						for n := 0; active.Load() > 0 && n < 60_000; n++ {
							time.Sleep(time.Millisecond)
						}
						return err
					}
				})(ci)
			},
		},
		{
			name: "a process that exits is a failed program", want: "ExitOfProcess",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Cause == codeinterp.CauseExit {
					res.Status, res.Cause, res.ExitCode = codeinterp.StatusError, "", max(res.ExitCode, 1)
				}
			}),
		},
		{
			name: "runs that never ran are counted", want: "ExecutionCountOfRuns",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var missed seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpRunIn && r.Result.Status == codeinterp.StatusNotRun {
						missed.count("%s", c.Context)
					} else if c.Op == codeinterp.OpRunIn {
						missed.mu.Lock()
						r.Result.ExecutionCount += missed.m[string(c.Context)]
						missed.mu.Unlock()
					}
					return r, err
				}
			}),
		},
	}
}

// causeTells changes the Results of runs that ended for a cause.
func causeTells(cause codeinterp.Cause, change func(*codeinterp.Result)) wrapper {
	return results(func(c codeinterp.Call, res *codeinterp.Result) {
		if res.Cause == cause {
			change(res)
		}
	})
}

// endedRefuses refuses an operation whose ctx has ended.
func endedRefuses(op codeinterp.Op) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op == op && ctx.Err() != nil {
			return refuse(c, context.Cause(ctx))
		}
		return next(ctx, c)
	})
}

// deafTo makes an operation ignore its ctx.
func deafTo(op codeinterp.Op) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op == op {
			ctx = context.WithoutCancel(ctx)
		}
		return next(ctx, c)
	})
}

// idFirst looks for the context before anything else.
func idFirst() wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op == codeinterp.OpRunIn && c.Context == "no-such-context" {
			return refuse(c, codeinterp.ErrContext)
		}
		return next(ctx, c)
	})
}

// waitsForRun has an operation wait until the context's runs have returned.
func waitsForRun(op codeinterp.Op) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var mu sync.Mutex
		active := map[codeinterp.ContextID]int{}
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			add := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				active[c.Context] += n
				return active[c.Context]
			}
			if c.Op == codeinterp.OpRunIn {
				add(1)
				defer add(-1)
			}
			r, err := next(ctx, c)
			for c.Op == op && err == nil && add(0) > 0 && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			return r, err
		}
	})
}
