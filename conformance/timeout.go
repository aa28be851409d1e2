package conformance

import (
	"cmp"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// timeoutChecks are about when runs end, and how long they took.
func timeoutChecks() []check {
	return []check{
		{
			name: "TimeoutReached", row: 6, scope: everyRun,
			clause: "a run that exceeds RunOptions.Timeout ends as StatusTimeout, 124, with a nil error, at the latest Info.Lateness after it: one that computes, one that resists interrupts, and one that ends normally once it is interrupted",
			run: func(e *env) {
				for _, code := range []string{e.p.Spin, e.p.Stubborn, e.p.Yielding} {
					if code != "" {
						e.timesOut(code, e.timeout(300*time.Millisecond))
					}
				}
				if e.p.Yielding != "" {
					e.stopAtOutput(e.p.Yielding)
				}
			},
		},
		{
			name: "CanceledDuring", row: 6, scope: everyRun,
			clause: "a run whose ctx ends is StatusCanceled, 130, with ctx's cause as the error and the output so far, which OnOutput saw as it appeared",
			run: func(e *env) {
				res := e.stopAtOutput(e.p.Pause(time.Hour))
				if res.Stdout() != "first" || !strings.HasPrefix(res.Stderr(), "warned") {
					failf("%s, want stdout \"first\" and stderr \"warned\"", describe(res))
				}
				e.prints("the next run", e.p.Print("next"), "next", nil)
			},
		},
		{
			name: "TimeoutExact", row: 11, scope: everyRun,
			clause: "a timeout is kept to the millisecond, and not rounded",
			run:    timeoutExact,
		},
		{
			name: "DurationCounts", row: 11, scope: everyRun,
			clause: "Duration is the wall-clock time of the program, however it ended: a program that slept took at least that long",
			run: func(e *env) {
				sleep := e.p.Pause(80 * time.Millisecond)
				e.slept(e.ok(sleep, nil))
				if e.p.Fail != nil {
					e.slept(e.fails(lines(sleep, e.p.Fail("x"))))
				}
			},
		},
		{
			name: "StoppedAtUserCode", row: 17, scope: everyRun,
			clause: "the Error of a run that was stopped says where the program was, or is nil; it never says anything of the provider's own machinery, in its words or in its frames",
			run:    stoppedAtUserCode,
		},
		{
			name: "RunAwaits", row: 19, scope: everyRun, uses: func(p *Programs) bool { return p.Awaited != nil },
			clause: "a run lasts until what the program started is done",
			run: func(e *env) {
				e.prints("stdout", lines(e.p.Awaited("started", 150*time.Millisecond), e.p.Print("own;")), "own;started", nil)
			},
		},
		{
			name: "FailedCodeEnds", row: 19, scope: stateful, uses: func(p *Programs) bool { return p.Unending != nil && p.Fail != nil },
			clause: "what a program started does not go on after the program has ended by an error or by its own exit: the next run ends, and has nothing of it",
			run:    failedCodeEnds,
		},
	}
}

// busyTries is how often a clause about time is tried before its failure
// counts: on a busy machine any single moment can be missed.
const busyTries = 4

// timesOut wants code to run into a timeout, on time, and the next run to be as
// usual.
func (e *env) timesOut(code string, timeout time.Duration) {
	late := cmp.Or(codeinterp.Describe(e.ci).Lateness, e.patience())
	var res codeinterp.Result
	for range busyTries {
		var err error
		start := time.Now()
		res, err = e.run(code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
		took := time.Since(start)
		wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
		if took < timeout || took > timeout+e.patience() {
			failf("the run ended after %v with a timeout of %v", took, timeout)
		}
		e.prints("the next run", e.p.Print("next"), "next", nil)
		if res.Duration <= timeout+late {
			return
		}
	}
	failf("the runs lasted %v and longer, with a timeout of %v and %v, Info.Lateness, to end in", res.Duration, timeout, late)
}

// stopAtOutput prints to both streams, goes on with code, and is canceled at once.
func (e *env) stopAtOutput(code string) codeinterp.Result {
	run, stop := e.stoppable()
	defer stop()
	noOutput := time.AfterFunc(2*e.patience(), stop) // it would run for ever
	var at time.Time
	var seen strings.Builder
	res, err := run.run(lines(e.p.PrintErr("warned"), e.p.Print("first"), code), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		// The text may come in pieces, and is compared afterwards.
		if seen.Write(o.Data); at.IsZero() && strings.Contains(seen.String(), "first") {
			at = time.Now()
			stop()
		}
		return nil
	}})
	if took := time.Since(at); !noOutput.Stop() || at.IsZero() || took > e.patience() {
		failf("a program that printed and went on: no output in time, or it ended %v after it (%s, error %v)", took, describe(res), err)
	}
	wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
	return res
}

// timeoutExact sets a timeout that ends well before the program does. Rounded
// to seconds it would end after it.
func timeoutExact(e *env) {
	const timeout, length = 100 * time.Millisecond, 900 * time.Millisecond
	var res codeinterp.Result
	for range busyTries {
		var err error
		res, err = e.run(lines(e.p.Pause(length), e.p.Print("after")), &codeinterp.RunOptions{Timeout: timeout})
		if err == nil && res.Status == codeinterp.StatusTimeout && res.ExitCode == codeinterp.ExitTimeout {
			return
		}
	}
	failf("a program of %v with a timeout of %v: %s", length, timeout, describe(res))
}

// early is by how much timers may be early.
const early = 20 * time.Millisecond

// slept wants a Result of a program that slept for 80 ms.
func (e *env) slept(res codeinterp.Result) {
	if res.Duration < 80*time.Millisecond-early {
		failf("a Duration of %v for a program that slept for 80ms (%s)", res.Duration, describe(res))
	}
}

func stoppedAtUserCode(e *env) {
	// A program that prints is in what the provider has it print with, as a rule.
	for _, code := range []string{e.p.Pause(time.Hour), e.p.Spin, e.p.Flood} {
		if code != "" {
			code = lines(e.p.Print("x"), code)
			res, err := e.run(code, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond, MaxOutput: 1 << 16})
			wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
			e.ownError(res, strings.Count(code, "\n"))
		}
	}
	e.ownError(e.stopAtOutput(e.p.Pause(time.Hour)), strings.Count(lines(e.p.PrintErr(""), e.p.Print(""), e.p.Pause(0)), "\n"))
}

// ownError wants no Error of a stopped run, or one in a line of the program.
func (e *env) ownError(res codeinterp.Result, lines int) {
	if pe := res.Error; pe != nil {
		text := pe.Error() + "\n" + strings.Join(pe.Traceback, "\n")
		if strings.Contains(text, "SIGINT") || !e.lacks(ErrorLine) && (pe.Line < 1 || pe.Line > lines) {
			failf("Error %s in line %d, want none, or the line where the program was", quote(text), pe.Line)
		}
	}
}

func failedCodeEnds(e *env) {
	id := e.context(nil)
	ends := []string{e.p.Fail("x")}
	if e.p.Exit != nil {
		ends = append(ends, e.p.Exit(3))
	}
	for _, end := range ends {
		res, err := e.runIn(id, lines(e.p.Unending("tick;"), end), nil)
		if err != nil || res.Status != codeinterp.StatusError {
			failf("running %s: %s, error %v; want %q", quote(end), describe(res), err, codeinterp.StatusError)
		}
		for range 2 {
			time.Sleep(settle) // for what goes on between runs
			res := e.okIn(id, e.p.Print("own"), &codeinterp.RunOptions{Timeout: e.patience()})
			if res.StateLost || res.Stdout() != "own" {
				failf("the run after %s: %s, want stdout \"own\"", quote(end), describe(res))
			}
		}
	}
}
