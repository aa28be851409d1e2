package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func contextChecks() []check {
	return []check{
		{
			name: "StateKept", scope: stateful, uses: variables,
			clause: "a run in a context sees what earlier runs defined, however many came between",
			run: func(ctx context.Context, e *env) error {
				id := need(e.shared(ctx))
				must(e.do(ctx, id, e.p.Set("kept", "a value é")))
				for n := range stateRuns {
					out, err := e.stdoutIn(ctx, id, e.p.Get("kept"))
					if err == nil {
						err = wantText("the variable", out, "a value é\n")
					}
					if err != nil {
						return fmt.Errorf("run %d after the one that set it: %w", n+1, err)
					}
				}
				return nil
			},
		},
		{
			name: "StateSurvivesFailure", row: 6, scope: stateful, uses: variables,
			clause: "a context keeps its state when a run fails",
			run:    stateSurvivesFailure,
		},
		{
			name: "ContextsApart", row: 15, scope: stateful, uses: variables,
			clause: "what a context's runs define is seen by no other context, also by none that comes after it, nor by RunCode; and what RunCode defines by no context",
			run:    contextsApart,
		},
		{
			name: "ContextsParallel", row: 9, scope: stateful,
			clause: "different contexts run in parallel",
			run:    contextsParallel,
		},
		{
			name: "ContextIDs", scope: stateful,
			clause: "a ContextID is unique and carries at least 128 random bits",
			run:    contextIDs,
		},
		{
			name: "ForeignContext", row: 15, scope: stateful, own: true,
			clause: "a context's id means nothing to any other interpreter value",
			run: func(ctx context.Context, e *env) error {
				id := need(e.shared(ctx))
				other := need(e.s.cfg.New())
				defer other.Close()
				foreign := *e
				// What e has made is deleted in its own interpreter.
				foreign.ci, foreign.made = other, nil
				// With a context of its own, whose id is to be another: ids that
				// every interpreter draws alike mean something to all.
				_, err := foreign.context(ctx, nil)
				return errors.Join(err, foreign.noContext(ctx, id), other.Close(), e.do(ctx, id, e.p.Print("x")))
			},
		},
	}
}

// stateRuns is how many runs a variable is to outlive.
const stateRuns = 40

// noContext wants every method to say that there is no such context.
func (e *env) noContext(ctx context.Context, id codeinterp.ContextID) error {
	res, err := e.runIn(ctx, id, e.p.Print("ran"), nil)
	must(about("RunInContext", wantNotRun(res, err, codeinterp.ErrContext)))
	must(about("DeleteContext", wantOpError(e.stateful().DeleteContext(ctx, id), codeinterp.ErrContext)))
	m, ok := codeinterp.Manager(e.ci)
	if !ok {
		return nil
	}
	must(about("RestartContext", wantOpError(m.RestartContext(ctx, id), codeinterp.ErrContext)))
	must(about("InterruptContext", wantOpError(m.InterruptContext(ctx, id), codeinterp.ErrContext)))
	return nil
}

func stateSurvivesFailure(ctx context.Context, e *env) error {
	id := need(e.shared(ctx))
	must(e.do(ctx, id, e.p.Set("kept", "v")))
	var failing []string
	if e.p.SyntaxError != "" {
		failing = append(failing, e.p.SyntaxError)
	}
	if e.p.Fail != nil {
		failing = append(failing, e.p.Fail("x"))
	}
	for _, p := range failing {
		res, err := e.runIn(ctx, id, p, nil)
		if err != nil || res.Status != codeinterp.StatusError || res.StateLost {
			return fmt.Errorf("running %s: %s, error %v; want %q with the state kept", quote(p), describe(res), err, codeinterp.StatusError)
		}
		out := need(e.stdoutIn(ctx, id, e.p.Get("kept")))
		must(wantText("the variable after "+quote(p), out, "v\n"))
	}
	return nil
}

func contextsApart(ctx context.Context, e *env) error {
	a := need(e.context(ctx, nil))
	b := need(e.context(ctx, nil))
	must(e.do(ctx, a, e.p.Set("apart", "a")))
	out := need(e.stdoutIn(ctx, b, e.p.Has("apart")))
	must(wantText("the variable in another context", out, "no\n"))
	res, err := e.runCode(ctx, lines(e.p.Has("apart"), e.p.Set("apart", "run")), nil)
	must(wantOK(res, err))
	must(wantText("the variable in RunCode", res.Stdout(), "no\n"))
	// A runtime that is used again is to be empty.
	must(about("DeleteContext", e.stateful().DeleteContext(ctx, a)))
	c := need(e.context(ctx, nil))
	out, err = e.stdoutIn(ctx, c, e.p.Has("apart"))
	return errors.Join(err, wantText("the variable in a context that came after one that was deleted, and after a RunCode", out, "no\n"))
}

// contextsParallel starts a run in each of two contexts that ends only when
// both have printed.
func contextsParallel(ctx context.Context, e *env) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 4*e.patience(), errors.New("the two runs did not overlap"))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	both := make(chan bool, 2)
	errs := make(chan error, 2)
	for range 2 {
		id := need(e.context(ctx, nil))
		go func() {
			first := true
			_, err := e.runIn(ctx, id, lines(e.p.Print("here"), e.p.Pause(time.Hour)), &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
				if first {
					first = false
					both <- true
				}
				return nil
			}})
			errs <- err
		}()
	}
	go func() {
		for range 2 {
			select {
			case <-both:
			case <-ctx.Done():
				return
			}
		}
		end(errStop)
	}()
	for range 2 {
		if err := <-errs; !errors.Is(err, errStop) {
			return fmt.Errorf("error %v, want both runs to be in progress at once", err)
		}
	}
	return nil
}

func contextIDs(ctx context.Context, e *env) error {
	seen := map[codeinterp.ContextID]bool{}
	ids := make([]codeinterp.ContextID, 3)
	for i := range ids {
		id := need(e.context(ctx, nil))
		if len(id) < 22 {
			return fmt.Errorf("id %q has %d characters: too few for 128 bits", id, len(id))
		}
		if seen[id] {
			return fmt.Errorf("id %q twice", id)
		}
		seen[id], ids[i] = true, id
	}
	for i := range ids {
		for j := range i {
			if n := differing(string(ids[i]), string(ids[j])); n < 12 {
				return fmt.Errorf("ids %q and %q differ in %d characters only", ids[j], ids[i], n)
			}
		}
	}
	return nil
}

// differing counts the positions in which two ids differ. Two ids of 128
// random bits differ in 12 or more, but for one pair in billions.
func differing(a, b string) int {
	n := max(len(a), len(b)) - min(len(a), len(b))
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
