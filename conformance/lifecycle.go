package conformance

import (
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func lifecycleChecks() []check {
	return []check{
		{
			name: "EndedCtxDeletes", row: 4, scope: stateful,
			clause: "DeleteContext deletes whatever its ctx does, as a defer relies on: the id is unknown at once, a run in progress ends, and the error is nil or ctx's cause",
			run: func(e *env) {
				id, run := e.busy(e.p.Pause(time.Hour))
				nilOr(e.stateful().DeleteContext(e.ended().ctx, id), errStop)
				run.wait(2 * e.patience())
				e.noContext(id)
			},
		},
		{
			name: "EndedCtxRestarts", row: 4, scope: stateful, needs: []Feature{Manager}, uses: variables,
			clause: "RestartContext restarts whatever its ctx does: a run in progress ends, the state is empty, and the error is nil or ctx's cause",
			run: func(e *env) {
				id := e.shared()
				run := e.busyIn(id, lines(e.p.Set("gone", "v"), e.p.Pause(time.Hour)))
				nilOr(e.manager().RestartContext(e.ended().ctx, id), errStop)
				run.wait(2 * e.patience())
				e.printsIn(id, "the variable after the restart", e.p.Has("gone"), "no\n")
			},
		},
		{
			name: "EndedCtxDoesNothing", row: 4, scope: stateful, needs: []Feature{Manager},
			clause: "ListContexts and InterruptContext with a ctx that has ended do nothing and return its cause",
			run: func(e *env) {
				id, run := e.busy(e.p.Pause(time.Hour))
				_, err := e.manager().ListContexts(e.ended().ctx)
				wantOpError(err, errStop)
				wantOpError(e.manager().InterruptContext(e.ended().ctx, id), errStop)
				time.Sleep(settle)
				select {
				case <-run.done:
					failf("the run was ended by an InterruptContext whose ctx had ended: %s", describe(run.res))
				default:
				}
			},
		},
		{
			name: "FaultsInOrder", row: 5, scope: stateful, own: true,
			clause: "if several things are wrong, the error is that of the input, then of a closed interpreter, then an ended ctx, then the context's id",
			run:    faultsInOrder,
		},
		{
			name: "ExecutionCountOfRuns", row: 10, scope: stateful, needs: []Feature{Manager},
			clause: "ExecutionCount counts the runs that began since the state was empty: those that failed too, not those that never ran, and from 1 again after a restart and a death of the process",
			run:    executionCountOfRuns,
		},
		{
			name: "DeletedDuring", row: 2, scope: stateful,
			clause: "DeleteContext ends the run in progress: StatusLost, 137, CauseClosed, StateLost, with an error that is ErrContext and the output so far",
			run: func(e *env) {
				id, run := e.busy(e.p.Pause(time.Hour))
				must(e.stateful().DeleteContext(e.ctx, id))
				run.wait(e.patience())
				run.wantLost(codeinterp.ErrContext, codeinterp.CauseClosed)
				e.noContext(id)
			},
		},
		{
			name: "ClosedCalls", row: 2, own: true,
			clause: "calls after Close return ErrClosed, and nothing is run",
			run:    closedCalls,
		},
		{
			name: "CloseDuringContext", row: 2, scope: stateful, own: true,
			clause: "Close ends the runs of contexts: those in progress as StatusLost with StateLost, queued ones as StatusNotRun, both with ErrClosed",
			run: func(e *env) {
				id, run := e.busy(e.p.Pause(time.Hour))
				queued := e.start(id, e.p.Print("ran"))
				time.Sleep(settle)
				must(within(2*e.patience(), "Close", e.ci.Close))
				run.wait(e.patience())
				run.wantLost(codeinterp.ErrClosed, codeinterp.CauseClosed)
				queued.wait(e.patience())
				wantNotRun(queued.res, queued.err, codeinterp.ErrClosed)
			},
		},
	}
}

func closedCalls(e *env) {
	id := codeinterp.ContextID("")
	st, ok := codeinterp.Stateful(e.ci)
	if ok {
		id = e.context(nil)
	}
	must(e.ci.Close())
	for _, where := range []codeinterp.ContextID{"", id} {
		res, err := e.runIn(where, e.p.Print("ran"), nil)
		wantNotRun(res, err, codeinterp.ErrClosed)
	}
	if !ok {
		return
	}
	wantOpError(st.DeleteContext(e.ctx, id), codeinterp.ErrClosed)
	created, err := st.CreateContext(e.ctx, e.language, nil)
	wantContextError(created, err, codeinterp.ErrClosed)
	if m, ok := codeinterp.Manager(e.ci); ok {
		wantOpError(m.RestartContext(e.ctx, id), codeinterp.ErrClosed)
		wantOpError(m.InterruptContext(e.ctx, id), codeinterp.ErrClosed)
		_, err := m.ListContexts(e.ctx)
		wantOpError(err, codeinterp.ErrClosed)
	}
}

func faultsInOrder(e *env) {
	const bad, unknown = "a\x00b", codeinterp.ContextID("no-such-context")
	st, ended := e.stateful(), e.ended()
	runs := func(what string, e *env, code string, is error) {
		_, err := st.RunInContext(e.ctx, unknown, code, nil)
		about(what, func() { wantOpError(err, is) })
	}
	creates := func(what, language, cwd string, is error) {
		_, err := st.CreateContext(ended.ctx, language, &codeinterp.ContextOptions{Cwd: cwd})
		about("CreateContext "+what, func() { wantOpError(err, is) })
	}
	runs("a malformed program, an ended ctx and an unknown id", ended, bad, codeinterp.ErrInvalid)
	creates("in an unknown language, with an ended ctx", "no such language", "", codeinterp.ErrLanguage)
	creates("with malformed options and an ended ctx", e.language, bad, codeinterp.ErrInvalid)
	runs("an ended ctx and an unknown id", ended, e.p.Print("ran"), errStop)
	runs("an unknown id", e, e.p.Print("ran"), codeinterp.ErrContext)
	must(st.Close())
	runs("a malformed program of a closed interpreter", ended, bad, codeinterp.ErrInvalid)
	creates("with malformed options, of a closed interpreter", e.language, bad, codeinterp.ErrInvalid)
	wantOpError(st.DeleteContext(e.ctx, unknown), codeinterp.ErrClosed)
	runs("a closed interpreter, an ended ctx and an unknown id", ended, e.p.Print("ran"), codeinterp.ErrClosed)
}

func executionCountOfRuns(e *env) {
	id := e.context(nil)
	counts := func(when string, want int) {
		if got := e.okIn(id, e.p.Print("x"), nil).ExecutionCount; got != want {
			failf("ExecutionCount %d %s, want %d", got, when, want)
		}
	}
	counts("in the first run", 1)
	_, _ = e.ended().runIn(id, e.p.Print("x"), nil)
	_, _ = e.runIn(id, "a\x00b", nil)
	counts("after a run and two that never ran", 2)
	if e.p.Fail != nil {
		_, _ = e.runIn(id, e.p.Fail("counted"), nil)
		counts("after two runs and one that failed", 4)
	}
	e.anew(id, func() { counts("in the first run of a new state", 1) })
}
