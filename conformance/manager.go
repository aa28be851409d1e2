package conformance

import (
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func managerChecks() []check {
	return []check{
		{
			name: "ListContexts", scope: stateful, own: true, needs: []Feature{Manager},
			clause: "ListContexts returns the live contexts, oldest first, also where one was restarted, with their language",
			run:    listContexts,
		},
		{
			name: "RestartDuring", row: 1, scope: stateful, needs: []Feature{Manager}, uses: variables,
			clause: "RestartContext ends the run in progress as StatusLost, 137, CauseRestart, StateLost, with a nil error; queued runs go on in the empty state and report no loss",
			run:    restartDuring,
		},
		{
			name: "InterruptDuring", row: 6, scope: stateful, needs: []Feature{Manager},
			clause: "InterruptContext ends the run in progress as StatusError, 130, CauseInterrupt, with its output so far, and its context keeps the state; where that had to be by force, StateLost; Error never says anything of the provider's own machinery",
			run: func(e *env) {
				run := e.interrupted(e.p.Pause(time.Hour))
				run.wantCause(codeinterp.CauseInterrupt)
				e.ownError(run.res, 100)
				if run.res.StateLost {
					failf("StateLost after the interrupt of a program that waits")
				}
				if e.p.Stubborn != "" {
					e.interrupted(e.p.Stubborn)
				}
			},
		},
		{
			name: "InterruptEarly", row: 3, scope: stateful, needs: []Feature{Manager},
			clause: "an interrupt that comes before the program has begun is kept until it does",
			run:    interruptEarly,
		},
	}
}

func listContexts(e *env) {
	var ids []codeinterp.ContextID
	for range 3 {
		ids = append(ids, e.context(nil))
		// So that the times of their creation differ, also by a coarse clock.
		time.Sleep(5 * time.Millisecond)
	}
	e.wantList(ids)
	must(e.stateful().DeleteContext(e.ctx, ids[1]))
	must(e.manager().RestartContext(e.ctx, ids[0]))
	e.wantList([]codeinterp.ContextID{ids[0], ids[2]})
}

// wantList wants ListContexts to return idle contexts with the given ids.
func (e *env) wantList(ids []codeinterp.ContextID) {
	list := need(e.manager().ListContexts(e.ctx))
	if len(list) != len(ids) {
		failf("%d contexts listed, want %d", len(list), len(ids))
	}
	for i, info := range list {
		if info.ID != ids[i] || info.Language != e.language || info.Busy || info.Queued != 0 || info.Created.IsZero() || info.LastUsed.Before(info.Created) {
			failf("context %d is %+v, want the idle context %q in %s", i, info, ids[i], e.language)
		}
	}
}

func restartDuring(e *env) {
	id, run := e.busy(lines(e.p.Set("gone", "v"), e.p.Pause(time.Hour)))
	queued := e.start(id, e.p.Has("gone"))
	time.Sleep(settle)
	must(e.manager().RestartContext(e.ctx, id))
	run.wait(2 * e.patience())
	queued.wait(2 * e.patience())
	run.wantLost(nil, codeinterp.CauseRestart)
	wantOK(queued.res, queued.err)
	wantText("the variable in the queued run", queued.res.Stdout(), "no\n")
	if queued.res.StateLost || e.okIn(id, e.p.Print("x"), nil).StateLost {
		failf("a later run says StateLost after a restart that the caller asked for")
	}
}

// interrupted interrupts a run that printed "busy" and goes on with code.
func (e *env) interrupted(code string) *pending {
	id := e.shared()
	e.setState(id)
	run := e.busyIn(id, code)
	must(e.manager().InterruptContext(e.ctx, id))
	run.wait(e.patience())
	wantInterrupted(run.res, run.err)
	e.wantReported(id, run.res)
	return run
}

// wantInterrupted wants a run that InterruptContext ended.
func wantInterrupted(res codeinterp.Result, err error) {
	wantStatus(res, err, codeinterp.StatusError, codeinterp.ExitCanceled)
	wantText("the cause", string(res.Cause), string(codeinterp.CauseInterrupt))
}

// interruptEarly interrupts a run as soon as it is said to be in progress.
func interruptEarly(e *env) {
	id := e.context(nil)
	run := e.start(id, e.p.Pause(time.Hour))
	for busy := false; !busy; time.Sleep(time.Millisecond) {
		for _, info := range need(e.manager().ListContexts(e.ctx)) {
			busy = busy || info.ID == id && info.Busy
		}
	}
	must(e.manager().InterruptContext(e.ctx, id))
	run.wait(2 * e.patience())
	wantInterrupted(run.res, run.err)
}
