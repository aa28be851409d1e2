package conformance

import (
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
)

func attachChecks() []check {
	return []check{{
		name: "AttachKeepsState", scope: stateful, own: true, uses: variables,
		clause: "Detach waits for the run in progress; then there is no such context, and attached by its reference it has its state and no run to resume; what is no reference is ErrInvalid",
		run:    attachKeepsState,
	}}
}

func attachKeepsState(e *env) {
	of, ok := codeinterp.Attaches(e.ci)
	if !ok {
		return
	}
	_, err := of.Attach(e.ctx, "toolcell-no-reference")
	wantOpError(err, codeinterp.ErrInvalid)
	id, run := e.busy(lines(e.p.Pause(settle), e.p.Set("late", "v")))
	ref := need(of.Detach(e.ctx, id))
	run.wait(e.patience())
	wantOK(run.res, run.err)
	e.noContext(id)
	_, err = of.Detach(e.ctx, id)
	wantOpError(err, codeinterp.ErrContext)
	again := need(of.Attach(e.ctx, ref))
	if res, err := of.ResumeRun(e.ctx, again, nil); !errors.Is(err, codeinterp.ErrNoRun) || res.Status != codeinterp.StatusNotRun {
		failf("resuming no run is %v, %s; want ErrNoRun", err, describe(res))
	}
	res := e.okIn(again, e.p.Get("late"), nil)
	if wantText("the variable", res.Stdout(), "v\n"); res.StateLost {
		failf("the state of a context that was attached counts as lost")
	}
	must(e.stateful().DeleteContext(e.ctx, again))
	_, err = of.Attach(e.ctx, ref)
	wantOpError(err, codeinterp.ErrContext)
}
