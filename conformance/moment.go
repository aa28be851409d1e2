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
			name:   "DurationCounts",
			clause: "Duration is the wall-clock time of the program, however it ended: a program that slept took at least that long",
			scope:  everyRun,
			run:    durationCounts,
		},
		{
			name:   "DurationAlone",
			clause: "Duration counts from the program's begin: neither the wait for its turn nor the runtime's start is in it",
			scope:  stateful,
			run:    durationAlone,
		},
		{
			name:   "TimeoutExact",
			clause: "a timeout is kept to the millisecond, and not rounded",
			scope:  everyRun,
			run:    timeoutExact,
		},
		{
			name:   "EndedBeforeTimeout",
			clause: "a program that ended before its timeout is told so, however long OnOutput takes with what it left, which is not in Duration",
			scope:  everyRun,
			needs:  []Feature{Values, EndKnown},
			proves: EndKnown,
			uses:   func(p *Programs) bool { return len(p.Values) > 0 },
			run:    endedBeforeTimeout,
		},
		{
			name:   "StoppedAtUserCode",
			clause: "the Error of a run that was stopped tells where the program was, or is nil; it never tells of the provider's own machinery, in its words or in its frames",
			scope:  everyRun,
			run:    stoppedAtUserCode,
		},
		{
			name:   "ErrorOfAnything",
			clause: "whatever a program raises is StatusError, 1, with its name and message",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return len(p.Raises) > 0 },
			run: func(ctx context.Context, e *env) error {
				for _, r := range e.p.Raises {
					res, err := e.run(ctx, r.Code, nil)
					if err := wantStatus(res, err, codeinterp.StatusError, 1); err != nil {
						return fmt.Errorf("%q: %w", r.Code, err)
					}
					if res.Error == nil || res.Error.Name != r.Name || res.Error.Message != r.Message {
						return fmt.Errorf("%q: got Error %+v, want name %q and message %q", r.Code, res.Error, r.Name, r.Message)
					}
				}
				return nil
			},
		},
		{
			name:   "CauseMemory",
			clause: "a run that a limit on memory ended says CauseMemory",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Exhaust != "" },
			run: func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, e.p.Exhaust, &codeinterp.RunOptions{Timeout: time.Minute})
				if err != nil || res.Status != codeinterp.StatusError && res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseMemory {
					return fmt.Errorf("%s, error %v; want %q or %q, cause %q and no error", describe(res), err, codeinterp.StatusError, codeinterp.StatusLost, codeinterp.CauseMemory)
				}
				return e.stillWorks(ctx, "after memory ran out")
			},
		},
		{
			name:   "RunAwaits",
			clause: "a run lasts until what the program started is done",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Awaited != nil },
			run: func(ctx context.Context, e *env) error {
				out, err := e.stdout(ctx, lines(e.p.Awaited("started", 150*time.Millisecond), e.p.Print("own;")), nil)
				if err != nil {
					return err
				}
				return wantText("stdout", out, "own;started")
			},
		},
		{
			name:   "RepeatingEnds",
			clause: "what repeats for ever holds its run until that is stopped, and does not go on afterwards",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Repeating != nil },
			run:    repeatingEnds,
		},
		{
			name:   "FailedCodeEnds",
			clause: "what a program started does not go on after the program has ended by an error or by its own exit: the next run ends, and has nothing of it",
			scope:  stateful,
			uses:   func(p *Programs) bool { return p.Unending != nil && p.Fail != nil },
			run:    failedCodeEnds,
		},
	}
}

// early is by how much timers may be early.
const early = 20 * time.Millisecond

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

// durationAlone looks at a run that waits for its turn longer than it takes, and
// at the first of a new state where that takes long to start.
func durationAlone(ctx context.Context, e *env) error {
	const wait = 400 * time.Millisecond
	const long = time.Second // a start that is not the machine's being busy
	id, err := e.some(ctx)
	if err != nil {
		return err
	}
	for range busyTries {
		if err = e.durationQueued(ctx, id, wait); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	for range busyTries {
		begin := time.Now()
		res, runErr := e.runCode(ctx, e.p.Print("x"), nil)
		if err := wantOK(res, runErr); err != nil {
			return err
		}
		wall := time.Since(begin)
		// Where a state starts at once, its start cannot show in the Duration.
		if wall < long || res.Duration < wall/2 {
			return nil
		}
		err = fmt.Errorf("a Duration of %v for a program that prints a letter, in a state of its own that took %v in all", res.Duration, wall)
	}
	return err
}

// durationQueued wants a run to take less than the wait for its turn.
func (e *env) durationQueued(ctx context.Context, id codeinterp.ContextID, wait time.Duration) error {
	_, first, err := e.busyIn(ctx, id, e.p.Pause(wait+settle))
	if err != nil {
		return err
	}
	res, runErr := e.runIn(ctx, id, e.p.Print("x"), nil)
	if err := errors.Join(wantOK(res, runErr), first.wait(e.patience())); err != nil {
		return err
	}
	if res.Duration >= wait {
		return fmt.Errorf("a Duration of %v for a program that prints a letter, after %v of waiting for its turn", res.Duration, wait)
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

// endedBeforeTimeout keeps a program's value in OnOutput until its timeout is
// over.
func endedBeforeTimeout(ctx context.Context, e *env) error {
	timeout, err := e.timeout(ctx, 250*time.Millisecond)
	if err != nil {
		return err
	}
	for range busyTries {
		res, runErr := e.run(ctx, e.p.Values[0].Code, &codeinterp.RunOptions{Timeout: timeout, OnOutput: func(codeinterp.Output) error {
			time.Sleep(timeout + 50*time.Millisecond)
			return nil
		}})
		if err = wantOK(res, runErr); err == nil && res.Duration < timeout+50*time.Millisecond {
			return nil
		}
		err = fmt.Errorf("a program of %v, a timeout of %v, and an OnOutput that took longer: %w", res.Duration, timeout, err)
		timeout *= 2
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
		if err := wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
			return err
		}
		if err := e.stoppedWithin(code, res); err != nil {
			return err
		}
	}
	res, err := e.cancelAtOutput(ctx, e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	return e.stoppedWithin(lines(e.p.PrintErr("warned"), e.p.Print("first"), e.p.Pause(time.Hour)), res)
}

// stoppedWithin wants no Error of a run that was stopped, or one in a line of code and
// with its frames.
func (e *env) stoppedWithin(code string, res codeinterp.Result) error {
	if res.Error == nil {
		return nil
	}
	text, line := whole(res.Error), res.Error.Line
	if strings.Contains(text, "SIGINT") || !e.s.cfg.lacks(ErrorLine, e.language) && (line < 1 || line > strings.Count(code, "\n")) {
		return fmt.Errorf("%s: Error %s in line %d, want none, or the line where the program was", quote(code), quote(text), line)
	}
	return ownFrames(code, res.Error)
}

// whole is all the text of an error.
func whole(e *codeinterp.ProgramError) string {
	if e == nil {
		return ""
	}
	return e.Error() + "\n" + strings.Join(e.Traceback, "\n")
}

func failedCodeEnds(ctx context.Context, e *env) error {
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
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
			if err := wantText("stdout after "+quote(end), res.Stdout(), "own"); err != nil {
				return err
			}
		}
	}
	return nil
}

func repeatingEnds(ctx context.Context, e *env) error {
	err := e.timesOutPrinting(ctx, e.p.Repeating("tick;"), func(res codeinterp.Result) error {
		if !strings.HasPrefix(res.Stdout(), "tick;") {
			return fmt.Errorf("%s, want ticks", describe(res))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for range 2 {
		res, err := e.run(ctx, lines(e.p.Print("own"), e.p.Pause(100*time.Millisecond)), &codeinterp.RunOptions{})
		if err := wantOK(res, err); err != nil {
			return err
		}
		for _, o := range res.Outputs {
			if strings.Contains(string(o.Data), "tick") {
				return fmt.Errorf("the next run's output has %s: what repeats goes on after its run was stopped", outputLine(o))
			}
		}
	}
	return nil
}
