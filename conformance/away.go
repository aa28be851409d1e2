package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func awayChecks() []check {
	return []check{
		{
			name:   "EndNotKnown",
			clause: "a run whose server went away is never ok: it ends as its timeout says or as StatusLost with CauseServer, with an ErrUnavailable that says what may still be running; the context's next run ends what is left, and tells so in a late line",
			scope:  stateful,
			outage: true,
			own:    true,
			run:    endNotKnown,
		},
		{
			name:   "SilentIsNotGone",
			clause: "a program that is silent for long is not gone: it is waited for, and its context keeps the state",
			own:    true,
			run:    silentIsNotGone,
		},
	}
}

// endNotKnown cuts the way to a program that goes on for ever.
func endNotKnown(ctx context.Context, e *env) error {
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	if err := e.do(ctx, id, e.p.Print("before")); err != nil {
		return err
	}
	var runs []*pending
	// The first has to last until the other has begun.
	for _, in := range []struct {
		id      codeinterp.ContextID // empty for RunCode
		timeout time.Duration
	}{{"", 3 * time.Second}, {id, time.Second}} {
		run := e.start(ctx, in.id, lines(e.p.Print("busy"), e.p.Pause(time.Hour)), &codeinterp.RunOptions{Timeout: in.timeout})
		if err := run.running(ctx); err != nil {
			return err
		}
		runs = append(runs, run)
	}
	restore := e.s.cfg.Outage()
	for _, run := range runs {
		err = errors.Join(err, run.wait(4*e.patience()))
	}
	// Before anything is judged: the provider has to clean up, whatever was found.
	restore()
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := run.endNotKnown(); err != nil {
			return err
		}
	}
	next, err := e.runIn(ctx, id, e.p.Print("next"), nil)
	if err := wantOK(next, err); err != nil {
		return fmt.Errorf("the next run: %w", err)
	}
	if err := wantText("the next run's own output", next.Stdout(), "next"); err != nil {
		return err
	}
	late := func(o codeinterp.Output) bool { return o.Late }
	if !slices.ContainsFunc(next.Outputs, late) {
		return fmt.Errorf("the next run's outputs are %v, want a late line that tells what became of the program", next.Outputs)
	}
	third, err := e.runIn(ctx, id, e.p.Print("third"), nil)
	if err := wantOK(third, err); err != nil {
		return err
	}
	if slices.ContainsFunc(third.Outputs, late) || third.StateLost {
		return fmt.Errorf("the run after the next: %s with %d outputs, want what became of the program told once", describe(third), len(third.Outputs))
	}
	return nil
}

// endNotKnown wants a run whose server went away to say so.
func (p *pending) endNotKnown() error {
	res := p.res
	switch {
	case res.Status != codeinterp.StatusTimeout && (res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseServer):
		return fmt.Errorf("%s, error %v; want %q, or %q with cause %q", describe(res), p.err, codeinterp.StatusTimeout, codeinterp.StatusLost, codeinterp.CauseServer)
	case !errors.Is(p.err, codeinterp.ErrUnavailable) || !strings.Contains(p.err.Error(), "may"):
		return fmt.Errorf("error %v, want an ErrUnavailable that says what may still be running", p.err)
	}
	return nil
}

// silentIsNotGone runs a program that says nothing for longer than most
// heartbeats wait.
func silentIsNotGone(ctx context.Context, e *env) error {
	const silence = 1500 * time.Millisecond
	run := func(code string) (codeinterp.Result, error) { return e.runCode(ctx, code, nil) }
	if _, ok := codeinterp.Stateful(e.ci); ok {
		id, err := e.context(ctx, nil)
		if err != nil {
			return err
		}
		run = func(code string) (codeinterp.Result, error) { return e.runIn(ctx, id, code, nil) }
	}
	res, err := run(lines(e.p.Pause(silence), e.p.Print("after")))
	if err := wantOK(res, err); err != nil {
		return fmt.Errorf("a program that is silent for %v: %w", silence, err)
	}
	if res.StateLost {
		return fmt.Errorf("StateLost by a program that is silent for %v", silence)
	}
	return wantText("stdout", res.Stdout(), "after")
}
