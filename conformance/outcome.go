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
			name:   "OK",
			clause: "a program that ends normally is StatusOK, 0, without Error and Cause",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, e.p.Print("hello\n"), nil)
				if err := wantOK(res, err); err != nil {
					return err
				}
				if res.Error != nil || res.Cause != "" || res.StateLost || len(res.Truncated) > 0 || res.CallbackErr != nil {
					return fmt.Errorf("%+v, want no Error, Cause, StateLost, Truncated and CallbackErr", res)
				}
				return wantText("stdout", res.Stdout(), "hello\n")
			},
		},
		{
			name:   "ExitZero",
			clause: "a program that exits with code 0 ended normally",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Exit != nil },
			run: func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Exit(0), e.p.Print("after")), nil)
				if err := wantOK(res, err); err != nil {
					return err
				}
				return wantText("stdout", res.Stdout(), "before")
			},
		},
		{
			name:   "ExitCode",
			clause: "a program that exits with code N, not 0, is StatusError with exit code N and a nil error",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Exit != nil },
			run: func(ctx context.Context, e *env) error {
				for _, code := range []int{1, 3, 255} {
					res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Exit(code), e.p.Print("after")), nil)
					if err := wantStatus(res, err, codeinterp.StatusError, code); err != nil {
						return fmt.Errorf("exit %d: %w", code, err)
					}
					if err := wantText("stdout", res.Stdout(), "before"); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			name:   "UncaughtError",
			clause: "an uncaught error is StatusError, 1, with the program's Error and its output before that, also where its message is empty",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Fail != nil },
			run: func(ctx context.Context, e *env) error {
				for _, msg := range []string{"went wrong", ""} {
					res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Fail(msg), e.p.Print("after")), nil)
					if err := wantStatus(res, err, codeinterp.StatusError, 1); err != nil {
						return fmt.Errorf("an error with the message %q: %w", msg, err)
					}
					if res.Error == nil {
						return fmt.Errorf("no Error for one with the message %q", msg)
					}
					if err := wantText("stdout", res.Stdout(), "before"); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			name:   "SyntaxError",
			clause: "a syntax error is StatusError; in a language with exceptions 1, with an Error, and no part of the program runs",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.SyntaxError != "" },
			run:    syntaxError,
		},
		{
			name:   "Recursion",
			clause: "endless recursion is an error or the loss of the process, and the interpreter goes on",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Recurse != "" },
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
			name:   "KilledBySignal",
			clause: "a process that dies by a signal is StatusLost, 128 + signal, with a nil error and the output before that",
			scope:  everyRun,
			needs:  []Feature{Processes},
			proves: Processes,
			uses:   func(p *Programs) bool { return p.KillSelf != "" },
			run:    killedBySignal,
		},
		{
			name:   "RunsAreIndependent",
			clause: "however a run ended, the next one is not disturbed",
			scope:  everyRun,
			run:    runsAreIndependent,
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
	if err := want(res, codeinterp.StatusError, 1); err != nil {
		return err
	}
	if res.Error == nil {
		return errors.New("no Error")
	}
	return wantText("stdout", res.Stdout(), "")
}

func killedBySignal(ctx context.Context, e *env) error {
	res, err := e.run(ctx, lines(e.p.Print("before"), e.p.Pause(150*time.Millisecond), e.p.KillSelf), &codeinterp.RunOptions{Timeout: time.Minute})
	if err := wantStatus(res, err, codeinterp.StatusLost, codeinterp.ExitKilled); err != nil {
		return err
	}
	if err := wantText("stdout", res.Stdout(), "before"); err != nil {
		return err
	}
	if res.Cause == "" {
		return errors.New("no Cause")
	}
	out, err := e.stdout(ctx, e.p.Print("next"), nil)
	if err != nil {
		return fmt.Errorf("the next run: %w", err)
	}
	return wantText("the next run", out, "next")
}

func runsAreIndependent(ctx context.Context, e *env) error {
	programs := []string{e.p.Print("unterminated"), e.p.PrintErr("to stderr"), e.p.SyntaxError}
	if e.p.Fail != nil {
		programs = append(programs, e.p.Fail("x"))
	}
	if e.p.Exit != nil {
		programs = append(programs, e.p.Exit(3))
	}
	for _, p := range programs {
		if _, err := e.run(ctx, p, nil); err != nil {
			return fmt.Errorf("running %s: %w", quote(p), err)
		}
		res, err := e.run(ctx, e.p.Print("next"), nil)
		if err := wantOK(res, err); err != nil {
			return fmt.Errorf("after %s: %w", quote(p), err)
		}
		if res.Stdout() != "next" || res.Stderr() != "" {
			return fmt.Errorf("after %s: %s, want stdout \"next\" alone", quote(p), describe(res))
		}
	}
	return nil
}
