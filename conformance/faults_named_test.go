package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// namedFaults are mistakes in the lives of contexts and of interpreters.
func namedFaults() []fault {
	return []fault{
		{
			name: "no id is the default context", want: "UnknownContext",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op == codeinterp.OpRunIn && c.Context == "" {
					c.Op, c.Language = codeinterp.OpRun, "toy"
				}
				return next(ctx, c)
			}),
		},
		{name: "the last context stays warm", want: "DeletedContext", wrap: calls(staysWarm)},
		{
			name: "runs count from 0, without a manager", want: "ExecutionCount", lacks: []Feature{Manager},
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return unmanagedFilesOf(results(func(c codeinterp.Call, res *codeinterp.Result) {
					if c.Op == codeinterp.OpRunIn {
						res.ExecutionCount--
					}
				})(ci))
			},
		},
		{
			name: "who cannot interrupt replaces the process silently", want: "StateAfterTimeout", lacks: []Feature{InterruptKeepsState},
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool {
				return res.Status == codeinterp.StatusTimeout && !resists(c)
			}),
		},
		{
			name: "a restart that nobody ran under is told as a loss", want: "RestartEmpties",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					idle := runs.count(c.Context) == 0
					if c.Op != codeinterp.OpRunIn {
						r, err := next(ctx, c)
						if c.Op == codeinterp.OpRestart && err == nil && idle {
							runs.mu.Lock()
							runs.notes[c.Context] = 1
							runs.mu.Unlock()
						}
						return r, err
					}
					r, err, _ := runs.run(ctx, c, next)
					runs.mu.Lock()
					defer runs.mu.Unlock()
					if r.Result.OK() && runs.notes[c.Context] > 0 {
						runs.notes[c.Context], r.Result.StateLost = 0, true
					}
					return r, err
				}
			}),
		},
		{
			name: "the second of two idle interrupts hits the next run", want: "InterruptIdle",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					runs.mu.Lock()
					n := runs.notes[c.Context]
					switch {
					case c.Op == codeinterp.OpInterrupt && len(runs.runs[c.Context]) == 0:
						runs.notes[c.Context]++
					case c.Op == codeinterp.OpRunIn:
						runs.notes[c.Context] = 0
					}
					runs.mu.Unlock()
					switch {
					case c.Op != codeinterp.OpRunIn:
						return next(ctx, c)
					case n > 1:
						return codeinterp.Reply{Result: codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 130, Cause: codeinterp.CauseInterrupt}}, nil
					}
					r, err, _ := runs.run(ctx, c, next)
					return r, err
				}
			}),
		},
		{
			name: "a Close beside another is an error", want: "CloseTwice",
			wrap: onClose(func(ci codeinterp.CodeInterpreter) func() error {
				var closing atomic.Bool
				return func() error {
					if closing.Swap(true) {
						return errors.New("is being closed")
					}
					defer closing.Store(false)
					time.Sleep(time.Millisecond)
					return ci.Close()
				}
			}),
		},
		{
			name: "Close does not wait for what a delete left", want: "EndedCodeWritesNoMore",
			wrap: calls(func() handler {
				var dir, busy memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, "append") {
						busy.set(c.Context, dir.get(c.Context))
					}
					if d := busy.get(c.Context); c.Op == codeinterp.OpDelete && ctx.Err() != nil && d != "" {
						writesOn(d)
					}
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpCreate && c.NewContext != nil {
						dir.set(r.Context, c.NewContext.Cwd)
					}
					return r, err
				}
			}),
		},
		{name: "Close waits for the start", want: "CloseUnused", wrap: unusedCloses},
	}
}

// staysWarm has a RunCode in the place of runs in a context that was deleted when it
// was idle, and one or none was left.
func staysWarm() handler {
	runs := newActive()
	live, warm := 0, map[codeinterp.ContextID]bool{}
	return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op == codeinterp.OpRunIn {
			runs.mu.Lock()
			w := warm[c.Context]
			runs.mu.Unlock()
			if w {
				c.Op, c.Language = codeinterp.OpRun, "toy"
				return next(ctx, c)
			}
			r, err, _ := runs.run(ctx, c, next)
			return r, err
		}
		idle := runs.count(c.Context) == 0
		r, err := next(ctx, c)
		runs.mu.Lock()
		defer runs.mu.Unlock()
		switch {
		case err != nil:
		case c.Op == codeinterp.OpCreate:
			live++
		case c.Op == codeinterp.OpDelete:
			live--
			warm[c.Context] = idle && live < 2
		}
		return r, err
	}
}

// closingCommander is closingStateful with commands.
type closingCommander struct {
	closingStateful
	codeinterp.Commander
}

// unusedCloses has Close wait for a start that may never come.
func unusedCloses(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
	var used atomic.Bool
	w := codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			used.Store(true)
			return next(ctx, c)
		}
	})
	sh, _ := codeinterp.Commands(w)
	return closingCommander{closingStateful{undescribedOf(w), w.(codeinterp.Describer), func() error {
		for range 10 {
			if used.Load() {
				return ci.Close()
			}
			time.Sleep(10 * time.Millisecond)
		}
		return errors.Join(errors.New("not started"), ci.Close())
	}}, sh}
}

// watchedFaults are mistakes that no clause looks for where they are made, but those
// about every run.
func watchedFaults() []fault {
	return []fault{
		{
			name: "whose Env was put back exits with 1", want: "StatusAndExitCode",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if c.Op == codeinterp.OpRunIn && res.Status == codeinterp.StatusTimeout && c.Run != nil && c.Run.Env != nil {
					res.ExitCode = 1
				}
			}),
		},
		{
			name: "a run that failed behind two that never ran is an error", want: "StatusAndError",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, `fail "counted"`) && err == nil {
					err = toyErr("run in context", r.Result.Error)
				}
				return r, err
			}),
		},
		{
			name: "the cause of a cancellation is wrapped twice", want: "ErrorWrapped",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusCanceled {
					err = toyErr("wait", err)
				}
				return r, err
			}),
		},
		{
			name: "who is cut off is told the socket", want: "ErrorDiscreet",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if e, ok := errors.AsType[*codeinterp.Error](err); ok && r.Result.Status == codeinterp.StatusLost {
					err = toyErr(e.Op, fmt.Errorf("%w: read %s", e.Err, filepath.Join(os.TempDir(), "toy.sock")))
				}
				return r, err
			}),
		},
	}
}
