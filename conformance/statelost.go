package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func stateLostChecks() []check {
	return []check{
		{
			name: "StateAfterInterrupt", row: 6, scope: stateful, needs: []Feature{InterruptKeepsState}, proves: InterruptKeepsState, uses: variables,
			clause: "a program that does not resist is interrupted, and its context keeps the state",
			run:    stateAfterInterrupt,
		},
		{
			name: "StateAfterDeath", row: 7, scope: stateful, needs: []Feature{Processes}, uses: func(p *Programs) bool { return variables(p) && p.KillSelf != "" },
			clause: "a context whose process died keeps its id and starts empty on its next run, also for a run that was queued; StateLost tells, once",
			run: func(ctx context.Context, e *env) error {
				return stateAfterDeath(ctx, e)
			},
		},
	}
}

func stateAfterDeath(ctx context.Context, e *env) error {
	id, err := e.shared(ctx)
	if err == nil {
		err = e.do(ctx, id, e.p.Set("state", "v"))
	}
	if err != nil {
		return err
	}
	_, run, err := e.busyIn(ctx, id, lines(e.p.Pause(200*time.Millisecond), e.p.KillSelf))
	if err != nil {
		return err
	}
	// On a busy machine it may come too late to wait, and is the next run then.
	queued, err := e.runIn(ctx, id, e.p.Has("state"), nil)
	must(about("the run behind the one whose process died", errors.Join(wantOK(queued, err), run.wait(e.patience()))))
	must(wantStatus(run.res, run.err, codeinterp.StatusLost, codeinterp.ExitKilled))
	if run.res.StateLost && queued.StateLost {
		return errors.New("StateLost twice for one loss")
	}
	run.res.StateLost = run.res.StateLost || queued.StateLost
	must(wantText("the variable in the run behind it", queued.Stdout(), "no\n"))
	return e.wantReported(ctx, id, "state", run.res)
}

// stateReported defines a variable, makes a run that may lose it, and compares
// what StateLost said with what is left. It returns the run's Result.
func (e *env) stateReported(ctx context.Context, code string, timeout time.Duration) (codeinterp.Result, error) {
	id, err := e.shared(ctx)
	if err != nil {
		return codeinterp.Result{}, err
	}
	if err := e.do(ctx, id, e.p.Set("state", "v")); err != nil {
		return codeinterp.Result{}, err
	}
	first, err := e.runIn(ctx, id, code, &codeinterp.RunOptions{Timeout: timeout})
	if err != nil {
		return first, err
	}
	return first, e.wantReported(ctx, id, "state", first)
}

// wantReported wants the variable to be there, or exactly one of the run that
// ended and the next two to say StateLost.
func (e *env) wantReported(ctx context.Context, id codeinterp.ContextID, name string, first codeinterp.Result) error {
	next, err := e.runIn(ctx, id, e.p.Has(name), nil)
	must(about("the next run", wantOK(next, err)))
	third, err := e.runIn(ctx, id, e.p.Has(name), nil)
	must(about("the run after the next", wantOK(third, err)))
	reported := 0
	for _, res := range []codeinterp.Result{first, next, third} {
		if res.StateLost {
			reported++
		}
	}
	has := strings.TrimSpace(next.Stdout())
	switch {
	case third.StateLost || has != strings.TrimSpace(third.Stdout()):
		return errors.New("the state went, or StateLost came, without a run that could have lost it")
	case has == "yes" && reported > 0:
		return fmt.Errorf("StateLost, and the variable is still there (%s)", describe(first))
	case has != "yes" && reported == 0:
		return fmt.Errorf("the variable is gone, and no run said StateLost (%s)", describe(first))
	case reported > 1:
		return errors.New("StateLost twice for one loss")
	}
	return nil
}

func stateAfterInterrupt(ctx context.Context, e *env) error {
	id := need(e.shared(ctx))
	must(e.do(ctx, id, e.p.Set("kept", "v")))
	code := lines(e.p.Print("first"), e.p.Pause(time.Hour))
	res, err := e.runIn(ctx, id, code, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	must(wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout))
	if res.StateLost {
		return errors.New("StateLost after the timeout of a program that waits")
	}
	runCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	res, err = e.runIn(runCtx, id, code, &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { end(errStop); return nil }})
	must(wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled))
	if res.StateLost {
		return errors.New("StateLost after the cancellation of a program that waits")
	}
	out := need(e.stdoutIn(ctx, id, e.p.Get("kept")))
	return wantText("the variable", out, "v\n")
}
