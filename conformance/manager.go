package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func managerChecks() []check {
	list := []check{
		{
			name: "ListContexts", own: true,
			clause: "ListContexts returns the live contexts, oldest first, also where one was restarted, with their language",
			run:    listContexts,
		},
		{
			name: "RestartDuring", row: 1, uses: variables,
			clause: "RestartContext ends the run in progress as StatusLost, 137, CauseRestart, StateLost, with a nil error; queued runs go on in the empty state and tell no loss",
			run:    restartDuring,
		},
		{
			name: "InterruptDuring", row: 6, uses: variables,
			clause: "InterruptContext ends the run in progress as StatusError, 130, CauseInterrupt, with its output so far, and its context keeps the state; Error never tells of the provider's own machinery",
			run: func(ctx context.Context, e *env) error {
				res := need(e.interrupted(ctx, e.p.Pause(time.Hour)))
				if res.StateLost && !e.s.cfg.lacks(InterruptKeepsState, e.language) {
					return errors.New("StateLost after the interrupt of a program that waits")
				}
				if strings.Contains(whole(res.Error), "SIGINT") {
					return fmt.Errorf("Error %s, want none, or where the program was", quote(whole(res.Error)))
				}
				if run := (pending{res: res}); !run.warned() {
					return fmt.Errorf("%s, want stdout \"busy\" and stderr \"warned\"", describe(res))
				}
				return nil
			},
		},
	}
	for i := range list {
		list[i].scope = stateful
		list[i].needs = append(list[i].needs, Manager)
	}
	return list
}

func listContexts(ctx context.Context, e *env) error {
	var ids []codeinterp.ContextID
	for range 3 {
		id := need(e.context(ctx, nil))
		ids = append(ids, id)
		// So that the times of their creation differ, also by a coarse clock.
		time.Sleep(5 * time.Millisecond)
	}
	must(e.do(ctx, ids[0], e.p.Print("x")))
	must(e.wantList(ctx, ids))
	must(errors.Join(e.stateful().DeleteContext(ctx, ids[1]), e.manager().RestartContext(ctx, ids[0])))
	return e.wantList(ctx, []codeinterp.ContextID{ids[0], ids[2]})
}

// wantList wants ListContexts to return idle contexts with the given ids.
func (e *env) wantList(ctx context.Context, ids []codeinterp.ContextID) error {
	list, err := e.manager().ListContexts(ctx)
	if err != nil {
		return fmt.Errorf("ListContexts: %w", err)
	}
	if len(list) != len(ids) {
		return fmt.Errorf("%d contexts listed, want %d", len(list), len(ids))
	}
	for i, info := range list {
		if info.ID != ids[i] {
			return fmt.Errorf("context %d is %q, want %q", i, info.ID, ids[i])
		}
		if info.Language != e.language || info.Busy || info.Queued != 0 {
			return fmt.Errorf("%+v, want an idle context in %s", info, e.language)
		}
		if info.Created.IsZero() || info.LastUsed.Before(info.Created) {
			return fmt.Errorf("created %v, last used %v", info.Created, info.LastUsed)
		}
	}
	return nil
}

func restartDuring(ctx context.Context, e *env) error {
	id, run, err := e.busyWarning(ctx, lines(e.p.Set("gone", "v"), e.p.Pause(time.Hour)))
	if err != nil {
		return err
	}
	queued := e.start(ctx, id, e.p.Has("gone"), nil)
	time.Sleep(settle)
	must(about("RestartContext", e.manager().RestartContext(ctx, id)))
	for _, p := range []*pending{run, queued} {
		must(p.wait(2 * e.patience()))
	}
	must(wantStatus(run.res, run.err, codeinterp.StatusLost, codeinterp.ExitKilled))
	if run.res.Cause != codeinterp.CauseRestart || !run.warned() || !run.res.StateLost {
		return fmt.Errorf("%s, want cause %q, the state lost, stdout \"busy\" and stderr \"warned\"", describe(run.res), codeinterp.CauseRestart)
	}
	must(about("the queued run", wantOK(queued.res, queued.err)))
	if queued.res.StateLost {
		return errors.New("the queued run says StateLost after a restart that the caller asked for")
	}
	must(wantText("the variable in the queued run", queued.res.Stdout(), "no\n"))
	for range 2 {
		res, err := e.runIn(ctx, id, e.p.Print("x"), nil)
		must(wantOK(res, err))
		if res.StateLost {
			return errors.New("a later run says StateLost again")
		}
	}
	return nil
}

// interrupted interrupts a run that printed "busy" and goes on with code.
func (e *env) interrupted(ctx context.Context, code string) (codeinterp.Result, error) {
	id, err := e.shared(ctx)
	if err != nil {
		return codeinterp.Result{}, err
	}
	if err := e.do(ctx, id, e.p.Set("state", "v")); err != nil {
		return codeinterp.Result{}, err
	}
	run := e.start(ctx, id, lines(e.p.PrintErr("warned"), e.p.Print("busy"), code), nil)
	if err := run.running(ctx); err != nil {
		return codeinterp.Result{}, err
	}
	if err := e.manager().InterruptContext(ctx, id); err != nil {
		return codeinterp.Result{}, fmt.Errorf("InterruptContext: %w", err)
	}
	if err := run.wait(e.patience()); err != nil {
		return codeinterp.Result{}, err
	}
	if run.err != nil {
		return run.res, fmt.Errorf("error %w, want none", run.err)
	}
	if err := want(run.res, codeinterp.StatusError, 130); err != nil {
		return run.res, err
	}
	if run.res.Cause != codeinterp.CauseInterrupt {
		return run.res, fmt.Errorf("cause %q, want %q", run.res.Cause, codeinterp.CauseInterrupt)
	}
	return run.res, e.wantReported(ctx, id, "state", run.res)
}
