package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// env returns a fault in the environment of runs.
func envOf(change func(string) string) wrapper {
	return options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
		o.Env = maps.Clone(o.Env)
		for k, v := range o.Env {
			o.Env[k] = change(v)
		}
	})
}

func surroundingsFaults() []fault {
	return append(insideFaults(), isolationFaults()...)
}

func insideFaults() []fault {
	return []fault{
		{
			name: "input ends after 4 KiB", want: "StdinGiven",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) { o.Stdin = o.Stdin[:min(len(o.Stdin), 4096)] }),
		},
		{
			name: "empty input is none", want: "StdinEmpty",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if len(o.Stdin) == 0 {
					o.Stdin = nil
				}
			}),
		},
		{
			name: "reading waits for a line", want: "StdinNone",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if uses(c, "readline") && o.Stdin == nil {
					o.Stdin = []byte("left over\n")
				}
			}),
		},
		{
			name: "values are expanded", want: "EnvOfRun", also: "EnvOfContext",
			wrap: envOf(func(v string) string { return strings.ReplaceAll(v, "$HOME", "/root") }),
		},
		{
			name: "a run's Env stays", want: "EnvOfRun", also: "EnvOfContext EnvRestoredAfterFailure",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var mu sync.Mutex
				last := map[codeinterp.ContextID]map[string]string{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op.Runs() && uses(c, "getenv") {
						mu.Lock()
						if c.Run == nil {
							c.Run = &codeinterp.RunOptions{}
						}
						o := *c.Run
						if o.Env == nil {
							o.Env = last[c.Context]
						}
						last[c.Context] = o.Env
						c.Run = &o
						mu.Unlock()
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "the context's Env is forgotten", want: "EnvOfContext",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.NewContext != nil && c.NewContext.Env["TOOLCELL_CTX"] != "" {
					c.NewContext = nil
				}
				return next(ctx, c)
			}),
		},
		{
			name: "Env is not restored after a timeout", want: "EnvRestoredAfterFailure",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var m memory
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, "getenv") && m.get(c.Context) != "" {
						c.Run = &codeinterp.RunOptions{Env: map[string]string{"TOOLCELL_RUN": m.get(c.Context)}}
					}
					r, err := next(ctx, c)
					if r.Result.Status == codeinterp.StatusTimeout && c.Run != nil && c.Run.Env != nil {
						m.set(c.Context, c.Run.Env["TOOLCELL_RUN"])
					}
					return r, err
				}
			}),
		},
		{
			name: "Cwd is ignored", want: "Cwd",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.NewContext != nil && !strings.Contains(c.NewContext.Cwd, "\x00") {
					o := *c.NewContext
					o.Cwd = ""
					c.NewContext = &o
				}
				return next(ctx, c)
			}),
		},
		{
			name: "each run has a directory of its own", want: "FilesKept", also: "StoppedCodeWritesNoMore",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if uses(c, `read "`) && !uses(c, "write") {
					c.Code = `fail "no such file"`
				}
				return next(ctx, c)
			}),
		},
	}
}

// oneContext makes RunCode run in a context that is kept.
func oneContext(which func(codeinterp.Call) bool) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		turn := make(chan struct{}, 1)
		var id codeinterp.ContextID
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op != codeinterp.OpRun || !which(c) {
				return next(ctx, c)
			}
			turn <- struct{}{}
			defer func() { <-turn }()
			if id == "" {
				r, err := next(ctx, codeinterp.Call{Op: codeinterp.OpCreate, Language: c.Language})
				if err != nil {
					return codeinterp.Reply{Result: codeinterp.NotRun()}, err
				}
				id = r.Context
			}
			c.Op, c.Context = codeinterp.OpRunIn, id
			r, err := next(ctx, c)
			r.Result.StateLost = false
			return r, err
		}
	})
}

// leaveChild starts a process that nobody ends, and that is not a child any
// more.
func leaveChild(which func(codeinterp.Call) bool) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		if _, after, ok := strings.Cut(c.Code, "child \"600."); ok && which(c) {
			arg, _, _ := strings.Cut(after, "\"")
			cmd := exec.Command("sleep", "600."+arg)
			if err := cmd.Start(); err != nil {
				return refuse(c, err)
			}
			time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}
		return next(ctx, c)
	})
}

func isolationFaults() []fault {
	return []fault{
		{
			name: "one state for all", want: "FreshState", also: "ContextsApart RunsParallel CreateCanceled",
			wrap: oneContext(func(c codeinterp.Call) bool { return uses(c, "set") || uses(c, "has") }),
		},
		{
			name: "one directory for all contexts", want: "FilesApart",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var written seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, `write "toolcell-apart`) {
						written.count("it")
					}
					if uses(c, `read "toolcell-apart`) && written.has("it") {
						c.Code = `print "apart"`
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "one directory for all", want: "FreshFiles", also: "CreateCanceled",
			wrap: oneContext(func(c codeinterp.Call) bool { return uses(c, "write") || uses(c, `read "`) }),
		},
		{
			name: "runs share variables while they overlap", want: "RunsParallel",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var mu sync.Mutex
				last := ""
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					_, after, ok := strings.Cut(c.Code, `set "mine" "run `)
					if !ok || c.Op != codeinterp.OpRun {
						return next(ctx, c)
					}
					mine, _, _ := strings.Cut(after, `"`)
					mu.Lock()
					last = mine
					mu.Unlock()
					time.Sleep(10 * time.Millisecond)
					mu.Lock()
					c.Code = strings.ReplaceAll(c.Code, "run "+mine, "run "+last)
					mu.Unlock()
					return next(ctx, c)
				}
			}),
		},
		{
			name: "only the leader is killed", want: "ChildrenEndWithRun", stateless: true,
			wrap: leaveChild(func(c codeinterp.Call) bool { return !waits(c) }),
		},
		{
			name: "only the leader is killed after a timeout", want: "ChildrenEndWithTimeout", stateless: true,
			wrap: leaveChild(waits),
		},
		{
			name: "a context's children live on", want: "ChildrenEndWithContext",
			wrap: leaveChild(func(c codeinterp.Call) bool { return c.Op == codeinterp.OpRunIn }),
		},
	}
}

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
			also: everyCheckOf("toy"),
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
			name: "ids are numbers", want: "ContextIDs",
			wrap: renumber(func(n int) string { return fmt.Sprint(n) }),
		},
		{
			name: "ids count up", want: "ContextIDs",
			wrap: renumber(func(n int) string { return fmt.Sprintf("context-with-a-long-name-%06d", n) }),
		},
		{
			name: "unknown contexts are made", want: "UnknownContext", also: "DeletedContext ForeignContext DeletedDuring DeletedQueued ClosedCalls",
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
			name: "a second delete is fine", want: "DeletedContext", also: "UnknownContext ForeignContext DeletedDuring",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.Op == codeinterp.OpDelete && errors.Is(err, codeinterp.ErrContext) {
					err = nil
				}
				return r, err
			}),
		},
		{
			name: "runs count from 0", want: "ExecutionCount", also: "StateLostInContexts",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if c.Op == codeinterp.OpRunIn {
					res.ExecutionCount--
				}
			}),
		},
		{
			name: "late output is the next run's", want: "LateOutput", also: "OutputsWellFormed",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				o.Late = false
				return []codeinterp.Output{o}
			}),
		},
		{
			name: "late output is dropped", want: "LateOutput",
			wrap: outputs(func(o codeinterp.Output) []codeinterp.Output {
				if o.Late {
					return nil
				}
				return []codeinterp.Output{o}
			}),
		},
	}
}

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
			name: "every timeout kills", want: "StateAfterInterrupt", also: "StoppedCodeWritesNoMore",
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
			name: "a kill is not told", want: "StateAfterKill",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool { return resists(c) }),
		},
		{
			name: "exit ends the process silently", want: "StateAfterExit",
			wrap: untold(func(c codeinterp.Call, res codeinterp.Result) bool { return uses(c, "exit") }),
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

func queueFaults() []fault {
	return []fault{
		{
			name: "last in, first out", want: "QueueOrder",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var arrived seen
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, `print "begins"`) {
						time.Sleep(time.Second - time.Duration(arrived.count("%s", c.Context))*150*time.Millisecond)
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
					r.Result.Status, r.Result.ExitCode, err = codeinterp.StatusTimeout, codeinterp.ExitTimeout, nil
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
