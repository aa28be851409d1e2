package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const timeoutClause = "a run that exceeds RunOptions.Timeout ends as StatusTimeout, 124, with a nil error"

func timeoutChecks() []check {
	return []check{
		{
			name:   "TimeoutSilent",
			clause: timeoutClause + ": one that waits",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				_, err := e.timesOut(ctx, e.p.Pause(time.Hour), 300*time.Millisecond)
				return err
			},
		},
		{
			name:   "TimeoutSpin",
			clause: timeoutClause + ": one that computes",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Spin != "" },
			run: func(ctx context.Context, e *env) error {
				_, err := e.timesOut(ctx, e.p.Spin, 300*time.Millisecond)
				return err
			},
		},
		{
			name:   "TimeoutChatty",
			clause: timeoutClause + ": one that never stops printing",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Flood != "" },
			run: func(ctx context.Context, e *env) error {
				return e.timesOutPrinting(ctx, e.p.Flood, func(res codeinterp.Result) error {
					if !strings.HasPrefix(res.Stdout(), "tick\ntick\n") {
						return fmt.Errorf("%s, want ticks", describe(res))
					}
					return nil
				})
			},
		},
		{
			name:   "TimeoutStubborn",
			clause: timeoutClause + ": one that resists interrupts",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Stubborn != "" },
			run: func(ctx context.Context, e *env) error {
				_, err := e.timesOut(ctx, e.p.Stubborn, 600*time.Millisecond)
				return err
			},
		},
		{
			name:   "TimeoutWins",
			clause: "a timeout or a cancellation wins over how the program ends once it is interrupted, also where that is normally",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Yielding != "" },
			run:    timeoutWins,
		},
		{
			name:   "TimeoutKeepsOutput",
			clause: "what came out before the timeout is in the Result",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				code := lines(e.p.Print("before"), e.p.PrintErr("too"), e.p.Pause(time.Hour), e.p.Print("after"))
				return e.timesOutPrinting(ctx, code, func(res codeinterp.Result) error {
					if res.Stdout() != "before" || !strings.HasPrefix(res.Stderr(), "too") {
						return fmt.Errorf("%s, want stdout \"before\" and stderr \"too\"", describe(res))
					}
					return nil
				})
			},
		},
		{
			name:   "TimeoutNotReached",
			clause: "a timeout that is not reached has no effect",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				_, err := e.stdout(ctx, e.p.Print("x"), &codeinterp.RunOptions{Timeout: codeinterp.MaxTimeout})
				return err
			},
		},
		{
			name:   "StoppedCodeIsDead",
			clause: "code that was stopped does not go on computing",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Spin != "" },
			run:    stoppedCodeIsDead,
		},
		{
			name:   "StoppedCodeWritesNoMore",
			clause: "code that was stopped does not go on writing files",
			scope:  stateful,
			needs:  []Feature{Files},
			uses:   func(p *Programs) bool { return p.AppendForever != nil && p.WriteFile != nil && p.ReadFile != nil },
			run:    stoppedCodeWritesNoMore,
		},
	}
}

// timesOut wants code to run into a timeout, on time.
func (e *env) timesOut(ctx context.Context, code string, timeout time.Duration) (codeinterp.Result, error) {
	start := time.Now()
	res, err := e.run(ctx, code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
	took := time.Since(start)
	if err := wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
		return res, err
	}
	if took < timeout {
		return res, fmt.Errorf("the run ended after %v, before its timeout of %v", took, timeout)
	}
	if took > timeout+e.patience() {
		return res, fmt.Errorf("the run ended after %v with a timeout of %v", took, timeout)
	}
	return res, e.stillWorks(ctx, "after the timeout")
}

// timesOutPrinting is timesOut for code that prints first. A program that did
// not come to that gets more time, which a busy machine may need.
func (e *env) timesOutPrinting(ctx context.Context, code string, printed func(codeinterp.Result) error) error {
	timeout, err := e.timeout(ctx, 300*time.Millisecond)
	if err != nil {
		return err
	}
	var missing error
	for range busyTries {
		res, err := e.timesOut(ctx, code, timeout)
		if err != nil {
			return err
		}
		if missing = printed(res); missing == nil {
			return nil
		}
		timeout *= 2
	}
	return missing
}

func timeoutWins(ctx context.Context, e *env) error {
	timeout, err := e.timeout(ctx, 300*time.Millisecond)
	if err != nil {
		return err
	}
	if _, err := e.timesOut(ctx, e.p.Yielding, timeout); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := time.AfterFunc(timeout, func() { end(errStop) })
	defer stop.Stop()
	res, err := e.run(ctx, e.p.Yielding, nil)
	return wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
}

// stillWorks wants the next run to be as usual.
func (e *env) stillWorks(ctx context.Context, when string) error {
	res, err := e.run(ctx, e.p.Print("next"), nil)
	if err := wantOK(res, err); err != nil {
		return fmt.Errorf("the next run, %s: %w", when, err)
	}
	if res.Stdout() != "next" {
		return fmt.Errorf("the next run, %s: %s, want stdout \"next\"", when, describe(res))
	}
	return nil
}

// stoppedCodeIsDead looks at the CPU time of this process and its descendants
// after a loop was stopped, and compares it with a loop of its own: on a busy
// machine a loop that goes on gets as little as that one. It waits for what a
// provider has to tidy up or to make ready.
func stoppedCodeIsDead(ctx context.Context, e *env) error {
	if _, err := e.run(ctx, e.p.Spin, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}); err != nil {
		return err
	}
	const own = 120 * time.Millisecond
	for _, wait := range e.s.settling {
		time.Sleep(wait)
		if used, ok := cpuUsedBeside(own); !ok || used < own/2 { // a busy machine makes the look long, and tidying up goes on in it
			return nil
		}
	}
	return errors.New("this process or its descendants go on using CPU time, for seconds after the timeout")
}

func stoppedCodeWritesNoMore(ctx context.Context, e *env) error {
	id, err := e.some(ctx)
	if err != nil {
		return err
	}
	const path = "toolcell-heartbeat.txt"
	if err := e.do(ctx, id, e.p.WriteFile(path, "")); err != nil {
		return err
	}
	res, err := e.runIn(ctx, id, e.p.AppendForever(path), &codeinterp.RunOptions{Timeout: 500 * time.Millisecond})
	if err := wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
		return err
	}
	first, err := e.stdoutIn(ctx, id, e.p.ReadFile(path))
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	second, err := e.stdoutIn(ctx, id, e.p.ReadFile(path))
	if err != nil {
		return err
	}
	if first == "" {
		return errors.New("the program wrote nothing before its timeout")
	}
	return wantText("the file 200 ms later", second, first)
}
