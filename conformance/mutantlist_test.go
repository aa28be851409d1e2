package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

type unmanaged struct{ codeinterp.StatefulInterpreter }

func inputMutants() []mutant {
	return []mutant{
		{clause: "ManagerPresent", wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
			return unmanaged{ci.(codeinterp.StatefulInterpreter)}
		}},
		{clause: "DescribeTrue", wrap: describes(func(i *codeinterp.Info) { i.Provider = "" })},
		{clause: "ContextsDescribed", wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
			ci = describes(func(i *codeinterp.Info) {
				i.Languages = append(i.Languages, codeinterp.LanguageInfo{Name: "toy2"})
			})(ci)
			return on(codeinterp.OpCreate, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Language == "toy2" {
					c.Language = "toy"
				}
				return next(ctx, c)
			})(ci)
		}},
		{clause: "LimitsEnforced", wrap: describes(func(i *codeinterp.Info) { i.Limits.Timeout = time.Minute })},
		{clause: "UnknownLanguage", wrap: calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			r, err := next(ctx, c)
			if errors.Is(err, codeinterp.ErrLanguage) {
				err = toyErr("run", codeinterp.ErrLanguage)
			}
			return r, err
		})},
		{clause: "InvalidCode", wrap: before(func(c *codeinterp.Call) { c.Code = strings.ToValidUTF8(c.Code, "") })},
		{clause: "NothingToRun", wrap: calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Op.Runs() && strings.TrimSpace(c.Code) == "" {
				return fails(c, codeinterp.ErrInvalid)
			}
			return next(ctx, c)
		})},
		{clause: "StdinGiven", wrap: before(func(c *codeinterp.Call) { c.Run.Stdin = c.Run.Stdin[:min(len(c.Run.Stdin), 4096)] })},
		{clause: "StdinNone", wrap: before(func(c *codeinterp.Call) {
			if c.Run.Stdin == nil {
				c.Run.Stdin = []byte("of another run\n")
			}
		})},
		{clause: "EnvOfRun", wrap: before(func(c *codeinterp.Call) {
			for name := range c.Run.Env {
				c.Run.Env = map[string]string{name: os.ExpandEnv(c.Run.Env[name])}
			}
		})},
		{clause: "EnvOfContext", wrap: creates(func(o *codeinterp.ContextOptions) { o.Env = nil })},
		{clause: "Cwd", wrap: creates(func(o *codeinterp.ContextOptions) { o.Cwd = "" })},
	}
}

// creates changes the options of new contexts.
func creates(change func(*codeinterp.ContextOptions)) wrapper {
	return on(codeinterp.OpCreate, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.NewContext != nil {
			o := *c.NewContext
			change(&o)
			c.NewContext = &o
		}
		return next(ctx, c)
	})
}

func outcomeMutants() []mutant {
	ok := func(r *codeinterp.Result) { r.Status, r.ExitCode, r.Error = codeinterp.StatusOK, 0, nil }
	return []mutant{
		{clause: "ExitCode", wrap: at(codeinterp.StatusError, func(r *codeinterp.Result) { r.ExitCode = 1 })},
		{clause: "SyntaxError", wrap: replaced("\n!!", "\nfail \"\"")},
		{clause: "Recursion", wrap: at(codeinterp.StatusError, ok)},
		{clause: "KilledBySignal", wrap: because(codeinterp.CauseSignal, func(r *codeinterp.Result) { r.Cause = "" })},
		{clause: "ExitOfProcess", wrap: because(codeinterp.CauseExit, func(r *codeinterp.Result) { r.Status = codeinterp.StatusError })},
		{clause: "UncaughtError", wrap: errorsOf(func(e *codeinterp.ProgramError) { e.Message, _, _ = strings.Cut(e.Message, "\n") })},
		{clause: "ErrorLine", wrap: errorsOf(func(e *codeinterp.ProgramError) { e.Line-- })},
		{clause: "MissingModule", wrap: errorsOf(func(e *codeinterp.ProgramError) { e.MissingModule = "" })},
		{clause: "ErrorOfAnything", wrap: errorsOf(func(e *codeinterp.ProgramError) { e.Name = "Error" })},
		{clause: "ModulesStrict", wrap: at(codeinterp.StatusError, ok)},
		{clause: "StoppedAtUserCode", wrap: at(codeinterp.StatusTimeout, func(r *codeinterp.Result) {
			r.Error = &codeinterp.ProgramError{Name: "SIGINT", Message: "interrupted", Line: 1}
		})},
		{clause: "RunAwaits", wrap: data(func(s string) string { return strings.ReplaceAll(s, "started", "") })},
		{clause: "FailedCodeEnds", wrap: replaced(`print "own"`, "print \"tick;\"\nprint \"own\"")},
		{clause: "DurationCounts", wrap: at(codeinterp.StatusError, func(r *codeinterp.Result) { r.Duration = 0 })},
		{clause: "TimeoutExact", wrap: before(func(c *codeinterp.Call) {
			if c.Run.Timeout > 0 {
				c.Run.Timeout = max(c.Run.Timeout, time.Second)
			}
		})},
		{clause: "ValueJSON", wrap: outputs(codeinterp.Value, func(o *codeinterp.Output) { o.Value = []byte(strconv.Quote(string(o.Value))) })},
		{clause: "NoValue", wrap: replaced(`set "x" "1"`, `value "null" "None"`)},
		{clause: "DisplayBundle", wrap: outputs(codeinterp.Display, func(o *codeinterp.Output) {
			o.Bundle = slices.Clone(o.Bundle)
			slices.Reverse(o.Bundle)
		})},
		{clause: "DisplayUpdated", wrap: replaced("\nupdate", "\nshow")},
		{clause: "CompletesNames", wrap: after(codeinterp.OpComplete, func(r *codeinterp.Reply, _ *error) {
			if v, ok := r.Value.(codeinterp.Completion); ok {
				v.Matches = append(v.Matches, "another")
				r.Value = v
			}
		})},
		{clause: "PauseStops", wrap: on(codeinterp.OpPause, func(_ context.Context, _ codeinterp.Call, _ codeinterp.Handler) (codeinterp.Reply, error) {
			return codeinterp.Reply{}, nil
		})},
		{clause: "ForksApart", wrap: on(codeinterp.OpFork, func(_ context.Context, c codeinterp.Call, _ codeinterp.Handler) (codeinterp.Reply, error) {
			return codeinterp.Reply{Context: c.Context}, nil
		})},
		{clause: "AttachKeepsState", wrap: on(codeinterp.OpDetach, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			c.Op = codeinterp.OpRefer
			return next(ctx, c)
		})},
	}
}

func outputMutants() []mutant {
	return []mutant{
		{clause: "BinaryExact", wrap: data(func(s string) string { return strings.ToValidUTF8(s, "?") })},
		{clause: "CallbackSlow", wrap: live(func(next callback) callback {
			n := 0
			return func(o codeinterp.Output) error {
				if n++; n == 2 {
					return nil
				}
				return next(o)
			}
		})},
		{clause: "CallbackError", wrap: results(func(r *codeinterp.Result) { r.CallbackErr = nil })},
		{clause: "CallbackBlocksTimeout", wrap: before(func(c *codeinterp.Call) { c.Run.Timeout *= 10 })},
		{clause: "LimitHeadAndTail", wrap: results(func(r *codeinterp.Result) { r.Truncated = nil })},
		{clause: "HugeOutput", real: true, wrap: hoarding(1)},
		{clause: "FloodBounded", real: true, wrap: hoarding(64 << 20)},
		{clause: "LossReported", wrap: live(func(next callback) callback {
			n := 0
			return func(o codeinterp.Output) error {
				if n += len(o.Data); n > 1<<20 {
					return nil
				}
				return next(o)
			}
		})},
		{clause: "LossPerStream", wrap: results(func(r *codeinterp.Result) {
			r.Truncated = slices.DeleteFunc(r.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "stderr" })
		})},
		{clause: "ErrorLossReported", wrap: results(func(r *codeinterp.Result) {
			r.Truncated = slices.DeleteFunc(r.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "error" })
		})},
		{clause: "LateOutput", wrap: outputs(codeinterp.Stdout, func(o *codeinterp.Output) { o.Late = false })},
		{clause: "LateDuringRun", wrap: outputs(codeinterp.Stdout, func(o *codeinterp.Output) { o.Late = false })},
		{clause: "GeneratedPrograms", wrap: data(func(s string) string { return s + "!" })},
		{clause: "HammerTiny", wrap: mixing(codeinterp.OpRun)},
		{clause: "HammerTinyContexts", wrap: mixing(codeinterp.OpRunIn)},
	}
}

// hoarding keeps output, and more, in the host's memory.
func hoarding(more int) wrapper {
	return live(func(next callback) callback {
		return func(o codeinterp.Output) error {
			leftMu.Lock()
			hoard = append(hoard, slices.Clone(o.Data), make([]byte, more))
			leftMu.Unlock()
			return next(o)
		}
	})
}

// mixing gives every twentieth run the outputs of the one before.
func mixing(op codeinterp.Op) wrapper {
	var mu sync.Mutex
	var n int
	var last []codeinterp.Output
	return on(op, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		own := r.Result.Outputs
		if n++; n%20 == 0 {
			r.Result.Outputs = last
		}
		last = own
		return r, err
	})
}

func stopMutants() []mutant {
	var reads counter
	return []mutant{
		{clause: "TimeoutReached", wrap: at(codeinterp.StatusTimeout, func(r *codeinterp.Result) { r.Status, r.ExitCode = codeinterp.StatusOK, 0 })},
		{clause: "CanceledDuring", wrap: at(codeinterp.StatusCanceled, func(r *codeinterp.Result) { r.Outputs = nil })},
		{clause: "StoppedCodeIsDead", real: true, wrap: ends(func(c codeinterp.Call, _ *codeinterp.Result, _ *error) {
			if uses(c, "spin") {
				var done atomic.Bool
				leave(func() { done.Store(true) })
				for range 4 { // beside the other programs of a busy machine
					go func() {
						for !done.Load() {
						}
					}()
				}
			}
		})},
		{clause: "StoppedCodeWritesNoMore", wrap: before(func(c *codeinterp.Call) {
			if uses(*c, `read "toolcell-heartbeat`) {
				c.Code = fmt.Sprintf("print %q", strings.Repeat(".", reads.next()))
			}
		})},
		{clause: "EndedCodeWritesNoMore", wrap: writing()},
		{clause: "InterruptEarly", wrap: on(codeinterp.OpInterrupt, func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
			return codeinterp.Reply{}, nil
		})},
		{clause: "InterruptDuring", wrap: because(codeinterp.CauseInterrupt, func(r *codeinterp.Result) { r.Outputs = nil })},
		{clause: "ChildrenEndWithRun", wrap: childLives},
		{clause: "ChildrenEndWithContext", wrap: childLives},
		{clause: "CommandChildren", wrap: childLives},
	}
}

// writing goes on writing to a context's directory after its end.
func writing() wrapper {
	var mu sync.Mutex
	dirs := map[codeinterp.ContextID]string{}
	return calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		if c.Op == codeinterp.OpCreate && c.NewContext != nil {
			dirs[r.Context] = c.NewContext.Cwd
		}
		if dir := dirs[c.Context]; uses(c, "append") && dir != "" {
			go func() {
				for range 100 {
					if f, err := os.OpenFile(filepath.Join(dir, heartbeat), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err == nil {
						_, _ = f.WriteString(".")
						_ = f.Close()
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
		return r, err
	})
}

// childLives starts what a program or a command starts once more, and leaves it.
var childLives = before(func(c *codeinterp.Call) {
	for line := range strings.Lines(c.Code) {
		arg, ok := strings.CutPrefix(strings.TrimSpace(line), "child ")
		if arg = strings.Trim(arg, `"`); !ok {
			if arg, _, ok = strings.Cut(strings.TrimPrefix(line, "sleep "), " &"); !ok {
				continue
			}
		}
		leaveSleep(arg)
	}
})

// leaveSleep starts a process that release ends.
func leaveSleep(arg string) {
	cmd := exec.Command("sleep", arg)
	if cmd.Start() == nil {
		leave(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	}
}

func contextMutants() []mutant {
	var gets, ids counter
	return []mutant{
		{clause: "StateKept", wrap: before(func(c *codeinterp.Call) {
			if uses(*c, "get") && gets.next() == 20 {
				c.Code = `fail "no such variable"`
			}
		})},
		{clause: "StateAfterInterrupt", wrap: at(codeinterp.StatusTimeout, func(r *codeinterp.Result) { r.StateLost = true })},
		{clause: "StateAfterDeath", wrap: results(func(r *codeinterp.Result) { r.StateLost = false })},
		{clause: "FreshState", wrap: replaced(`has "leaked"`, `print "yes\n"`)},
		{clause: "ContextsApart", wrap: replaced(`has "apart"`, `print "yes\n"`)},
		{clause: "ContextsParallel", wrap: oneAtATime},
		{clause: "ContextIDs", wrap: after(codeinterp.OpCreate, func(r *codeinterp.Reply, _ *error) {
			r.Context = codeinterp.ContextID(fmt.Sprintf("context-%032d", ids.next()))
		})},
		{clause: "ForeignContext", wrap: after(codeinterp.OpRunIn, func(r *codeinterp.Reply, err *error) {
			if errors.Is(*err, codeinterp.ErrContext) {
				*r, *err = codeinterp.Reply{Result: codeinterp.Result{Status: codeinterp.StatusOK}}, nil
			}
		})},
		{clause: "ExecutionCountOfRuns", wrap: results(func(r *codeinterp.Result) { r.ExecutionCount++ })},
		{clause: "ListContexts", wrap: after(codeinterp.OpList, func(r *codeinterp.Reply, _ *error) { slices.Reverse(r.Contexts) })},
	}
}

func oneAtATime(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
	turn := make(chan struct{}, 1)
	return on(codeinterp.OpRunIn, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return fails(c, context.Cause(ctx))
		}
		defer func() { <-turn }()
		return next(ctx, c)
	})(ci)
}

func lifecycleMutants() []mutant {
	// idle does nothing if ctx has ended.
	idle := func(op codeinterp.Op) wrapper {
		return on(op, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if ctx.Err() != nil {
				return fails(c, context.Cause(ctx))
			}
			return next(ctx, c)
		})
	}
	kept := func(r *codeinterp.Result) { r.StateLost = false }
	return []mutant{
		{clause: "RestartDuring", wrap: because(codeinterp.CauseRestart, kept)},
		{clause: "DeletedDuring", wrap: because(codeinterp.CauseClosed, kept)},
		{clause: "CloseDuringContext", wrap: because(codeinterp.CauseClosed, kept)},
		{clause: "ClosedCalls", wrap: calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			r, err := next(ctx, c)
			if errors.Is(err, codeinterp.ErrClosed) {
				err = toyErr(c.Op.String(), codeinterp.ErrUnavailable)
			}
			return r, err
		})},
		{clause: "EndedCtxDeletes", wrap: idle(codeinterp.OpDelete)},
		{clause: "EndedCtxRestarts", wrap: idle(codeinterp.OpRestart)},
		{clause: "EndedCtxDoesNothing", wrap: on(codeinterp.OpInterrupt, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			return next(context.WithoutCancel(ctx), c)
		})},
		{clause: "FaultsInOrder", wrap: on(codeinterp.OpRunIn, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			if c.Context == "no-such-context" {
				return fails(c, codeinterp.ErrContext)
			}
			return next(ctx, c)
		})},
	}
}

// opens changes what OpenFiles returns.
func opens(change func(codeinterp.FS) codeinterp.FS) wrapper {
	return after(codeinterp.OpFiles, func(r *codeinterp.Reply, _ *error) {
		if dir, ok := r.Value.(codeinterp.FS); ok {
			r.Value = change(dir)
		}
	})
}

func fileMutants() []mutant {
	return []mutant{
		{clause: "InputsFound", wrap: before(func(c *codeinterp.Call) { c.Run.Files = nil })},
		{clause: "FilesShared", wrap: opens(func(codeinterp.FS) codeinterp.FS { return memfs.New(nil).Files(".") })},
		{clause: "FilesKept", wrap: replaced(`read "toolcell-file`, `fail "`)},
		{clause: "FreshFiles", wrap: before(func(c *codeinterp.Call) {
			if !uses(*c, "write") {
				c.Code = `print "leaked"`
			}
		})},
		{clause: "ArtifactsFound", wrap: results(func(r *codeinterp.Result) { slices.Reverse(r.Artifacts) })},
	}
}

func functionMutants() []mutant {
	var mu sync.Mutex
	var first []codeinterp.Function
	return []mutant{
		{clause: "FunctionCalled", wrap: results(func(r *codeinterp.Result) { r.Calls = nil })},
		{clause: "FunctionFails", wrap: results(func(r *codeinterp.Result) {
			for i := range r.Calls {
				r.Calls[i].Err = nil
			}
		})},
		{clause: "FunctionAfterEnd", wrap: replaced("callwake", `print "called\n"`)},
		{clause: "FunctionsOfOthers", wrap: before(func(c *codeinterp.Call) {
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = c.Run.Functions
			}
			c.Run.Functions = first
		})},
		{clause: "FunctionsOfContext", wrap: creates(func(o *codeinterp.ContextOptions) { o.Functions = nil })},
		{clause: "CommandEnds", wrap: at(codeinterp.StatusError, func(r *codeinterp.Result) { r.ExitCode = 1 })},
		{clause: "CommandLeft", wrap: at(codeinterp.StatusError, func(r *codeinterp.Result) { r.ExitCode = 1 })},
		{clause: "CommandInput", wrap: before(func(c *codeinterp.Call) { c.Run.Input = nil })},
		{clause: "TerminalSize", wrap: before(func(c *codeinterp.Call) {
			if o, ok := c.Args.(*codeinterp.TerminalOptions); ok {
				c.Args = &codeinterp.TerminalOptions{CommandOptions: o.CommandOptions, Resizes: o.Resizes}
			}
		})},
		{clause: "TerminalInput", wrap: before(func(c *codeinterp.Call) {
			if c.Op == codeinterp.OpTerminal {
				c.Run.Stdin = nil
			}
		})},
	}
}

func reachMutants() []mutant {
	// host does to the host what a command of a program asks for.
	host := func(command string, do func(arg string) string) wrapper {
		return before(func(c *codeinterp.Call) {
			if rest, ok := strings.CutPrefix(c.Code, command+" "); ok {
				arg, _ := strconv.Unquote(rest)
				c.Code = fmt.Sprintf("print %q", do(arg))
			}
		})
	}
	readFile := func(path string) string { text, _ := os.ReadFile(path); return string(text) }
	return []mutant{
		{clause: "ReachFiles", wrap: host("read", readFile)},
		{clause: "ReachProcesses", wrap: host("read", readFile)},
		{clause: "ReachNetwork", wrap: host("connect", func(port string) string {
			if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
				_ = c.Close()
			}
			return ""
		})},
		{clause: "ReachSignals", real: true, wrap: host("kill", func(pid string) string {
			if p, err := os.FindProcess(number(pid)); err == nil {
				_ = p.Kill()
			}
			return ""
		})},
	}
}

func leakMutants() []mutant {
	leaked := func() {
		done := make(chan struct{})
		leave(func() { close(done) })
		go func() { <-done }()
	}
	each := func(leak func()) wrapper {
		return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter { leak(); return ci }
	}
	return []mutant{
		{clause: "LeakInterpreters", wrap: each(func() { leaveSleep("600") })},
		{clause: "LeakContexts", real: true, wrap: on(codeinterp.OpCreate, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
			leaked()
			return next(ctx, c)
		})},
	}
}

func invariantMutants() []mutant {
	return []mutant{
		{clause: "StatusAndExitCode", wrap: at(codeinterp.StatusTimeout, func(r *codeinterp.Result) { r.ExitCode = 1 })},
		{clause: "StatusAndError", wrap: ends(func(_ codeinterp.Call, r *codeinterp.Result, err *error) {
			if r.Status == codeinterp.StatusError {
				*err = toyErr("run", errors.New("the program failed"))
			}
		})},
		{clause: "ErrorWrapped", wrap: ends(func(_ codeinterp.Call, _ *codeinterp.Result, err *error) { *err = toyErr("wait", *err) })},
		{clause: "ErrorDiscreet", wrap: ends(func(_ codeinterp.Call, _ *codeinterp.Result, err *error) {
			if *err != nil {
				*err = toyErr("run", fmt.Errorf("%w: %s", *err, filepath.Join(os.TempDir(), "toy.sock")))
			}
		})},
		{clause: "CallbacksSerial", wrap: live(func(next callback) callback {
			return func(o codeinterp.Output) error {
				done := make(chan error, 1)
				go func() { done <- next(o) }()
				select {
				case err := <-done:
					return err
				case <-time.After(5 * time.Millisecond):
					return nil
				}
			}
		})},
		{clause: "CallbacksEnd", wrap: ends(func(c codeinterp.Call, _ *codeinterp.Result, _ *error) {
			if on := c.Run.OnOutput; on != nil {
				time.AfterFunc(time.Millisecond, func() { _ = on(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("!")}) })
			}
		})},
		{clause: "CallbacksSeeAll", wrap: live(func(next callback) callback {
			return func(o codeinterp.Output) error {
				if o.Kind == codeinterp.Stderr {
					return nil
				}
				return next(o)
			}
		})},
		{clause: "OutputsWellFormed", wrap: results(func(r *codeinterp.Result) {
			r.Outputs = append(r.Outputs, codeinterp.Output{Kind: codeinterp.Stdout})
		})},
		{clause: "Duration", wrap: at(codeinterp.StatusTimeout, func(r *codeinterp.Result) { r.Duration = 0 })},
		{clause: "TruncationReported", wrap: results(func(r *codeinterp.Result) {
			for i := range r.Truncated {
				r.Truncated[i].Kept = r.Truncated[i].Bytes + 1
			}
		})},
		{clause: "ResultBounded", wrap: errorsOf(func(e *codeinterp.ProgramError) {
			e.RawTraceback = []string{strings.Repeat("x", codeinterp.OutputOverhead)}
		})},
	}
}
