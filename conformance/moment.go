package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// busyTries is how often a clause about time is tried before its failure
// counts: on a busy machine any single moment can be missed.
const busyTries = 4

func momentChecks() []check {
	return []check{
		{
			name: "DurationCounts", row: 11, scope: everyRun,
			clause: "Duration is the wall-clock time of the program, however it ended: a program that slept took at least that long",
			run:    durationCounts,
		},
		{
			name: "TimeoutExact", row: 11, scope: everyRun,
			clause: "a timeout is kept to the millisecond, and not rounded",
			run:    timeoutExact,
		},
		{
			name: "StoppedAtUserCode", row: 17, scope: everyRun,
			clause: "the Error of a run that was stopped tells where the program was, or is nil; it never tells of the provider's own machinery, in its words or in its frames",
			run:    stoppedAtUserCode,
		},
		{
			name: "ErrorOfAnything", row: 18, scope: everyRun, uses: func(p *Programs) bool { return len(p.Raises) > 0 },
			clause: "whatever a program raises is StatusError, 1, with its name and message",
			run:    func(ctx context.Context, e *env) error { return e.raise(ctx, e.p.Raises) },
		},
		{
			name: "ModulesStrict", row: 20, scope: stateless, uses: func(p *Programs) bool { return len(p.Strict) > 0 },
			clause: "programs with import or export are strict: an assignment to a name that was not declared, or to a frozen object, is an error",
			run: func(ctx context.Context, e *env) error {
				for _, r := range e.p.Strict {
					res, err := e.run(ctx, r.Code, nil)
					if err != nil || res.Status != codeinterp.StatusError || res.Error == nil || res.Error.Name != r.Name {
						return fmt.Errorf("%q: %s, error %v; want the error %s", r.Code, describe(res), err, r.Name)
					}
				}
				return nil
			},
		},
		{
			name: "RunAwaits", row: 19, scope: everyRun, uses: func(p *Programs) bool { return p.Awaited != nil },
			clause: "a run lasts until what the program started is done",
			run: func(ctx context.Context, e *env) error {
				out := need(e.stdout(ctx, lines(e.p.Awaited("started", 150*time.Millisecond), e.p.Print("own;")), nil))
				return wantText("stdout", out, "own;started")
			},
		},
		{
			name: "FailedCodeEnds", row: 19, scope: stateful, uses: func(p *Programs) bool { return p.Unending != nil && p.Fail != nil },
			clause: "what a program started does not go on after the program has ended by an error or by its own exit: the next run ends, and has nothing of it",
			run:    failedCodeEnds,
		},
	}
}

// early is by how much timers may be early.
const early = 20 * time.Millisecond

// raise wants each of the programs to fail with its error.
func (e *env) raise(ctx context.Context, programs []Raise) error {
	for _, r := range programs {
		res, err := e.run(ctx, r.Code, nil)
		if err := wantStatus(res, err, codeinterp.StatusError, 1); err != nil {
			return fmt.Errorf("%q: %w", r.Code, err)
		}
		if res.Error == nil || res.Error.Name != r.Name || res.Error.Message != r.Message {
			return fmt.Errorf("%q: got Error %+v, want name %q and message %q", r.Code, res.Error, r.Name, r.Message)
		}
	}
	return nil
}

// durationCounts looks at programs that sleep and then end, fail, or are canceled.
func durationCounts(ctx context.Context, e *env) error {
	const sleep = 80 * time.Millisecond
	programs := map[string]string{"slept": e.p.Pause(sleep)}
	if e.p.Fail != nil {
		programs["slept, and failed,"] = lines(e.p.Pause(sleep), e.p.Fail("x"))
	}
	for what, code := range programs {
		res, err := e.run(ctx, code, nil)
		if err != nil || res.Duration < sleep-early {
			return fmt.Errorf("a Duration of %v for a program that %s after %v (%s, error %w)", res.Duration, what, sleep, describe(res), err)
		}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	res, err := e.run(ctx, lines(e.p.Pause(sleep), e.p.Print("slept"), e.p.Pause(time.Hour)), &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
		end(errStop)
		return nil
	}})
	if !errors.Is(err, errStop) || res.Duration < sleep-early {
		return fmt.Errorf("a Duration of %v for a program that was canceled after %v (%s, error %w)", res.Duration, sleep, describe(res), err)
	}
	return nil
}

// timeoutExact sets a timeout that ends well before the program does. Rounded
// to seconds it would end after it.
func timeoutExact(ctx context.Context, e *env) error {
	const timeout, length = 100 * time.Millisecond, 900 * time.Millisecond
	var err error
	for range busyTries {
		res, runErr := e.run(ctx, lines(e.p.Pause(length), e.p.Print("after")), &codeinterp.RunOptions{Timeout: timeout})
		if err = wantStatus(res, runErr, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err == nil {
			return nil
		}
		err = fmt.Errorf("a program of %v with a timeout of %v: %w", length, timeout, err)
	}
	return err
}

func stoppedAtUserCode(ctx context.Context, e *env) error {
	// A program that prints is in what the provider has it print with, as a rule.
	for _, code := range []string{e.p.Pause(time.Hour), e.p.Spin, e.p.Flood} {
		if code == "" {
			continue
		}
		code = lines(e.p.Print("x"), code)
		res, err := e.run(ctx, code, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond, MaxOutput: 1 << 16})
		must(wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout))
		must(e.stoppedWithin(code, res))
	}
	res := need(e.cancelAtOutput(ctx, e.p.Pause(time.Hour)))
	return e.stoppedWithin(lines(e.p.PrintErr("warned"), e.p.Print("first"), e.p.Pause(time.Hour)), res)
}

// stoppedWithin wants no Error of a stopped run, or one in a line of the program.
func (e *env) stoppedWithin(code string, res codeinterp.Result) error {
	if res.Error == nil {
		return nil
	}
	text, line := whole(res.Error), res.Error.Line
	if strings.Contains(text, "SIGINT") || !e.s.cfg.lacks(ErrorLine, e.language) && (line < 1 || line > strings.Count(code, "\n")) {
		return fmt.Errorf("%s: Error %s in line %d, want none, or the line where the program was", quote(code), quote(text), line)
	}
	return nil
}

// whole is all the text of an error.
func whole(e *codeinterp.ProgramError) string {
	if e == nil {
		return ""
	}
	return e.Error() + "\n" + strings.Join(e.Traceback, "\n")
}

func failedCodeEnds(ctx context.Context, e *env) error {
	id := need(e.context(ctx, nil))
	ends := []string{e.p.Fail("x")}
	if e.p.Exit != nil {
		ends = append(ends, e.p.Exit(3))
	}
	for _, end := range ends {
		res, err := e.runIn(ctx, id, lines(e.p.Unending("tick;"), end), nil)
		if err != nil || res.Status != codeinterp.StatusError {
			return fmt.Errorf("running %s: %s, error %v; want %q", quote(end), describe(res), err, codeinterp.StatusError)
		}
		for range 2 {
			time.Sleep(settle) // for what goes on between runs
			res, err := e.runIn(ctx, id, e.p.Print("own"), &codeinterp.RunOptions{Timeout: e.patience()})
			if err := wantOK(res, err); err != nil {
				return fmt.Errorf("after %s: %w", quote(end), err)
			}
			if res.StateLost {
				return fmt.Errorf("the run after %s tells of a loss that it has no part in", quote(end))
			}
			must(wantText("stdout after "+quote(end), res.Stdout(), "own"))
		}
	}
	return nil
}
