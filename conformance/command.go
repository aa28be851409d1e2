package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// commandChecks are about commands of a shell. They concern providers that have
// codeinterp.Commands. Their lines are such as every shell reads.
func commandChecks() []check {
	return []check{
		{
			name:   "CommandEnds",
			clause: "a command that fails is a Result with its exit code, and its streams are told apart",
			run: commanding(func(ctx context.Context, e *env) error {
				res, err := e.command(ctx, "echo out; echo err >&2; exit 3", nil)
				if err := wantStatus(res, err, codeinterp.StatusError, 3); err != nil {
					return err
				}
				return errors.Join(wantText("stdout", res.Stdout(), "out\n"), wantText("stderr", res.Stderr(), "err\n"))
			}),
		},
		{
			name:   "CommandInput",
			clause: "a command reads Stdin or Input, and the end of its input where there is neither",
			run:    commanding(commandInput),
		},
		{
			name:   "CommandOutput",
			clause: "a command's output arrives whole, at OnOutput too, and what MaxOutput drops is told",
			run:    commanding(commandOutput),
		},
		{
			name:   "CommandEnv",
			clause: "a command has the variables of Env",
			run: commanding(func(ctx context.Context, e *env) error {
				o := &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Env: map[string]string{"TOOLCELL_OF_COMMAND": SplitText}}}
				return e.commandPrints(ctx, `printf %s "$TOOLCELL_OF_COMMAND"`, o, SplitText)
			}),
		},
		{
			name:   "CommandCwd",
			clause: "a command starts in Cwd, and where that cannot be entered it does not run: exit code 126",
			run:    commanding(commandCwd),
		},
		{
			name:   "CommandRefused",
			clause: "an empty command, one with Files, Artifacts or Functions, and one with both Stdin and Input are ErrInvalid",
			run:    commanding(commandRefused),
		},
		{
			name:   "CommandTimeout",
			clause: "a command that reaches its Timeout is a Result with status timeout",
			run: commanding(func(ctx context.Context, e *env) error {
				o := &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Timeout: 300 * time.Millisecond}}
				res, err := e.command(ctx, "sleep 600", o)
				return wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
			}),
		},
		{
			name:   "CommandCanceled",
			clause: "ending ctx ends a command, whose error is ctx's cause; where it has ended before, nothing is run",
			run: commanding(func(ctx context.Context, e *env) error {
				res, err := e.command(e.done(ctx), "echo on", nil)
				if err := wantNotRun(res, err, errStop); err != nil {
					return err
				}
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				o := &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
					cancel(errStop)
					return nil
				}}}
				res, err = e.command(ctx, "echo on; sleep 600", o)
				return wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
			}),
		},
		{
			name:   "CommandSignals",
			clause: "a command that one of Signals ended has status error, 128 + the signal's number as its exit code, and CauseInterrupt",
			run:    commanding(commandSignals),
		},
		{
			name:   "CommandAlone",
			clause: "what one command sets is not there for the next",
			run: commanding(func(ctx context.Context, e *env) error {
				if err := e.commandPrints(ctx, "export TOOLCELL_LEFT=yes", nil, ""); err != nil {
					return err
				}
				return e.commandPrints(ctx, `printf %s "$TOOLCELL_LEFT"`, nil, "")
			}),
		},
		{
			name:   "CommandChildren",
			clause: "what a command left running in the background does not hold it up, and is gone when it has returned",
			needs:  []Feature{Children},
			run:    commanding(commandChildren),
		},
		{
			name:   "CommandClosed",
			clause: "a command after Close is ErrClosed",
			own:    true,
			run: commanding(func(ctx context.Context, e *env) error {
				_ = e.ci.Close() // whose errors are other clauses'
				res, err := e.command(ctx, "echo on", nil)
				return wantNotRun(res, err, codeinterp.ErrClosed)
			}),
		},
	}
}

// commanding makes a check one of providers that run commands.
func commanding(run func(context.Context, *env) error) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		if _, ok := codeinterp.Commands(e.ci); !ok {
			return nil
		}
		return run(ctx, e)
	}
}

// command runs a command, watched.
func (e *env) command(ctx context.Context, line string, o *codeinterp.CommandOptions) (codeinterp.Result, error) {
	sh, _ := codeinterp.Commands(e.ci)
	own := codeinterp.CommandOptions{}
	if o != nil {
		own = *o
	}
	return e.watch(line, &own.RunOptions, "", func(run *codeinterp.RunOptions) (codeinterp.Result, error) {
		own.RunOptions = *run
		return sh.RunCommand(ctx, line, &own)
	})
}

// commandPrints wants a command to end normally, and to have printed a text.
func (e *env) commandPrints(ctx context.Context, line string, o *codeinterp.CommandOptions, want string) error {
	res, err := e.command(ctx, line, o)
	if err := wantOK(res, err); err != nil {
		return fmt.Errorf("%s: %w", quote(line), err)
	}
	return wantText("stdout of "+quote(line), res.Stdout(), want)
}

func commandInput(ctx context.Context, e *env) error {
	for _, tt := range []struct {
		what string
		o    codeinterp.RunOptions
		want string
	}{
		{"Stdin", codeinterp.RunOptions{Stdin: []byte(SplitText)}, SplitText},
		{"Input", codeinterp.RunOptions{Input: strings.NewReader(SplitText)}, SplitText},
		{"no input", codeinterp.RunOptions{}, ""},
	} {
		if err := e.commandPrints(ctx, "cat", &codeinterp.CommandOptions{RunOptions: tt.o}, tt.want); err != nil {
			return fmt.Errorf("with %s: %w", tt.what, err)
		}
	}
	return nil
}

func commandOutput(ctx context.Context, e *env) error {
	text := strings.Repeat(SplitText, 20_000)
	var seen strings.Builder
	o := codeinterp.RunOptions{Stdin: []byte(text), OnOutput: func(o codeinterp.Output) error { seen.Write(o.Data); return nil }}
	if err := e.commandPrints(ctx, "cat", &codeinterp.CommandOptions{RunOptions: o}, text); err != nil {
		return err
	}
	if err := wantText("what OnOutput saw", seen.String(), text); err != nil {
		return err
	}
	o.MaxOutput, o.OnOutput = 1000, nil
	res, err := e.command(ctx, "cat", &codeinterp.CommandOptions{RunOptions: o})
	if err := wantOK(res, err); err != nil {
		return err
	}
	return wantLoss(res, codeinterp.Stdout, len(text))
}

func commandCwd(ctx context.Context, e *env) error {
	if err := e.commandPrints(ctx, "pwd", &codeinterp.CommandOptions{Cwd: "/usr"}, "/usr\n"); err != nil {
		return err
	}
	res, err := e.command(ctx, "echo on", &codeinterp.CommandOptions{Cwd: "/toolcell-none"})
	if err := wantStatus(res, err, codeinterp.StatusError, 126); err != nil {
		return err
	}
	return wantText("stdout of a command without its directory", res.Stdout(), "")
}

func commandRefused(ctx context.Context, e *env) error {
	for what, tt := range map[string]struct {
		line string
		o    codeinterp.RunOptions
	}{
		"an empty command": {" \n", codeinterp.RunOptions{}},
		"Files":            {"echo on", codeinterp.RunOptions{Files: inputs("x", "x")}},
		"Artifacts":        {"echo on", codeinterp.RunOptions{Artifacts: true}},
		"Functions":        {"echo on", codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "f", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return nil, nil }}}}},
		"two inputs":       {"echo on", codeinterp.RunOptions{Stdin: []byte{}, Input: strings.NewReader("")}},
	} {
		res, err := e.command(ctx, tt.line, &codeinterp.CommandOptions{RunOptions: tt.o})
		if err := wantNotRun(res, err, codeinterp.ErrInvalid); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

func commandSignals(ctx context.Context, e *env) error {
	signals := make(chan codeinterp.Signal, 1)
	o := &codeinterp.CommandOptions{Signals: signals, RunOptions: codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
		select {
		case signals <- codeinterp.SignalTerminate:
		default: // it was sent
		}
		return nil
	}}}
	res, err := e.command(ctx, "echo on; sleep 600", o)
	if err := wantStatus(res, err, codeinterp.StatusError, 128+15); err != nil {
		return err
	}
	if res.Cause != codeinterp.CauseInterrupt {
		return fmt.Errorf("cause %q, want %q", res.Cause, codeinterp.CauseInterrupt)
	}
	return nil
}

func commandChildren(ctx context.Context, e *env) error {
	arg := sleepArg()
	if err := e.commandPrints(ctx, "sleep "+arg+" & echo on", nil, "on\n"); err != nil {
		return err
	}
	return allGone(arg, 2*time.Second)
}
