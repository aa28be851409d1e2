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
			name: "TimeoutSpin", row: 6, scope: everyRun, uses: func(p *Programs) bool { return p.Spin != "" },
			clause: timeoutClause + ": one that computes",
			run: func(ctx context.Context, e *env) error {
				_, err := e.timesOut(ctx, e.p.Spin, 300*time.Millisecond)
				return err
			},
		},
		{
			name: "TimeoutStubborn", row: 6, scope: everyRun, uses: func(p *Programs) bool { return p.Stubborn != "" },
			clause: timeoutClause + ": one that resists interrupts",
			run: func(ctx context.Context, e *env) error {
				_, err := e.timesOut(ctx, e.p.Stubborn, 600*time.Millisecond)
				return err
			},
		},
		{
			name: "TimeoutWins", row: 6, scope: everyRun, uses: func(p *Programs) bool { return p.Yielding != "" },
			clause: "a timeout or a cancellation wins over how the program ends once it is interrupted, also where that is normally",
			run:    timeoutWins,
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

func timeoutWins(ctx context.Context, e *env) error {
	timeout := need(e.timeout(ctx, 300*time.Millisecond))
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

var errStop = errors.New("the caller changed its mind")

func cancelChecks() []check {
	return []check{
		{
			name: "CanceledDuring", row: 6, scope: everyRun,
			clause: "a run whose ctx ends is StatusCanceled, 130, with ctx's cause as the error and the output so far",
			run: func(ctx context.Context, e *env) error {
				res := need(e.cancelAtOutput(ctx, e.p.Pause(time.Hour)))
				if res.Stdout() != "first" || !strings.HasPrefix(res.Stderr(), "warned") {
					return fmt.Errorf("%s, want stdout \"first\" and stderr \"warned\"", describe(res))
				}
				return e.stillWorks(ctx, "after cancellation")
			},
		},
	}
}

// cancelAtOutput prints to both streams, goes on with code, and is canceled at once.
func (e *env) cancelAtOutput(ctx context.Context, code string) (codeinterp.Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var at time.Time
	var seen strings.Builder
	res, err := e.run(ctx, lines(e.p.PrintErr("warned"), e.p.Print("first"), code), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		// The text may come in pieces, and is compared afterwards.
		if seen.Write(o.Data); at.IsZero() && strings.Contains(seen.String(), "first") {
			at = time.Now()
			end(errStop)
		}
		return nil
	}})
	if at.IsZero() {
		return res, fmt.Errorf("no output before the end: %s, error %v", describe(res), err)
	}
	if took := time.Since(at); took > e.patience() {
		return res, fmt.Errorf("the run ended %v after ctx", took)
	}
	return res, wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
}
