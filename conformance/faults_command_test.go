package conformance

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// commands returns a fault in the way commands are passed on, with options of
// its own to change.
func commands(handle func(ctx context.Context, c codeinterp.Call, o *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error)) wrapper {
	return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		return codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				if c.Op != codeinterp.OpCommand {
					return next(ctx, c)
				}
				o := *c.Args.(*codeinterp.CommandOptions)
				run := *c.Run
				o.RunOptions = run
				c.Args, c.Run = &o, &o.RunOptions
				return handle(ctx, c, &o, next)
			}
		})
	}
}

// commandOptions returns a fault in the options of commands.
func commandOptions(change func(o *codeinterp.CommandOptions)) wrapper {
	return commands(func(ctx context.Context, c codeinterp.Call, o *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		change(o)
		return next(ctx, c)
	})
}

// commandReplies returns a fault in what commands return.
func commandReplies(change func(res *codeinterp.Result, err error) error) wrapper {
	return commands(func(ctx context.Context, c codeinterp.Call, _ *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		return r, change(&r.Result, err)
	})
}

func commandFaults() []fault {
	return []fault{
		{
			name: "a failure is a failure", want: "CommandEnds",
			wrap: commandReplies(func(res *codeinterp.Result, err error) error {
				if res.Status == codeinterp.StatusError && res.ExitCode < 100 {
					res.ExitCode = 1
				}
				return err
			}),
		},
		{
			name: "the streams are one", want: "CommandEnds",
			wrap: commands(func(ctx context.Context, c codeinterp.Call, o *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				c.Code = strings.ReplaceAll(c.Code, " >&2", "")
				return next(ctx, c)
			}),
		},
		{
			name: "only Stdin is input", want: "CommandInput",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) {
				if o.Stdin == nil {
					o.Input = nil
				}
			}),
		},
		{
			name: "without input the host's is read", want: "CommandInput",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) {
				if o.Stdin == nil && o.Input == nil {
					o.Stdin = []byte("the host's")
				}
			}),
		},
		{
			name: "the host's environment", want: "CommandEnv",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) { o.Env = nil }),
		},
		{
			name: "where programs start", want: "CommandCwd",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) {
				if o.Cwd == "/usr" {
					o.Cwd = ""
				}
			}),
		},
		{
			name: "somewhere, if not there", want: "CommandCwd",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) {
				if o.Cwd != "/usr" {
					o.Cwd = ""
				}
			}),
		},
		{
			name: "what it has not is not looked at", want: "CommandRefused",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) { o.Artifacts, o.Functions = false, nil }),
		},
		{
			name: "killed is failed", want: "CommandTimeout",
			wrap: commandReplies(func(res *codeinterp.Result, err error) error {
				if res.Status == codeinterp.StatusTimeout {
					res.Status, res.ExitCode = codeinterp.StatusError, 137
				}
				return err
			}),
		},
		{
			name: "no reason is given", want: "CommandCanceled",
			wrap: commandReplies(func(res *codeinterp.Result, err error) error {
				if errors.Is(err, errStop) {
					return toyErr("run command", context.Canceled)
				}
				return err
			}),
		},
		{
			name: "a signal is an end like others", want: "CommandSignals",
			wrap: commandReplies(func(res *codeinterp.Result, err error) error { res.Cause = ""; return err }),
		},
		{
			name: "signals are kept", want: "CommandSignals",
			wrap: commandOptions(func(o *codeinterp.CommandOptions) { o.Signals = nil }),
		},
		{
			name: "one shell for all", want: "CommandAlone",
			wrap: commands(func(ctx context.Context, c codeinterp.Call, o *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if strings.Contains(c.Code, "TOOLCELL_LEFT") {
					o.Env = map[string]string{"TOOLCELL_LEFT": "yes"}
				}
				return next(ctx, c)
			}),
		},
		{
			name: "what is left is left", want: "CommandChildren",
			wrap: commands(func(ctx context.Context, c codeinterp.Call, _ *codeinterp.CommandOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if fields := strings.Fields(c.Code); slices.Contains(fields, "&") {
					cmd := exec.Command("sleep", fields[1])
					if err := cmd.Start(); err != nil {
						return refuse(c, err)
					}
					time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
				}
				return next(ctx, c)
			}),
		},
		{
			name: "gone is not closed", want: "CommandClosed",
			wrap: commandReplies(func(res *codeinterp.Result, err error) error {
				if errors.Is(err, codeinterp.ErrClosed) {
					return toyErr("run command", codeinterp.ErrUnavailable)
				}
				return err
			}),
		},
	}
}
