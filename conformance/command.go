package conformance

import (
	"context"
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
			clause: "a command that fails is a Result with its exit code, and its streams are kept apart",
			run: commanding(func(ctx context.Context, e *env) error {
				res, err := e.command(ctx, "echo out; echo err >&2; exit 3", nil)
				must(wantStatus(res, err, codeinterp.StatusError, 3))
				return errors.Join(wantText("stdout", res.Stdout(), "out\n"), wantText("stderr", res.Stderr(), "err\n"))
			}),
		},
		{
			name:   "CommandInput",
			clause: "a command reads Stdin or Input, and the end of its input where there is neither",
			run:    commanding(commandInput),
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
			name: "CommandChildren", needs: []Feature{Children},
			clause: "what a command left running in the background does not hold it up, and is gone when it has returned",
			run:    commanding(commandChildren),
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

func commandChildren(ctx context.Context, e *env) error {
	arg := sleepArg()
	must(e.commandPrints(ctx, "sleep "+arg+" & echo on", nil, "on\n"))
	return allGone(arg, 2*time.Second)
}
