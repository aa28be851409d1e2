package conformance

import (
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func lateChecks() []check {
	leaves := func(p *Programs) bool { return p.Late != nil }
	return []check{
		{
			name: "LateOutput", row: 21, scope: stateful, needs: []Feature{LateOutput}, proves: LateOutput, uses: leaves,
			clause: "what is printed after the end of a run is never another run's own output: it is marked Late, at the head of the next run's Outputs, be there an OnOutput or not",
			run: func(e *env) {
				id := e.shared()
				late := e.leaveLate(id, 250*time.Millisecond)
				time.Sleep(late + 500*time.Millisecond) // until it was printed for certain
				// A run that never ran must not take the late output along.
				if res, err := e.ended().runIn(id, e.p.Print("ran"), nil); err == nil || len(res.Outputs) > 0 {
					failf("a run with a ctx that has ended: %s, error %v", describe(res), err)
				}
				res := e.okIn(id, e.p.Print("next"), nil)
				wantText("the next run's own output", res.Stdout(), "next")
				if len(res.Outputs) != 2 || lateAt(res) != 0 {
					failf("the next run's outputs are %v, want \"late\", marked Late, at the head", res.Outputs)
				}
			},
		},
		{
			name: "LateDuringRun", row: 21, scope: stateful, needs: []Feature{LateApart, LateOutput}, proves: LateApart, uses: leaves,
			clause: "what an earlier run left behind prints during a run is marked Late among that one's outputs",
			run:    lateDuringRun,
		},
	}
}

// lateAt is the place of the late output among a Result's.
func lateAt(res codeinterp.Result) int {
	return slices.IndexFunc(res.Outputs, func(o codeinterp.Output) bool { return o.Late && string(o.Data) == "late" })
}

// leaveLate makes a run that leaves something behind that prints "late" after its
// end, and returns after how long. It tries again with output that comes later, as
// a busy machine may take longer to end a run than the output takes to come.
func (e *env) leaveLate(id codeinterp.ContextID, late time.Duration) time.Duration {
	for range 3 {
		if e.stdout(id, lines(e.p.Late("late", late), e.p.Print("own"))) == "own" {
			return late
		}
		late *= 4
	}
	failf("the run lasted until its background output was there, or has not its own")
	return 0
}

// lateDuringRun has the next run print before the late output and after it. Where
// that came before the run did, on a busy machine, it tries again.
func lateDuringRun(e *env) {
	id, late := e.shared(), 300*time.Millisecond
	for range busyTries {
		late = e.leaveLate(id, late)
		res := e.okIn(id, lines(e.p.Print("before;"), e.p.Pause(late+300*time.Millisecond), e.p.Print("after")), &codeinterp.RunOptions{})
		wantText("the next run's own output", res.Stdout(), "before;after")
		if at := lateAt(res); at < 0 {
			failf("the next run's outputs are %v, want \"late\", marked Late, among them", res.Outputs)
		} else if at > 0 {
			return
		}
		late *= 2
	}
}
