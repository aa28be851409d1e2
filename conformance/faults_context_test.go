package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func contextFaults() []fault {
	return slices.Concat(stateFaults(), lossFaults(), queueFaults())
}

func stateFaults() []fault {
	return []fault{
		{
			name: "every run is fresh", want: "StateKept", also: everyCheckOf("toy"),
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op == codeinterp.OpRunIn && uses(c, "get") && !uses(c, "set") {
					c.Code = `fail "not defined"`
				}
				return next(ctx, c)
			}),
		},
		{
			name: "an old process is replaced silently", want: "StateKept",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var runs seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpRunIn && uses(c, `get "kept"`) && runs.count("%s", c.Context) == 30 {
						_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRestart, Context: c.Context})
					}
					return r, err
				}
			}),
		},
		{
			name: "names are declared once", want: "StateRedefined",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var declared seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, `set "again"`) && declared.count("%s", c.Context) > 1 {
						c.Code = `fail "already declared"`
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "an error empties the context", want: "StateSurvivesFailure",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRunIn && r.Result.Error != nil && r.Result.Error.Name == "SyntaxError" {
					_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRestart, Context: c.Context})
				}
				return r, err
			}),
		},
		{
			name: "one namespace for all contexts", want: "ContextsApart",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var set seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, `set "apart"`) {
						set.count("apart")
					}
					if uses(c, `has "apart"`) && set.has("apart") {
						c.Code = `print "yes\n"`
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "one run at a time", want: "ContextsParallel",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				turn := make(chan struct{}, 1)
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpRunIn && uses(c, `print "here"`) {
						select {
						case turn <- struct{}{}:
							defer func() { <-turn }()
						case <-ctx.Done():
							return refuse(c, context.Cause(ctx))
						}
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "ids are numbers", want: "ContextIDs", also: "ForeignContext",
			wrap: renumber(func(n int) string { return fmt.Sprint(n) }),
		},
		{
			name: "ids count up, each for one interpreter", want: "ContextIDs",
			wrap: renumber(func(int) string { return fmt.Sprintf("context-with-a-long-name-%06d", contextNumber.Add(1)) }),
		},
		{
			name: "unknown contexts are made", want: "UnknownContext", also: "DeletedContext ForeignContext DeletedDuring DeletedQueued ClosedCalls EndedCtxDeletes FaultsInOrder DeletesApart",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRunIn && errors.Is(err, codeinterp.ErrContext) && uses(c, `print "ran"`) && len(c.Context) < 200 {
					c.Op, c.Language = codeinterp.OpRun, "toy"
					return next(ctx, c)
				}
				return r, err
			}),
		},
		{
			name: "ids hold everywhere", want: "ForeignContext",
			wrap: everywhere(),
		},
		{
			name: "a second delete is fine", want: "DeletedContext", also: "UnknownContext ForeignContext DeletedDuring EndedCtxDeletes DeletesApart",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpDelete && errors.Is(err, codeinterp.ErrContext) {
					err = nil
				}
				return r, err
			}),
		},
		{
			name: "runs count from 0", want: "ExecutionCount", also: "StateLostInContexts ExecutionCountOfRuns",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if c.Op == codeinterp.OpRunIn {
					res.ExecutionCount--
				}
			}),
		},
		{
			name: "late output is the next run's", want: "LateOutput", also: "EndNotKnown OutputsWellFormed LateDuringRun",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				o.Late = false
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "late output is dropped", want: "LateOutput", also: "EndNotKnown LateDuringRun OutputsWellFormed",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Late {
					return nil
				}
				return []codeinterp.Output{o}
			}),
		},
	}
}

// contextNumber counts the contexts of all interpreters.
var contextNumber atomic.Int64

// renumber gives contexts other ids.
func renumber(name func(n int) string) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var mu sync.Mutex
		ids := map[codeinterp.ContextID]codeinterp.ContextID{}
		real := map[codeinterp.ContextID]codeinterp.ContextID{}
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			mu.Lock()
			if id, ok := real[c.Context]; ok {
				c.Context = id
			}
			if f, ok := c.Args.(codeinterp.FunctionCall); ok {
				f.Context = ids[f.Context]
				c.Args = f
			}
			mu.Unlock()
			r, err := next(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			if c.Op == codeinterp.OpCreate && err == nil {
				id := codeinterp.ContextID(name(len(ids)))
				ids[r.Context], real[id] = id, r.Context
				r.Context = id
			}
			for i := range r.Contexts {
				r.Contexts[i].ID = ids[r.Contexts[i].ID]
			}
			return r, err
		}
	})
}

// everywhere lets interpreters serve the contexts of others.
func everywhere() wrapper {
	var mu sync.Mutex
	owner := map[codeinterp.ContextID]codeinterp.Handler{}
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		mu.Lock()
		other := owner[c.Context]
		mu.Unlock()
		r, err := next(ctx, c)
		mu.Lock()
		if c.Op == codeinterp.OpCreate && err == nil {
			owner[r.Context] = next
		}
		mu.Unlock()
		if other != nil && c.Op == codeinterp.OpRunIn && uses(c, `print "ran"`) && r.Result.Status == codeinterp.StatusNotRun && errors.Is(err, codeinterp.ErrContext) {
			return other(ctx, c)
		}
		return r, err
	})
}

// untold empties a context behind the caller's back after some runs.
func untold(which func(codeinterp.Call, codeinterp.Result) bool) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if c.Op == codeinterp.OpRunIn && which(c, r.Result) {
			_, _ = next(context.WithoutCancel(ctx), codeinterp.Call{Op: codeinterp.OpRestart, Context: c.Context})
			r.Result.StateLost = false
		}
		return r, err
	})
}

func lossFaults() []fault {
	return []fault{
		{
			name: "the process is replaced silently after a timeout", want: "StateAfterTimeout", also: "StateAfterInterrupt StoppedCodeWritesNoMore",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool {
				return res.Status == codeinterp.StatusTimeout && !resists(c)
			}),
		},
		{
			name: "every timeout kills", want: "StateAfterInterrupt",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpRunIn && r.Result.Status == codeinterp.StatusTimeout && !r.Result.StateLost {
					_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRestart, Context: c.Context})
					r.Result.StateLost = true
				}
				return r, err
			}),
		},
		{
			name: "a kill is not told", want: "StateAfterKill", also: "InterruptStubborn",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool { return resists(c) }),
		},
		{
			name: "exit ends the process silently", want: "StateAfterExit",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool { return uses(c, "exit") }),
		},
		{
			name: "exit 0 ends the process silently", want: "StateAfterExit",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool { return uses(c, "exit") && res.OK() }),
		},
		{
			name: "a death is told by the run and by the next", want: "StateAfterDeath",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpRunIn && r.Result.Status != codeinterp.StatusNotRun {
						r.Result.StateLost = r.Result.StateLost || m.get(c.Context) != ""
						m.set(c.Context, "")
						if uses(c, "killself") {
							m.set(c.Context, "died")
						}
					}
					return r, err
				}
			}),
		},
		{
			name: "a stack overflow is not told", want: "StateAfterRecursion",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool { return uses(c, "recurse") }),
		},
	}
}

// A pile lets five go once they are there, the last one first, each when the one before
// has left.
type pile struct {
	mu   sync.Mutex
	list []chan struct{}
}

func (p *pile) wait(ctx context.Context) {
	turn := make(chan struct{})
	p.mu.Lock()
	if p.list = append(p.list, turn); len(p.list) == 5 {
		close(turn)
	}
	p.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
	}
}

func (p *pile) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.list = p.list[:len(p.list)-1]; len(p.list) > 0 {
		close(p.list[len(p.list)-1])
	}
}

func queueFaults() []fault {
	return []fault{
		{
			name: "last in, first out", want: "QueueOrder",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var waiting pile
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, `print "begins"`) {
						waiting.wait(ctx)
						defer waiting.leave()
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "a queued run cannot be canceled", want: "QueueCanceled",
			wrap: blind(func(c codeinterp.Call) bool { return uses(c, `set "ran"`) }),
		},
		{
			name: "the timeout counts in the queue", want: "QueueNoTimeout",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if o.Timeout != time.Second || c.Code != `print "x"` {
					return next(ctx, c)
				}
				ctx, cancel := context.WithTimeout(ctx, o.Timeout)
				defer cancel()
				r, err := next(ctx, c)
				if errors.Is(err, context.DeadlineExceeded) {
					r.Result.Status, r.Result.ExitCode, r.Result.Duration, err = codeinterp.StatusTimeout, codeinterp.ExitTimeout, o.Timeout, nil
				}
				return r, err
			}),
		},
		{
			name: "a deleted context's run is canceled", want: "DeletedDuring",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if r.Result.Status == codeinterp.StatusLost && errors.Is(err, codeinterp.ErrContext) {
					r.Result.Status, r.Result.ExitCode, r.Result.Cause = codeinterp.StatusCanceled, codeinterp.ExitCanceled, ""
				}
				return r, err
			}),
		},
		{
			name: "queued runs of a deleted context say closed", want: "DeletedQueued",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var known memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					before := known.get(c.Context)
					if c.Op == codeinterp.OpDelete {
						known.set(c.Context, "")
					}
					r, err := next(ctx, c)
					if c.Op == codeinterp.OpCreate && err == nil {
						known.set(r.Context, "live")
					}
					if before == "live" && r.Result.Status == codeinterp.StatusNotRun && errors.Is(err, codeinterp.ErrContext) {
						return refuse(c, codeinterp.ErrClosed)
					}
					return r, err
				}
			}),
		},
	}
}
