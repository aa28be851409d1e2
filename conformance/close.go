package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func closeChecks() []check {
	list := []check{
		{
			name: "ClosedCalls", row: 2,
			clause: "calls after Close return ErrClosed, and nothing is run",
			run:    closedCalls,
		},
		{
			name: "CloseDuringContext", row: 2, scope: stateful,
			clause: "Close ends the runs of contexts: those in progress as StatusLost with StateLost, queued ones as StatusNotRun, both with ErrClosed",
			run:    closeDuringContext,
		},
	}
	for i := range list {
		list[i].own = list[i].name != "CloseAnytime" // which makes interpreters itself
	}
	return list
}

func closedCalls(ctx context.Context, e *env) error {
	var id codeinterp.ContextID
	st, ok := codeinterp.Stateful(e.ci)
	if ok {
		var err error
		if id, err = st.CreateContext(ctx, e.language, nil); err != nil {
			return fmt.Errorf("CreateContext: %w", err)
		}
	}
	must(e.ci.Close())
	res, err := e.runCode(ctx, e.p.Print("ran"), nil)
	must(about("RunCode", wantNotRun(res, err, codeinterp.ErrClosed)))
	if !ok {
		return nil
	}
	res, err = e.runIn(ctx, id, e.p.Print("ran"), nil)
	must(about("RunInContext", wantNotRun(res, err, codeinterp.ErrClosed)))
	must(about("DeleteContext", wantOpError(st.DeleteContext(ctx, id), codeinterp.ErrClosed)))
	created, err := st.CreateContext(ctx, e.language, nil)
	must(about("CreateContext", wantContextError(created, err, codeinterp.ErrClosed)))
	if c, ok := codeinterp.Completions(e.ci); ok {
		if _, err := c.Complete(ctx, id, "", 0); !errors.Is(err, codeinterp.ErrClosed) {
			return fmt.Errorf("Complete: error %v, want ErrClosed", err)
		}
	}
	return e.closedManager(ctx, id)
}

func (e *env) closedManager(ctx context.Context, id codeinterp.ContextID) error {
	m, ok := codeinterp.Manager(e.ci)
	if !ok {
		return nil
	}
	must(about("RestartContext", wantOpError(m.RestartContext(ctx, id), codeinterp.ErrClosed)))
	must(about("InterruptContext", wantOpError(m.InterruptContext(ctx, id), codeinterp.ErrClosed)))
	_, err := m.ListContexts(ctx)
	must(about("ListContexts", wantOpError(err, codeinterp.ErrClosed)))
	return nil
}

// closeDuring closes the interpreter under a run.
func (e *env) closeDuring(ctx context.Context, id codeinterp.ContextID, queued ...*pending) error {
	run := e.start(ctx, id, lines(e.p.PrintErr("warned"), e.p.Print("busy"), e.p.Pause(time.Hour)), nil)
	must(run.running(ctx))
	if id != "" {
		queued = append(queued, e.start(ctx, id, e.p.Print("ran"), nil), e.start(ctx, id, e.p.Print("ran"), nil))
		// Nothing shows that a run has got into the queue.
		time.Sleep(settle)
	}
	must(within(2*e.patience(), "Close", e.ci.Close))
	must(run.wait(e.patience()))
	must(wantErr(run.res, run.err, codeinterp.ErrClosed, codeinterp.StatusLost, codeinterp.ExitKilled))
	if run.res.Cause != codeinterp.CauseClosed || !run.warned() {
		return fmt.Errorf("%s, want cause %q, stdout \"busy\" and stderr \"warned\"", describe(run.res), codeinterp.CauseClosed)
	}
	if lost := id != ""; run.res.StateLost != lost {
		return fmt.Errorf("%s, want StateLost %v", describe(run.res), lost)
	}
	for _, q := range queued {
		must(about("a queued run", q.wait(e.patience())))
		must(about("a queued run", wantNotRun(q.res, q.err, codeinterp.ErrClosed)))
	}
	return nil
}

func closeDuringContext(ctx context.Context, e *env) error {
	id := need(e.context(ctx, nil))
	return e.closeDuring(ctx, id)
}
