package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func outcomeChecks() []check {
	return []check{
		{
			name: "ExitCode", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.Exit != nil },
			clause: "a program that exits with code N, not 0, is StatusError with exit code N and a nil error",
			run: func(ctx context.Context, e *env) error {
				for _, code := range []int{1, 3, 255} {
					res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Exit(code), e.p.Print("after")), nil)
					if err := wantStatus(res, err, codeinterp.StatusError, code); err != nil {
						return fmt.Errorf("exit %d: %w", code, err)
					}
					must(wantText("stdout", res.Stdout(), "before"))
				}
				return nil
			},
		},
		{
			name: "UncaughtError", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.Fail != nil },
			clause: "an uncaught error is StatusError, 1, with the program's Error and its output before that, also where its message is empty",
			run: func(ctx context.Context, e *env) error {
				for _, msg := range []string{"went wrong", ""} {
					res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Fail(msg), e.p.Print("after")), nil)
					if err := wantStatus(res, err, codeinterp.StatusError, 1); err != nil {
						return fmt.Errorf("an error with the message %q: %w", msg, err)
					}
					if res.Error == nil {
						return fmt.Errorf("no Error for one with the message %q", msg)
					}
					must(wantText("stdout", res.Stdout(), "before"))
				}
				return nil
			},
		},
		{
			name: "SyntaxError", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.SyntaxError != "" },
			clause: "a syntax error is StatusError; in a language with exceptions 1, with an Error, and no part of the program runs",
			run:    syntaxError,
		},
		{
			name: "Recursion", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.Recurse != "" },
			clause: "endless recursion is an error or the loss of the process, and the interpreter goes on",
			run: func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, e.p.Recurse, &codeinterp.RunOptions{Timeout: time.Minute})
				if err != nil || res.Status != codeinterp.StatusError && res.Status != codeinterp.StatusLost {
					return fmt.Errorf("%s, error %v; want %q or %q and no error", describe(res), err, codeinterp.StatusError, codeinterp.StatusLost)
				}
				out, err := e.stdout(ctx, e.p.Print("next"), nil)
				if err != nil {
					return fmt.Errorf("the next run: %w", err)
				}
				return wantText("the next run", out, "next")
			},
		},
		{
			name: "KilledBySignal", row: 7, scope: everyRun, needs: []Feature{Processes}, proves: Processes, uses: func(p *Programs) bool { return p.KillSelf != "" },
			clause: "a process that dies by a signal is StatusLost, 128 + signal, with a nil error and the output before that",
			run:    killedBySignal,
		},
	}
}

func syntaxError(ctx context.Context, e *env) error {
	res, err := e.run(ctx, lines(e.p.Print("ran"), e.p.SyntaxError), nil)
	if err != nil {
		return fmt.Errorf("error %w, want none", err)
	}
	// A language without exceptions, such as bash, has an exit code of its own for
	// this, and may run the lines before.
	if e.p.Fail == nil {
		if res.Status != codeinterp.StatusError {
			return want(res, codeinterp.StatusError, 1)
		}
		return nil
	}
	must(want(res, codeinterp.StatusError, 1))
	if res.Error == nil {
		return errors.New("no Error")
	}
	return wantText("stdout", res.Stdout(), "")
}

func killedBySignal(ctx context.Context, e *env) error {
	res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Pause(150*time.Millisecond), e.p.KillSelf), &codeinterp.RunOptions{Timeout: time.Minute})
	must(wantStatus(res, err, codeinterp.StatusLost, codeinterp.ExitKilled))
	must(wantText("stdout", res.Stdout(), "before"))
	if res.Cause == "" {
		return errors.New("no Cause")
	}
	out, err := e.stdout(ctx, e.p.Print("next"), nil)
	if err != nil {
		return fmt.Errorf("the next run: %w", err)
	}
	return wantText("the next run", out, "next")
}
