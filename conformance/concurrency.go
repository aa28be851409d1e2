package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func concurrencyChecks() []check {
	return []check{
		{
			name:   "Hammer",
			clause: "all methods are safe for concurrent use, and every run gets its own output",
			own:    true,
			run:    hammer,
		},
		{
			name:   "HammerContexts",
			clause: "contexts are created, used, restarted and deleted from many goroutines at once",
			scope:  stateful,
			own:    true,
			uses:   variables,
			run:    hammerContexts,
		},
	}
}

// hammer makes runs of every outcome at once.
func hammer(ctx context.Context, e *env) error {
	workers, rounds := 6, 5
	if e.s.cfg.Thrifty {
		workers, rounds = 4, 2
	}
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			for r := range rounds {
				errs[w] = safely(func() error {
					e.ci.Languages()
					codeinterp.Describe(e.ci)
					return e.anyRun(ctx, (w+r)%4, fmt.Sprintf("worker %d round %d", w, r))
				})
				if errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// anyRun makes a run of one of four kinds and compares its outcome.
func (e *env) anyRun(ctx context.Context, kind int, text string) error {
	print := e.p.Print(text)
	switch kind {
	case 0:
		res, err := e.runCode(ctx, lines(print, e.p.Pause(time.Hour)), &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
		return wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	case 1:
		runCtx, end := context.WithCancelCause(ctx)
		timer := time.AfterFunc(time.Duration(rand.IntN(100))*time.Millisecond, func() { end(errStop) })
		defer timer.Stop()
		defer end(nil)
		res, err := e.runCode(runCtx, lines(print, e.p.Pause(time.Hour)), nil)
		if res.Status == codeinterp.StatusNotRun {
			return wantNotRun(res, err, errStop)
		}
		return wantErr(res, err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled)
	default:
		res, err := e.runCode(ctx, print, &codeinterp.RunOptions{})
		if err := wantOK(res, err); err != nil {
			return err
		}
		return wantText("stdout", res.Stdout(), text)
	}
}

func hammerContexts(ctx context.Context, e *env) error {
	workers, rounds := 5, 4
	if e.s.cfg.Thrifty {
		workers, rounds = 3, 1
	}
	st := e.stateful()
	common, err := st.CreateContext(ctx, e.language, nil)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			for r := range rounds {
				errs[w] = safely(func() error { return e.contextRound(ctx, common, fmt.Sprintf("worker %d round %d", w, r)) })
				if errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// contextRound uses a context of its own and one that all workers share.
func (e *env) contextRound(ctx context.Context, common codeinterp.ContextID, text string) error {
	st := e.stateful()
	id, err := st.CreateContext(ctx, e.language, nil)
	if err != nil {
		return fmt.Errorf("CreateContext: %w", err)
	}
	if err := e.do(ctx, id, e.p.Set("mine", text)); err != nil {
		return err
	}
	out, err := e.stdoutIn(ctx, common, lines(e.p.Set("mine", text), e.p.Pause(5*time.Millisecond), e.p.Get("mine")))
	if err != nil {
		return err
	}
	if err := wantText("a variable that one run sets and prints in a shared context", out, text+"\n"); err != nil {
		return err
	}
	if m, ok := codeinterp.Manager(e.ci); ok {
		if _, err := m.ListContexts(ctx); err != nil {
			return fmt.Errorf("ListContexts: %w", err)
		}
		if err := m.InterruptContext(ctx, id); err != nil {
			return fmt.Errorf("InterruptContext: %w", err)
		}
	}
	out, err = e.stdoutIn(ctx, id, e.p.Get("mine"))
	if err != nil {
		return err
	}
	if err := wantText("the variable", out, text+"\n"); err != nil {
		return err
	}
	if err := st.DeleteContext(ctx, id); err != nil {
		return fmt.Errorf("DeleteContext: %w", err)
	}
	return nil
}
