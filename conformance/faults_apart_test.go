package conformance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

func apartFaults() []fault {
	return []fault{
		{
			name: "a delete ends the runs of other contexts", want: "EndsApart", also: "HammerContexts",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpDelete {
						for _, o := range runs.others(c.Context) {
							runs.cancel(o)
						}
					}
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					r, err, ended := runs.run(ctx, c, next)
					if ended && r.Result.Status == codeinterp.StatusCanceled {
						r.Result.Status, r.Result.ExitCode, r.Result.Cause, r.Result.StateLost = codeinterp.StatusLost, 137, codeinterp.CauseClosed, true
						err = toyErr("run in context", codeinterp.ErrContext)
					}
					return r, err
				}
			}),
		},
		{
			name: "a restart empties idle contexts beside", want: "EndsApart",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpRestart {
						for _, o := range runs.others(c.Context) {
							if runs.count(o) == 0 {
								_, _ = next(context.Background(), codeinterp.Call{Op: codeinterp.OpRestart, Context: o})
							}
						}
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
			name: "a kill empties the contexts beside", want: "EndsApart",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					r, err, _ := runs.run(ctx, c, next)
					if r.Result.Status == codeinterp.StatusTimeout && r.Result.StateLost {
						for _, o := range runs.others(c.Context) {
							_, _ = next(context.Background(), codeinterp.Call{Op: codeinterp.OpRestart, Context: o})
						}
					}
					return r, err
				}
			}),
		},
		{
			name: "a death is told by the next run of another context", want: "EndsApart",
			wrap: calls(func() handler {
				var mu sync.Mutex
				var dead codeinterp.ContextID
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if c.Op == codeinterp.OpRunIn && r.Result.OK() && dead != "" && dead != c.Context {
						r.Result.StateLost, dead = true, ""
					}
					if c.Op == codeinterp.OpRunIn && r.Result.Status == codeinterp.StatusLost && r.Result.Cause == codeinterp.CauseSignal {
						dead = c.Context
					}
					return r, err
				}
			}),
		},
		{
			name: "an interrupt hits every context", want: "EndsApart", also: "HammerContexts",
			wrap: calls(func() handler {
				runs := newActive()
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op == codeinterp.OpInterrupt {
						for _, o := range runs.others(c.Context) {
							_, _ = next(context.Background(), codeinterp.Call{Op: codeinterp.OpInterrupt, Context: o})
						}
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
			name: "each context speaks the language of the last one", want: "ContextsOfLanguages",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return twoLanguages(ci)
			}, suite: func(s *suite) { s.programs["toy2"] = s.programs["toy"]; s.languages = []string{"toy", "toy2"} },
		},
		{
			name: "every interpreter draws the same ids", want: "ForeignContext",
			wrap: renumber(func(n int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(n)))) }),
		},
		{
			name: "a new context is one that was deleted", want: "ContextsApart",
			wrap: calls(func() handler {
				var last atomic.Pointer[codeinterp.Call] // of the context that is to be used again
				var deleted atomic.Bool
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					switch set := last.Load(); {
					case c.Op == codeinterp.OpRunIn && uses(c, `set "apart" "a"`):
						last.Store(&c)
					case c.Op == codeinterp.OpDelete && set != nil && set.Context == c.Context:
						deleted.Store(true)
					case c.Op == codeinterp.OpCreate && err == nil && deleted.Swap(false):
						_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRunIn, Context: r.Context, Code: set.Code})
					}
					return r, err
				}
			}),
		},
		{
			name: "a new context has what the last RunCode set", want: "ContextsApart",
			wrap: calls(func() handler {
				var mu sync.Mutex
				last := ""
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if c.Op == codeinterp.OpRun && uses(c, "set ") && r.Result.OK() {
						last = c.Code
					}
					if c.Op == codeinterp.OpCreate && err == nil && last != "" {
						_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpRunIn, Context: r.Context, Code: last})
					}
					return r, err
				}
			}),
		},
		{
			name: "a RunCode has what the one before set that was stopped", want: "FreshState",
			wrap: calls(func() handler {
				var mu sync.Mutex
				var left []string
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op != codeinterp.OpRun {
						return next(ctx, c)
					}
					mu.Lock()
					pre := left
					left = nil
					mu.Unlock()
					orig := c
					if uses(c, "has ") {
						c.Code = lines(append(pre, c.Code)...)
					}
					r, err := next(ctx, c)
					if r.Result.Status == codeinterp.StatusTimeout || r.Result.Status == codeinterp.StatusCanceled {
						mu.Lock()
						for _, l := range strings.Split(orig.Code, "\n") {
							if strings.HasPrefix(l, "set ") {
								left = append(left, l)
							}
						}
						mu.Unlock()
					}
					return r, err
				}
			}),
		},
		{
			name: "a RunCode has what the one before set that failed", want: "FreshState",
			wrap: calls(func() handler {
				var mu sync.Mutex
				var left []string
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op != codeinterp.OpRun {
						return next(ctx, c)
					}
					mu.Lock()
					pre := left
					left = nil
					mu.Unlock()
					orig := c
					if uses(c, "has ") {
						c.Code = lines(append(pre, c.Code)...)
					}
					r, err := next(ctx, c)
					if r.Result.Status == codeinterp.StatusError {
						mu.Lock()
						for _, l := range strings.Split(orig.Code, "\n") {
							if strings.HasPrefix(l, "set ") {
								left = append(left, l)
							}
						}
						mu.Unlock()
					}
					return r, err
				}
			}),
		},
	}
}

// active knows the runs in progress of each context, and can end them.
type active struct {
	mu    sync.Mutex
	runs  map[codeinterp.ContextID]map[*int]context.CancelCauseFunc
	notes map[codeinterp.ContextID]int // of the fault's own
}

func newActive() *active {
	return &active{runs: map[codeinterp.ContextID]map[*int]context.CancelCauseFunc{}, notes: map[codeinterp.ContextID]int{}}
}

// run passes a run on, and tells whether cancel ended it.
func (a *active) run(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (r codeinterp.Reply, err error, ended bool) {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	key := new(int)
	a.mu.Lock()
	if a.runs[c.Context] == nil {
		a.runs[c.Context] = map[*int]context.CancelCauseFunc{}
	}
	a.runs[c.Context][key] = cancel
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.runs[c.Context], key)
	}()
	r, err = next(own, c)
	return r, err, own.Err() != nil && ctx.Err() == nil
}

func (a *active) count(id codeinterp.ContextID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.runs[id])
}

// others returns the contexts that had runs, but for one.
func (a *active) others(id codeinterp.ContextID) (list []codeinterp.ContextID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for o := range a.runs {
		if o != id {
			list = append(list, o)
		}
	}
	return list
}

// cancel ends the runs of a context.
func (a *active) cancel(id codeinterp.ContextID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, cancel := range a.runs[id] {
		cancel(errOther)
	}
}

// errOther ends a run that nobody meant to end.
var errOther = errors.New("another's end")

// twoLanguages has a second language, and runs in all contexts what the last one
// can run.
func twoLanguages(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
	var mu sync.Mutex
	of, last, running := map[codeinterp.ContextID]string{}, "", "" // the last is of the RunCode in progress
	list := []string{"toy", "toy2"}
	mixed := call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		language, err := codeinterp.ResolveLanguage(c.Language, list)
		if err == nil {
			c.Language = "toy"
		}
		mu.Lock()
		if f, ok := c.Args.(codeinterp.FunctionCall); ok && f.Context != "" {
			f.Language = of[f.Context]
			c.Args = f
		} else if ok {
			f.Language = running
			c.Args = f
		}
		if c.Op == codeinterp.OpRun {
			running = language
		}
		if c.Op == codeinterp.OpRunIn && of[c.Context] != last && uses(c, `print "of toy`) {
			c.Code = "!!"
		}
		mu.Unlock()
		r, err := next(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		if c.Op == codeinterp.OpCreate && err == nil {
			of[r.Context], last = language, language
		}
		for i := range r.Contexts {
			r.Contexts[i].Language = of[r.Contexts[i].ID]
		}
		return r, err
	})(ci)
	return speak(func(codeinterp.CodeInterpreter) func() []string {
		return func() []string { return slices.Clone(list) }
	})(mixed)
}
