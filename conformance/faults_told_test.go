package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func toldFaults() []fault {
	return []fault{
		{
			name: "a loss by a restart is told again", want: "RestartDuring",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpRestart && runs.count(c.Context) > 0 {
						runs.mu.Lock()
						runs.notes[c.Context] = 3
						runs.mu.Unlock()
					}
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					r, err, _ := runs.run(ctx, c, next)
					runs.mu.Lock()
					defer runs.mu.Unlock()
					if runs.notes[c.Context] > 0 && r.Result.OK() {
						if runs.notes[c.Context]--; runs.notes[c.Context] == 1 {
							r.Result.StateLost = true
						}
					}
					return r, err
				}
			}),
		},
		{
			name: "a loss by a cancellation is not told", want: "StateAfterKill",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusCanceled && res.StateLost {
					res.StateLost = false
				}
			}),
		},
		{
			name: "the queue behind a death goes with it", want: "StateAfterDeath",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					r, err, ended := runs.run(ctx, c, next)
					if r.Result.Status == codeinterp.StatusLost && r.Result.Cause == codeinterp.CauseSignal {
						runs.cancel(c.Context)
					}
					if ended {
						r.Result, err = codeinterp.NotRun(), toyErr("run in context", codeinterp.ErrUnavailable)
					}
					return r, err
				}
			}),
		},
		{
			name: "a RunCode whose end is not known ended well", want: "EndNotKnown",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRun && r.Result.Status != codeinterp.StatusNotRun && errors.Is(err, codeinterp.ErrUnavailable) {
					r.Result.Status, r.Result.ExitCode, r.Result.Cause, err = codeinterp.StatusOK, 0, "", nil
				}
				return r, err
			}),
		},
		{
			name: "runs are counted on after a death", want: "ExecutionCountOfRuns",
			wrap: calls(func() handler {
				var mu sync.Mutex
				base, last := map[codeinterp.ContextID]int{}, map[codeinterp.ContextID]int{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if c.Op == codeinterp.OpRestart {
						base[c.Context] = 0
					}
					if c.Op == codeinterp.OpRunIn && r.Result.Status != codeinterp.StatusNotRun {
						r.Result.ExecutionCount += base[c.Context]
						last[c.Context] = r.Result.ExecutionCount
						if r.Result.StateLost && r.Result.Cause != codeinterp.CauseRestart {
							base[c.Context] = last[c.Context]
						}
					}
					return r, err
				}
			}),
		},
		{
			name: "runs that failed are not counted", want: "ExecutionCountOfRuns",
			wrap: calls(func() handler {
				var mu sync.Mutex
				failed := map[codeinterp.ContextID]int{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if c.Op == codeinterp.OpRestart || r.Result.StateLost {
						failed[c.Context] = 0
					}
					if c.Op == codeinterp.OpRunIn && r.Result.Status != codeinterp.StatusNotRun {
						r.Result.ExecutionCount = max(r.Result.ExecutionCount-failed[c.Context], 0)
						if r.Result.Status == codeinterp.StatusError {
							failed[c.Context]++
						}
					}
					return r, err
				}
			}),
		},
		{
			name: "timeouts take no time", want: "Duration",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusTimeout {
					res.Duration = 0
				}
			}),
		},
		{
			name: "stopped programs take no time", want: "DurationCounts",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusCanceled || res.Cause == codeinterp.CauseInterrupt || res.Status == codeinterp.StatusLost {
					res.Duration = 0
				}
			}),
		},
		{
			name: "failed programs take no time", want: "DurationCounts",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusError && res.Cause == "" {
					res.Duration = 0
				}
			}),
		},
		{
			name: "what OnOutput takes is in Duration", want: "EndedBeforeTimeout",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				var spent time.Duration
				begin := time.Now()
				if on := o.OnOutput; on != nil {
					o.OnOutput = func(out codeinterp.Output) error {
						b := time.Now()
						defer func() { spent += time.Since(b) }()
						return on(out)
					}
				}
				r, err := next(ctx, c)
				if r.Result.OK() {
					r.Result.Duration = min(r.Result.Duration+spent, time.Since(begin))
				}
				return r, err
			}),
		},
		{
			name: "CreateContext looks at ctx first", want: "FaultsInOrder",
			wrap: on(codeinterp.OpCreate, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if ctx.Err() != nil {
					return refuse(c, context.Cause(ctx))
				}
				return next(ctx, c)
			}),
		},
		{
			name: "CreateContext looks at Close first", want: "FaultsInOrder",
			wrap: on(codeinterp.OpCreate, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if _, err := next(ctx, codeinterp.Call{Op: codeinterp.OpList}); errors.Is(err, codeinterp.ErrClosed) {
					return refuse(c, codeinterp.ErrClosed)
				}
				return next(ctx, c)
			}),
		},
		{
			name: "unknown ids of a closed interpreter are unknown", want: "FaultsInOrder",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if (c.Op == codeinterp.OpDelete || c.Op == codeinterp.OpRestart || c.Op == codeinterp.OpInterrupt) && errors.Is(err, codeinterp.ErrClosed) && c.Context == "no-such-context" {
					return refuse(c, codeinterp.ErrContext)
				}
				return r, err
			}),
		},
		{
			name: "the errors of CreateContext name a directory", want: "CreateCanceled", also: everyCheckOf("toy"),
			wrap: on(codeinterp.OpCreate, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if e, ok := errors.AsType[*codeinterp.Error](err); ok {
					err = toyErr(e.Op, fmt.Errorf("%w: mkdir %s", e.Err, filepath.Join(os.TempDir(), "toy")))
				}
				return r, err
			}),
		},
		{
			name: "the errors of DeleteContext name a directory", want: "DeletedContext", also: everyCheckOf("toy"),
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if e, ok := errors.AsType[*codeinterp.Error](err); ok && !c.Op.Runs() && !c.Op.Creates() {
					err = toyErr(e.Op, fmt.Errorf("%w: mkdir %s", e.Err, filepath.Join(os.TempDir(), "toy")))
				}
				return r, err
			}),
		},
		{
			name: "a queued run that was canceled is still counted", want: "ListBusy",
			wrap: calls(func() handler {
				var mu sync.Mutex
				stale := map[codeinterp.ContextID]int{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					b := time.Now()
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if c.Op == codeinterp.OpRunIn && r.Result.Status == codeinterp.StatusNotRun && ctx.Err() != nil && time.Since(b) > 0 {
						stale[c.Context]++
					}
					for i := range r.Contexts {
						r.Contexts[i].Queued += stale[r.Contexts[i].ID]
					}
					return r, err
				}
			}),
		},
		{
			name: "another Cwd is listed", want: "Cwd",
			wrap: on(codeinterp.OpList, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				for i := range r.Contexts {
					r.Contexts[i].Cwd = "/"
				}
				return r, err
			}),
		},
		{
			name: "a restarted context is the newest", want: "ListContexts",
			wrap: calls(func() handler {
				var mu sync.Mutex
				at := map[codeinterp.ContextID]time.Time{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if c.Op == codeinterp.OpRestart && err == nil {
						at[c.Context] = time.Now()
					}
					for i := range r.Contexts {
						if t, ok := at[r.Contexts[i].ID]; ok {
							r.Contexts[i].Created = t
							if r.Contexts[i].LastUsed.Before(t) {
								r.Contexts[i].LastUsed = t
							}
						}
					}
					slices.SortFunc(r.Contexts, func(a, b codeinterp.ContextInfo) int { return a.Created.Compare(b.Created) })
					return r, err
				}
			}),
		},
		{
			name: "the Env of a context is the caller's map", want: "EnvOfContext",
			wrap: calls(func() handler {
				var mu sync.Mutex
				envs := map[codeinterp.ContextID]map[string]string{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpRunIn {
						mu.Lock()
						env := envs[c.Context]
						mu.Unlock()
						if env != nil {
							var o codeinterp.RunOptions
							if c.Run != nil {
								o = *c.Run
							}
							merged := map[string]string{}
							for k, v := range env {
								merged[k] = v
							}
							for k, v := range o.Env {
								merged[k] = v
							}
							o.Env = merged
							c.Run = &o
						}
					}
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpCreate && err == nil && c.NewContext != nil {
						mu.Lock()
						envs[r.Context] = c.NewContext.Env
						mu.Unlock()
					}
					return r, err
				}
			}),
		},
		{
			name: "completing after Close is for no context", want: "ClosedCalls",
			wrap: completions(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if errors.Is(err, codeinterp.ErrClosed) {
					err = toyErr("complete", codeinterp.ErrContext)
				}
				return r, err
			}),
		},
		{
			name: "every error is a missing module", want: "ErrorNameAndMessage",
			wrap: programErrors(func(e *codeinterp.ProgramError) {
				if e.MissingModule == "" {
					e.MissingModule = e.Name
				}
			}),
		},
	}
}
