package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

var errStop = errors.New("the caller changed its mind")

func cancelChecks() []check {
	return []check{
		{
			name:   "CanceledBefore",
			clause: "a run whose ctx is done on entry never starts: StatusNotRun, -1, and ctx's cause",
			scope:  everyRun,
			run:    canceledBefore,
		},
		{
			name:   "CanceledDuring",
			clause: "a run whose ctx ends is StatusCanceled, 130, with ctx's cause as the error and the output so far",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				res, err := e.cancelAtOutput(ctx, e.p.Pause(time.Hour))
				if err != nil {
					return err
				}
				if res.Stdout() != "first" || !strings.HasPrefix(res.Stderr(), "warned") {
					return fmt.Errorf("%s, want stdout \"first\" and stderr \"warned\"", describe(res))
				}
				return e.stillWorks(ctx, "after cancellation")
			},
		},
		{
			name:   "CanceledSpin",
			clause: "a program that computes is canceled like any other",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.Spin != "" },
			run: func(ctx context.Context, e *env) error {
				_, err := e.cancelAtOutput(ctx, e.p.Spin)
				return err
			},
		},
		{
			name:   "CanceledStubborn",
			clause: "a program that resists interrupts is canceled like any other",
			scope:  stateless,
			uses:   func(p *Programs) bool { return p.Stubborn != "" },
			run: func(ctx context.Context, e *env) error {
				_, err := e.cancelAtOutput(ctx, e.p.Stubborn)
				return err
			},
		},
		{
			name:   "CanceledByDeadline",
			clause: "a deadline of the caller's ctx is a cancellation, not a timeout of the run",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
				res, err := e.run(ctx, e.p.Pause(time.Hour), &codeinterp.RunOptions{Timeout: time.Hour})
				if res.Status == codeinterp.StatusNotRun {
					return wantNotRun(res, err, context.DeadlineExceeded)
				}
				return wantErr(res, err, context.DeadlineExceeded, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
			},
		},
		{
			name:   "CanceledAfter",
			clause: "canceling ctx after the run has no effect",
			scope:  everyRun,
			run: func(ctx context.Context, e *env) error {
				runCtx, cancel := context.WithCancel(ctx)
				res, err := e.run(runCtx, e.p.Print("x"), nil)
				cancel()
				if err := wantOK(res, err); err != nil {
					return err
				}
				return e.stillWorks(ctx, "after a late cancel")
			},
		},
		{
			name:   "CanceledAnytime",
			clause: "at whatever moment ctx ends, the run is ok, canceled or not run, and says which",
			scope:  everyRun,
			run:    canceledAnytime,
		},
		{
			name:   "CreateCanceled",
			clause: "CreateContext with a ctx that is done fails with its cause and leaves nothing behind",
			scope:  stateful,
			run:    createCanceled,
		},
	}
}

func canceledBefore(ctx context.Context, e *env) error {
	done, cancel := context.WithCancelCause(ctx)
	cancel(errStop)
	ran := false
	res, err := e.run(done, e.p.Print("ran"), &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { ran = true; return nil }})
	if err := wantNotRun(res, err, errStop); err != nil {
		return err
	}
	if ran {
		return errors.New("the program ran")
	}
	return nil
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

func canceledAnytime(ctx context.Context, e *env) error {
	delays := []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond, 150 * time.Millisecond}
	for _, d := range delays {
		runCtx, end := context.WithCancelCause(ctx)
		timer := time.AfterFunc(d, func() { end(errStop) })
		res, err := e.run(runCtx, lines(e.p.Print("a"), e.p.Pause(40*time.Millisecond), e.p.Print("b")), &codeinterp.RunOptions{})
		timer.Stop()
		end(nil)
		switch res.Status {
		case codeinterp.StatusOK:
			err = wantText("stdout", res.Stdout(), "ab")
		case codeinterp.StatusNotRun:
			err = wantNotRun(res, err, errStop)
		default:
			err = wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
		}
		if err != nil {
			return fmt.Errorf("canceled after %v: %w", d, err)
		}
	}
	return e.stillWorks(ctx, "after cancellations")
}

func createCanceled(ctx context.Context, e *env) error {
	done, cancel := context.WithCancelCause(ctx)
	cancel(errStop)
	id, err := e.stateful().CreateContext(done, e.language, nil)
	if err := wantContextError(id, err, errStop); err != nil {
		return err
	}
	if !hasManager(e.ci) {
		return nil
	}
	list, err := e.manager().ListContexts(ctx)
	if err != nil {
		return err
	}
	known := map[codeinterp.ContextID]bool{}
	// The interpreter is shared: these are other checks'.
	for _, id := range e.s.contexts {
		known[id] = true
	}
	for _, info := range list {
		if !known[info.ID] {
			return errors.New("a context is left of a CreateContext that failed")
		}
	}
	return nil
}
