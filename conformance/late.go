package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func lateChecks() []check {
	list := []check{
		{
			name: "LateOutput", row: 21, proves: LateOutput,
			clause: "what is printed after the end of a run is never another run's own output: it is marked Late, at the head of the next run's Outputs, be there an OnOutput or not",
			run:    lateOutput,
		},
		{
			name: "LateDuringRun", row: 21, needs: []Feature{LateApart}, proves: LateApart,
			clause: "what an earlier run left behind prints during a run is marked Late among that one's outputs",
			run:    lateDuringRun,
		},
	}
	for i := range list {
		list[i].scope, list[i].needs = stateful, append(list[i].needs, LateOutput)
		list[i].uses = func(p *Programs) bool { return p.Late != nil }
	}
	return list
}

// leaveLate makes a run that leaves something behind that prints "late" after its
// end, and returns after how long. It tries again with output that comes later, as
// a busy machine may take longer to end a run than the output takes to come.
func (e *env) leaveLate(ctx context.Context, id codeinterp.ContextID, late time.Duration) (time.Duration, error) {
	text := ""
	for range 3 {
		res, err := e.runIn(ctx, id, lines(e.p.Late("late", late), e.p.Print("own")), &codeinterp.RunOptions{})
		if err := wantOK(res, err); err != nil {
			return 0, err
		}
		if text = res.Stdout(); text != "ownlate" {
			break
		}
		late *= 4
	}
	if text == "ownlate" {
		return 0, errors.New("the run lasted until its background output was there")
	}
	return late, wantText("the run that started it", text, "own")
}

func lateOutput(ctx context.Context, e *env) error {
	id := need(e.shared(ctx))
	late := need(e.leaveLate(ctx, id, 250*time.Millisecond))
	// Until it was printed for certain.
	time.Sleep(late + 500*time.Millisecond)
	// A run that never ran must not take the late output along.
	if res, err := e.runIn(e.done(ctx), id, e.p.Print("ran"), nil); err == nil || len(res.Outputs) > 0 {
		return fmt.Errorf("a run with a ctx that has ended: %s, error %v", describe(res), err)
	}
	res, err := e.runIn(ctx, id, e.p.Print("next"), nil)
	must(wantOK(res, err))
	must(wantText("the next run's own output", res.Stdout(), "next"))
	if len(res.Outputs) != 2 || !res.Outputs[0].Late || string(res.Outputs[0].Data) != "late" {
		return fmt.Errorf("the next run's outputs are %v, want \"late\", marked Late, at the head", res.Outputs)
	}
	return nil
}

// lateDuringRun has the next run print before the late output and after it. Where
// that came before the run did, on a busy machine, it tries again.
func lateDuringRun(ctx context.Context, e *env) error {
	id := need(e.shared(ctx))
	late := 300 * time.Millisecond
	for range busyTries {
		late = need(e.leaveLate(ctx, id, late))
		res, err := e.runIn(ctx, id, lines(e.p.Print("before;"), e.p.Pause(late+300*time.Millisecond), e.p.Print("after")), &codeinterp.RunOptions{})
		must(wantOK(res, err))
		must(wantText("the next run's own output", res.Stdout(), "before;after"))
		at := slices.IndexFunc(res.Outputs, func(o codeinterp.Output) bool { return o.Late && string(o.Data) == "late" })
		if at < 0 {
			return fmt.Errorf("the next run's outputs are %v, want \"late\", marked Late, among them", res.Outputs)
		}
		if at > 0 {
			return nil
		}
		late *= 2
	}
	return nil
}
