package conformance

import (
	"context"
	"maps"
	"os/exec"
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
			name: "reading to the end finds nothing", want: "StdinNoneFails",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if uses(c, "readall") && o.Stdin == nil {
					o.Stdin = []byte{}
				}
			}),
		},
		{
			name: "values are expanded", want: "EnvOfRun",
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
			name: "the context's Env is the first process's", want: "EnvOfContext",
			wrap: firstProcess(`getenv "TOOLCELL_CTX"`, `print "<unset>\n"`),
		},
		{
			name: "the context's Cwd is the first process's", want: "Cwd",
			wrap: firstProcess("getwd", `print "/\n"`),
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
			name: "each run has a directory of its own", want: "FilesKept",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if uses(c, `read "toolcell-file`) && !uses(c, "write") {
					c.Code = `fail "no such file"`
				}
				return next(ctx, c)
			}),
		},
	}
}

// firstProcess puts another program in the place of those that use a command,
// once the context's process is not its first.
func firstProcess(command, other string) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		var lost seen
		return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op == codeinterp.OpRunIn && uses(c, command) && lost.has("%s", c.Context) {
				c.Code = other
			}
			r, err := next(ctx, c)
			if c.Op == codeinterp.OpRestart || r.Result.StateLost {
				lost.count("%s", c.Context)
			}
			return r, err
		}
	})
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
			name: "one directory for all", want: "FreshFiles",
			wrap: oneContext(func(c codeinterp.Call) bool { return uses(c, `write "toolcell-leak`) || uses(c, `read "toolcell-leak`) }),
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
