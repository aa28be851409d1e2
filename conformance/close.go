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
	if err := e.ci.Close(); err != nil {
		return err
	}
	res, err := e.runCode(ctx, e.p.Print("ran"), nil)
	if err := wantNotRun(res, err, codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("RunCode: %w", err)
	}
	if !ok {
		return nil
	}
	res, err = e.runIn(ctx, id, e.p.Print("ran"), nil)
	if err := wantNotRun(res, err, codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("RunInContext: %w", err)
	}
	if err := wantOpError(st.DeleteContext(ctx, id), codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("DeleteContext: %w", err)
	}
	created, err := st.CreateContext(ctx, e.language, nil)
	if err := wantContextError(created, err, codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("CreateContext: %w", err)
	}
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
	if err := wantOpError(m.RestartContext(ctx, id), codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("RestartContext: %w", err)
	}
	if err := wantOpError(m.InterruptContext(ctx, id), codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("InterruptContext: %w", err)
	}
	_, err := m.ListContexts(ctx)
	if err := wantOpError(err, codeinterp.ErrClosed); err != nil {
		return fmt.Errorf("ListContexts: %w", err)
	}
	return nil
}

// closeDuring closes the interpreter under a run.
func (e *env) closeDuring(ctx context.Context, id codeinterp.ContextID, queued ...*pending) error {
	run := e.start(ctx, id, lines(e.p.PrintErr("warned"), e.p.Print("busy"), e.p.Pause(time.Hour)), nil)
	if err := run.running(ctx); err != nil {
		return err
	}
	if id != "" {
		queued = append(queued, e.start(ctx, id, e.p.Print("ran"), nil), e.start(ctx, id, e.p.Print("ran"), nil))
		// Nothing shows that a run has got into the queue.
		time.Sleep(settle)
	}
	if err := within(2*e.patience(), "Close", e.ci.Close); err != nil {
		return err
	}
	if err := run.wait(e.patience()); err != nil {
		return err
	}
	if err := wantErr(run.res, run.err, codeinterp.ErrClosed, codeinterp.StatusLost, codeinterp.ExitKilled); err != nil {
		return err
	}
	if run.res.Cause != codeinterp.CauseClosed || !run.warned() {
		return fmt.Errorf("%s, want cause %q, stdout \"busy\" and stderr \"warned\"", describe(run.res), codeinterp.CauseClosed)
	}
	if lost := id != ""; run.res.StateLost != lost {
		return fmt.Errorf("%s, want StateLost %v", describe(run.res), lost)
	}
	for _, q := range queued {
		if err := q.wait(e.patience()); err != nil {
			return fmt.Errorf("a queued run: %w", err)
		}
		if err := wantNotRun(q.res, q.err, codeinterp.ErrClosed); err != nil {
			return fmt.Errorf("a queued run: %w", err)
		}
	}
	return nil
}

func closeDuringContext(ctx context.Context, e *env) error {
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	return e.closeDuring(ctx, id)
}
