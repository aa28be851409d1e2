package conformance

import (
	"errors"
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
		{
			name: "PauseStops", scope: stateful, own: true,
			clause: "Info.Pause is set exactly where there is a Pauser; from Pause to Resume programs do not go on and their timeouts stand still, what is to run is ErrPaused, and a context can be deleted",
			run:    pauseStops,
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

func pauseStops(e *env) {
	p, ok := codeinterp.Pauses(e.ci)
	if described := codeinterp.Describe(e.ci).Pause != ""; ok != described {
		failf("there is a Pauser: %v, and Info.Pause is %q", ok, codeinterp.Describe(e.ci).Pause)
	}
	if !ok {
		return
	}
	for short := 300 * time.Millisecond; !e.pausedAfter(p, short); short *= 2 {
		if short > time.Minute {
			failf("programs of %v end before a pause begins", short)
		}
	}
}

// pausedAfter pauses a program that takes a while, and one that has as long until its
// timeout. It returns false where one of them ended before the pause, on a busy machine.
func (e *env) pausedAfter(p codeinterp.Pauser, short time.Duration) bool {
	id, other, timeout := e.context(nil), e.context(nil), e.timeout(short)
	doomed, lost := e.busy(e.p.Pause(time.Hour))
	timed := e.startWith(other, lines(e.p.Print("busy"), e.p.Pause(time.Hour)), codeinterp.RunOptions{Timeout: timeout})
	run := e.start(id, lines(e.p.Print("busy"), e.p.Pause(short), e.p.Print("after")))
	run.running()
	select {
	case <-timed.started:
	case <-timed.done:
	}
	must(p.Pause(e.ctx))
	early := run.ended() || timed.ended()
	if _, err := e.runIn(id, e.p.Print("x"), nil); !errors.Is(err, codeinterp.ErrPaused) {
		failf("a run in a pause is %v, want ErrPaused", err)
	}
	must(e.stateful().DeleteContext(e.ctx, doomed))
	lost.wait(e.patience())
	time.Sleep(timeout + settle)
	if !early && (run.ended() || timed.ended()) {
		failf("a program went on in a pause, or its timeout passed: %v, %v", run.ended(), timed.ended())
	}
	must(p.Resume(e.ctx))
	run.wait(e.patience() + short)
	wantOK(run.res, run.err)
	wantText("what a program prints after a pause", run.res.Stdout(), "busyafter")
	timed.wait(e.patience() + timeout)
	wantStatus(timed.res, timed.err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	return !early
}
