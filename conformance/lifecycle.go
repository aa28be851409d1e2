package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func lifecycleChecks() []check {
	return []check{
		{
			name: "EndedCtxDeletes", row: 4, scope: stateful,
			clause: "DeleteContext deletes whatever its ctx does, as a defer relies on: the id is unknown at once, a run in progress ends, and the error is nil or ctx's cause",
			run: func(ctx context.Context, e *env) error {
				id, run, err := e.busy(ctx, e.p.Pause(time.Hour))
				if err != nil {
					return err
				}
				err = e.stateful().DeleteContext(e.done(ctx), id)
				must(about("DeleteContext with a ctx that has ended, under a run", errors.Join(nilOr(err, errStop), run.wait(2*e.patience()))))
				return e.noContext(ctx, id)
			},
		},
		{
			name: "EndedCtxRestarts", row: 4, scope: stateful, needs: []Feature{Manager}, uses: variables,
			clause: "RestartContext restarts whatever its ctx does: a run in progress ends, the state is empty, and the error is nil or ctx's cause",
			run:    endedCtxRestarts,
		},
		{
			name: "EndedCtxDoesNothing", row: 4, scope: stateful, needs: []Feature{Manager},
			clause: "ListContexts and InterruptContext with a ctx that has ended do nothing and return its cause",
			run:    endedCtxDoesNothing,
		},
		{
			name: "FaultsInOrder", row: 5, scope: stateful, own: true,
			clause: "if several things are wrong, the error is that of the input, then of a closed interpreter, then an ended ctx, then the context's id",
			run:    faultsInOrder,
		},
		{
			name: "InterruptStubborn", row: 6, scope: stateful, needs: []Feature{Manager}, uses: func(p *Programs) bool { return variables(p) && p.Stubborn != "" },
			clause: "a run that InterruptContext had to end by force is StatusError, 130, CauseInterrupt, with StateLost: StatusLost is for ends that were not requested",
			run: func(ctx context.Context, e *env) error {
				_, err := e.interrupted(ctx, e.p.Stubborn)
				return err
			},
		},
		{
			name: "ExitOfProcess", row: 7, scope: stateful, needs: []Feature{Processes}, uses: func(p *Programs) bool { return p.HardExit != nil },
			clause: "a process that ends by itself under a context is StatusLost, with StateLost, CauseExit and its exit code, or 137 where that is 0 or not known; in RunCode it is the program, and its exit code decides",
			run:    exitOfProcess,
		},
		{
			name: "ExecutionCountOfRuns", row: 10, scope: stateful, needs: []Feature{ExecutionCount, Manager}, proves: ExecutionCount,
			clause: "ExecutionCount counts the runs that began since the state was empty: those that failed too, not those that never ran, and from 1 again after a restart and a death of the process",
			run:    executionCountOfRuns,
		},
	}
}

// done returns a ctx that has ended by errStop.
func (e *env) done(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(errStop)
	return ctx
}

// nilOr wants no error, or one that is the given one.
func nilOr(err, is error) error {
	if err == nil {
		return nil
	}
	return wantOpError(err, is)
}

func endedCtxRestarts(ctx context.Context, e *env) error {
	id := need(e.shared(ctx))
	_, run, err := e.busyIn(ctx, id, lines(e.p.Set("gone", "v"), e.p.Pause(time.Hour)))
	if err != nil {
		return err
	}
	err = e.manager().RestartContext(e.done(ctx), id)
	must(about("RestartContext with a ctx that has ended, under a run", errors.Join(nilOr(err, errStop), run.wait(2*e.patience()))))
	out := need(e.stdoutIn(ctx, id, e.p.Has("gone")))
	return wantText("the variable after the restart", out, "no\n")
}

func endedCtxDoesNothing(ctx context.Context, e *env) error {
	id, run, err := e.busy(ctx, e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	_, err = e.manager().ListContexts(e.done(ctx))
	must(about("ListContexts", wantOpError(err, errStop)))
	must(about("InterruptContext", wantOpError(e.manager().InterruptContext(e.done(ctx), id), errStop)))
	time.Sleep(settle)
	select {
	case <-run.done:
		return fmt.Errorf("the run was ended by an InterruptContext whose ctx had ended: %s", describe(run.res))
	default:
	}
	must(about("DeleteContext", e.stateful().DeleteContext(ctx, id)))
	return run.wait(e.patience())
}

func faultsInOrder(ctx context.Context, e *env) error {
	const bad, unknown = "a\x00b", codeinterp.ContextID("no-such-context")
	st := e.stateful()
	tries := func(ctx context.Context, code string) error {
		_, err := st.RunInContext(ctx, unknown, code, nil)
		return err
	}
	wrong := func(when string, err, is error) error {
		if e := wantOpError(err, is); e != nil {
			return fmt.Errorf("%s: %w", when, e)
		}
		return nil
	}
	ended := e.done(ctx)
	_, language := st.RunCode(ended, "no such language", e.p.Print("ran"), nil)
	creates := func(ctx context.Context, language, cwd string) error {
		_, err := st.CreateContext(ctx, language, &codeinterp.ContextOptions{Cwd: cwd})
		return err
	}
	open := errors.Join(
		wrong("a malformed program, an ended ctx and an unknown id", tries(ended, bad), codeinterp.ErrInvalid),
		wrong("an unknown language and an ended ctx", language, codeinterp.ErrLanguage),
		wrong("CreateContext in an unknown language, with an ended ctx", creates(ended, "no such language", ""), codeinterp.ErrLanguage),
		wrong("CreateContext with malformed options and an ended ctx", creates(ended, e.language, bad), codeinterp.ErrInvalid),
		wrong("an ended ctx and an unknown id", tries(ended, e.p.Print("ran")), errStop),
		wrong("an unknown id", tries(ctx, e.p.Print("ran")), codeinterp.ErrContext))
	must(st.Close())
	return errors.Join(open,
		wrong("a malformed program of a closed interpreter", tries(ended, bad), codeinterp.ErrInvalid),
		wrong("CreateContext with malformed options, of a closed interpreter", creates(ended, e.language, bad), codeinterp.ErrInvalid),
		wrong("DeleteContext with an unknown id, of a closed interpreter", st.DeleteContext(ctx, unknown), codeinterp.ErrClosed),
		wrong("a closed interpreter, an ended ctx and an unknown id", tries(ended, e.p.Print("ran")), codeinterp.ErrClosed))
}

func exitOfProcess(ctx context.Context, e *env) error {
	for _, code := range []int{7, 0} {
		res := need(e.stateReportedIn(ctx, lines(e.p.Print("x"), e.p.HardExit(code))))
		exit := code
		if code == 0 || res.ExitCode == codeinterp.ExitKilled { // not every runtime tells it
			exit = codeinterp.ExitKilled
		}
		if err := wantStatus(res, nil, codeinterp.StatusLost, exit); err != nil {
			return fmt.Errorf("a context's process exits with %d: %w", code, err)
		}
		if res.Cause != codeinterp.CauseExit || !res.StateLost {
			return fmt.Errorf("a context's process exits with %d: %s, want cause %q and the state lost", code, describe(res), codeinterp.CauseExit)
		}
		status := codeinterp.StatusError
		if code == 0 {
			status = codeinterp.StatusOK
		}
		res, err := e.runCode(ctx, lines(e.p.Print("x"), e.p.HardExit(code)), nil)
		if err == nil && res.Status == codeinterp.StatusLost && res.Cause == codeinterp.CauseExit && res.ExitCode == codeinterp.ExitKilled {
			continue // a runtime that does not tell the code
		}
		if err := wantStatus(res, err, status, code); err != nil {
			return fmt.Errorf("RunCode of a program that exits with %d: %w", code, err)
		}
	}
	return nil
}

// stateReportedIn is stateReported where the language may have no variables.
func (e *env) stateReportedIn(ctx context.Context, code string) (codeinterp.Result, error) {
	if variables(e.p) {
		return e.stateReported(ctx, code, 0)
	}
	id, err := e.shared(ctx)
	if err != nil {
		return codeinterp.Result{}, err
	}
	return e.runIn(ctx, id, code, nil)
}

func executionCountOfRuns(ctx context.Context, e *env) error {
	id := need(e.context(ctx, nil))
	counts := func(when string, want int) error {
		res, err := e.runIn(ctx, id, e.p.Print("x"), nil)
		must(wantOK(res, err))
		if res.ExecutionCount != want {
			return fmt.Errorf("ExecutionCount %d %s, want %d", res.ExecutionCount, when, want)
		}
		return nil
	}
	must(counts("in the first run", 1))
	_, _ = e.runIn(e.done(ctx), id, e.p.Print("x"), nil)
	_, _ = e.runIn(ctx, id, "a\x00b", nil)
	must(counts("after a run and two that never ran", 2))
	if e.p.Fail != nil {
		_, _ = e.runIn(ctx, id, e.p.Fail("counted"), nil)
		must(counts("after two runs and one that failed", 4))
	}
	return e.anew(ctx, id, func() error { return counts("in the first run of a new state", 1) })
}
