package conformance

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func contextChecks() []check {
	return []check{
		{
			name: "StateKept", row: 6, scope: stateful, uses: variables,
			clause: "a run in a context sees what earlier runs defined, however many came between, and also if those failed",
			run:    stateKept,
		},
		{
			name: "ContextsApart", row: 15, scope: stateful, uses: variables,
			clause: "what a context's runs define is seen by no other context, also by none that comes after it, nor by RunCode; and what RunCode defines by no context",
			run: func(e *env) {
				a, b := e.context(nil), e.context(nil)
				e.okIn(a, e.p.Set("apart", "a"), nil)
				e.printsIn(b, "the variable in another context", e.p.Has("apart"), "no\n")
				e.printsIn("", "the variable in RunCode", lines(e.p.Has("apart"), e.p.Set("apart", "run")), "no\n")
				// A runtime that is used again is to be empty.
				must(e.stateful().DeleteContext(e.ctx, a))
				e.printsIn(e.context(nil), "the variable in a context after one that was deleted, and after a RunCode", e.p.Has("apart"), "no\n")
			},
		},
		{
			name: "ContextsParallel", row: 9, scope: stateful,
			clause: "different contexts run in parallel",
			run: func(e *env) {
				both, stop := e.stoppable()
				defer stop()
				// Either has printed, and goes on.
				for range 2 {
					limited, cancel := context.WithTimeout(e.ctx, 4*e.patience())
					defer cancel()
					run := both.start(e.context(nil), lines(e.p.Print("here"), e.p.Pause(time.Hour)))
					run.e = e.with(limited)
					run.running()
				}
			},
		},
		{
			name: "ContextIDs", scope: stateful,
			clause: "a ContextID is unique and carries at least 128 random bits",
			run: func(e *env) {
				a, b := e.context(nil), e.context(nil)
				same := 0
				for i := range min(len(a), len(b)) {
					if a[i] == b[i] {
						same++
					}
				}
				// Two ids of 128 random bits differ in 12 characters or more, but for one
				// pair in billions.
				if len(a) < 22 || max(len(a), len(b))-same < 12 {
					failf("the ids of two contexts are %q and %q", a, b)
				}
			},
		},
		{
			name: "ForeignContext", row: 15, scope: stateful, own: true,
			clause: "a context's id means nothing to any other interpreter value",
			run: func(e *env) {
				id, other := e.shared(), need(e.s.cfg.New())
				defer other.Close()
				foreign := e.with(e.ctx)
				foreign.ci, foreign.made = other, new([]codeinterp.ContextID)
				// With a context of its own, whose id is to be another: ids that
				// every interpreter draws alike mean something to all.
				foreign.context(nil)
				foreign.noContext(id)
				must(other.Close())
				e.okIn(id, e.p.Print("x"), nil)
			},
		},
	}
}

func stateKept(e *env) {
	id := e.shared()
	e.okIn(id, e.p.Set("kept", "a value é"), nil)
	failing := []string{e.p.SyntaxError}
	if e.p.Fail != nil {
		failing = append(failing, e.p.Fail("x"))
	}
	for i := range 40 {
		code := failing[i%len(failing)]
		if i < 4 && code != "" {
			res, err := e.runIn(id, code, nil)
			if err != nil || res.Status != codeinterp.StatusError || res.StateLost {
				failf("running %s: %s, error %v; want %q with the state kept", quote(code), describe(res), err, codeinterp.StatusError)
			}
		}
		e.printsIn(id, "the variable", e.p.Get("kept"), "a value é\n")
	}
}

// noContext wants every method to say that there is no such context.
func (e *env) noContext(id codeinterp.ContextID) {
	res, err := e.runIn(id, e.p.Print("ran"), nil)
	wantNotRun(res, err, codeinterp.ErrContext)
	wantOpError(e.stateful().DeleteContext(e.ctx, id), codeinterp.ErrContext)
	if m, ok := codeinterp.Manager(e.ci); ok {
		wantOpError(m.RestartContext(e.ctx, id), codeinterp.ErrContext)
		wantOpError(m.InterruptContext(e.ctx, id), codeinterp.ErrContext)
	}
}

func stateLostChecks() []check {
	return []check{
		{
			name: "StateAfterInterrupt", row: 6, scope: stateful, uses: variables,
			clause: "a program that does not resist is interrupted, and its context keeps the state",
			run:    stateAfterInterrupt,
		},
		{
			name: "StateAfterDeath", row: 7, scope: stateful, needs: []Feature{Processes}, uses: func(p *Programs) bool { return variables(p) && p.KillSelf != "" },
			clause: "a context whose process died keeps its id and starts empty on its next run, also for a run that was queued; StateLost says so, once",
			run:    stateAfterDeath,
		},
		{
			name: "ExitOfProcess", row: 7, scope: stateful, needs: []Feature{Processes}, uses: func(p *Programs) bool { return p.HardExit != nil },
			clause: "a process that ends by itself under a context is StatusLost, with StateLost, CauseExit and its exit code, or 137 where that is 0 or not known; in RunCode it is the program, and its exit code decides",
			run:    exitOfProcess,
		},
	}
}

func stateAfterInterrupt(e *env) {
	id := e.shared()
	e.okIn(id, e.p.Set("kept", "v"), nil)
	code := lines(e.p.Print("first"), e.p.Pause(time.Hour))
	timed, err := e.runIn(id, code, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	wantStatus(timed, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	run, stop := e.stoppable()
	canceled, err := run.runIn(id, code, &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { stop(); return nil }})
	wantErr(canceled, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
	if timed.StateLost || canceled.StateLost {
		failf("StateLost after a timeout: %v, after a cancellation: %v, of a program that waits", timed.StateLost, canceled.StateLost)
	}
	e.printsIn(id, "the variable", e.p.Get("kept"), "v\n")
}

func stateAfterDeath(e *env) {
	id := e.shared()
	e.setState(id)
	run := e.busyIn(id, lines(e.p.Pause(200*time.Millisecond), e.p.KillSelf))
	// On a busy machine it may come too late to wait, and is the next run then.
	queued := e.okIn(id, e.p.Has("state"), nil)
	run.wait(e.patience())
	wantStatus(run.res, run.err, codeinterp.StatusLost, codeinterp.ExitKilled)
	wantText("the variable in the run behind it", queued.Stdout(), "no\n")
	e.wantReported(id, run.res, queued)
}

// setState defines a variable, if the language has any, for wantReported.
func (e *env) setState(id codeinterp.ContextID) {
	if variables(e.p) {
		e.okIn(id, e.p.Set("state", "v"), nil)
	}
}

// wantReported wants the variable to be there, or exactly one of the runs that
// ended and the next one to say StateLost.
func (e *env) wantReported(id codeinterp.ContextID, ended ...codeinterp.Result) {
	if !variables(e.p) {
		return
	}
	next := e.okIn(id, e.p.Has("state"), nil)
	later := e.okIn(id, e.p.Has("state"), nil)
	reported := 0
	for _, res := range append(ended, next) {
		if res.StateLost {
			reported++
		}
	}
	lost := 0
	if next.Stdout() != "yes\n" {
		lost = 1
	}
	if reported != lost || later.StateLost || later.Stdout() != next.Stdout() {
		failf("%d runs said StateLost, and the variable is there: %s; then: %s", reported, quote(next.Stdout()), describe(later))
	}
}

func exitOfProcess(e *env) {
	for _, code := range []int{7, 0} {
		id, program := e.shared(), lines(e.p.Print("x"), e.p.HardExit(code))
		e.setState(id)
		res, err := e.runIn(id, program, nil)
		exit := code
		if code == 0 || res.ExitCode == codeinterp.ExitKilled { // not every runtime says it
			exit = codeinterp.ExitKilled
		}
		wantStatus(res, err, codeinterp.StatusLost, exit)
		if res.Cause != codeinterp.CauseExit || !res.StateLost {
			failf("a context's process exits with %d: %s, want cause %q and the state lost", code, describe(res), codeinterp.CauseExit)
		}
		e.wantReported(id, res)
		status := codeinterp.StatusError
		if code == 0 {
			status = codeinterp.StatusOK
		}
		res, err = e.runIn("", program, nil)
		if err == nil && res.Status == codeinterp.StatusLost && res.Cause == codeinterp.CauseExit && res.ExitCode == codeinterp.ExitKilled {
			continue // a runtime that does not say the code
		}
		wantStatus(res, err, status, code)
	}
}
