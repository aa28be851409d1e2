package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func isolationChecks() []check {
	return []check{
		{
			name: "FreshState", scope: stateless, uses: variables,
			clause: "nothing that a RunCode defines is seen by a later one, however it ended",
			run:    freshState,
		},
		{
			name: "FreshFiles", scope: stateless, needs: []Feature{Files, PrivateFiles}, proves: PrivateFiles, uses: func(p *Programs) bool { return p.WriteFile != nil && p.ReadFile != nil },
			clause: "a file that a RunCode writes in its directory is not there for a later one",
			run: func(ctx context.Context, e *env) error {
				const path = "toolcell-leak.txt"
				if _, err := e.stdout(ctx, lines(e.p.WriteFile(path, "leaked"), e.p.ReadFile(path)), nil); err != nil {
					return err
				}
				res := need(e.run(ctx, e.p.ReadFile(path), nil))
				if strings.Contains(res.Stdout(), "leaked") {
					return errors.New("a later run reads the file")
				}
				return nil
			},
		},
		{
			name: "ChildrenEndWithRun", row: 3, scope: stateless, needs: []Feature{Children}, proves: Children, uses: func(p *Programs) bool { return p.Child != nil },
			clause: "processes that a RunCode started are gone when it has returned, and do not hold it up",
			run: func(ctx context.Context, e *env) error {
				arg := sleepArg()
				start := time.Now()
				run := e.start(ctx, "", lines(e.p.Child(arg), e.p.Print("started"), e.p.Pause(200*time.Millisecond)), &codeinterp.RunOptions{Timeout: time.Minute})
				return e.childEnds(ctx, run, arg, start, nil)
			},
		},
		{
			name: "ChildrenEndWithContext", row: 3, scope: stateful, needs: []Feature{Children}, uses: func(p *Programs) bool { return p.Child != nil },
			clause: "DeleteContext ends the processes that the context's runs started",
			run: func(ctx context.Context, e *env) error {
				id := need(e.context(ctx, nil))
				arg := sleepArg()
				start := time.Now()
				run := e.start(ctx, id, lines(e.p.Child(arg), e.p.Print("started"), e.p.Pause(200*time.Millisecond)), nil)
				return e.childEnds(ctx, run, arg, start, func() error { return e.stateful().DeleteContext(ctx, id) })
			},
		},
	}
}

func freshState(ctx context.Context, e *env) error {
	timeout := need(e.timeout(ctx, 200*time.Millisecond))
	ends := map[string]string{"ended": e.p.Comment, "was stopped": e.p.Pause(time.Hour)}
	if e.p.Fail != nil {
		ends["failed"] = e.p.Fail("x")
	}
	for how, end := range ends {
		res, err := e.run(ctx, lines(e.p.Set("leaked", "v"), end), &codeinterp.RunOptions{Timeout: timeout})
		if err != nil {
			return fmt.Errorf("a program that %s: %w (%s)", how, err, describe(res))
		}
		out, err := e.stdout(ctx, e.p.Has("leaked"), nil)
		must(errors.Join(err, wantText("the variable in the run after one that "+how, out, "no\n")))
	}
	return nil
}

// sleepArg returns a number of seconds that no other process sleeps.
func sleepArg() string { return fmt.Sprintf("600.%09d", 1+rand.IntN(999_999_999)) }

// childEnds wants the child to be seen during the run, and to be gone after
// the run and what follows. Where its process cannot be seen from here, only
// the run is judged.
func (e *env) childEnds(ctx context.Context, run *pending, arg string, start time.Time, then func() error) error {
	must(run.running(ctx))
	seen := false
	for !seen && time.Since(start) < e.patience() {
		select {
		// Over before its process was seen; that is to be gone all the same.
		case <-run.done:
			seen = true
		default:
			_, seen = running(arg)
			time.Sleep(10 * time.Millisecond)
		}
	}
	must(about("with a child in the background", run.wait(4*e.patience())))
	if run.err != nil || run.res.Status != codeinterp.StatusOK && run.res.Status != codeinterp.StatusTimeout {
		return fmt.Errorf("%s, error %v", describe(run.res), run.err)
	}
	if then != nil {
		must(then())
	}
	return allGone(arg, 2*time.Second)
}
