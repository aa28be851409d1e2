package conformance

import (
	"context"
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
