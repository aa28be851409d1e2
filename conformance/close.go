package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func closeChecks() []check {
	list := []check{
		{
			name:   "CloseUnused",
			clause: "Close of an interpreter that was never used returns nil",
			run: func(ctx context.Context, e *env) error {
				return e.ci.Close()
			},
		},
		{
			name:   "CloseTwice",
			clause: "Close is idempotent, also when called from several goroutines at once",
			run:    closeTwice,
		},
		{
			name:   "ClosedCalls",
			clause: "calls after Close return ErrClosed, and nothing is run",
			run:    closedCalls,
		},
		{
			name:   "CloseDuringRun",
			clause: "Close ends a run in progress: StatusLost, 137, CauseClosed, with an error that is ErrClosed and the output so far",
			run: func(ctx context.Context, e *env) error {
				return e.closeDuring(ctx, "")
			},
		},
		{
			name:   "CloseDuringContext",
			clause: "Close ends the runs of contexts: those in progress as StatusLost with StateLost, queued ones as StatusNotRun, both with ErrClosed",
			scope:  stateful,
			run:    closeDuringContext,
		},
		{
			name:   "CloseStubborn",
			clause: "Close also ends programs that resist, and returns when they are gone",
			uses:   func(p *Programs) bool { return p.Stubborn != "" },
			run: func(ctx context.Context, e *env) error {
				run := e.start(ctx, "", lines(e.p.Print("busy"), e.p.Stubborn), nil)
				if err := run.running(ctx); err != nil {
					return err
				}
				if err := within(2*e.patience(), "Close", e.ci.Close); err != nil {
					return err
				}
				return run.wait(e.patience())
			},
		},
		{
			name:   "CloseAnytime",
			clause: "Close may come at any moment of any call",
			run:    closeAnytime,
		},
	}
	for i := range list {
		list[i].own = list[i].name != "CloseAnytime" // which makes interpreters itself
	}
	return list
}

func closeTwice(ctx context.Context, e *env) error {
	if _, err := e.runCode(ctx, e.p.Print("x"), nil); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = safely(e.ci.Close) })
	}
	wg.Wait()
	return errors.Join(append(errs, e.ci.Close())...)
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

// closeAnytime closes interpreters at various moments of runs and creations.
func closeAnytime(ctx context.Context, e *env) error {
	delays := []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}
	for _, d := range delays {
		other := *e
		var err error
		if other.ci, err = e.s.cfg.New(); err != nil {
			return err
		}
		var list []*pending
		for range 3 {
			list = append(list, other.start(ctx, "", lines(e.p.Print("a"), e.p.Pause(30*time.Millisecond)), nil))
		}
		created := make(chan error, 1)
		go func() {
			created <- safely(func() error {
				st, ok := codeinterp.Stateful(other.ci)
				if !ok {
					return nil
				}
				_, err := st.CreateContext(ctx, e.language, nil)
				return err
			})
		}()
		time.Sleep(d)
		if err := within(2*e.patience(), "Close", other.ci.Close); err != nil {
			return err
		}
		for _, p := range list {
			if err := p.wait(e.patience()); err != nil {
				return err
			}
			if p.err != nil && !errors.Is(p.err, codeinterp.ErrClosed) {
				return fmt.Errorf("RunCode: error %w, want ErrClosed or none", p.err)
			}
		}
		if err := <-created; err != nil {
			if err := wantOpError(err, codeinterp.ErrClosed); err != nil {
				return fmt.Errorf("CreateContext: %w", err)
			}
		}
	}
	return nil
}
