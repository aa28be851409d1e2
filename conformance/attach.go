package conformance

import (
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
)

func attachChecks() []check {
	return []check{{
		name: "AttachKeepsState", scope: stateful, own: true, uses: variables,
		clause: "a context that was detached is ErrContext, and attached by its reference it has its state",
		run:    attachKeepsState,
	}, {
		name: "DetachWaits", scope: stateful, own: true, uses: variables,
		clause: "Detach waits for the run in progress; a run that has returned is not there to resume; what is no context is ErrContext, what is no reference ErrInvalid",
		run:    detachWaits,
	}}
}

func attachKeepsState(e *env) {
	of, ok := codeinterp.Attaches(e.ci)
	if !ok {
		return
	}
	id := e.context(nil)
	e.okIn(id, e.p.Set("shared", "before"), nil)
	ref := need(of.Detach(e.ctx, id))
	if _, err := of.Refer(e.ctx, id); !errors.Is(err, codeinterp.ErrContext) {
		failf("a reference of a context that was detached is %v, want ErrContext", err)
	}
	if _, err := e.runIn(id, "", nil); !errors.Is(err, codeinterp.ErrContext) {
		failf("a run in a context that was detached is %v, want ErrContext", err)
	}
	again := need(of.Attach(e.ctx, ref))
	res := e.okIn(again, e.p.Get("shared"), nil)
	if wantText("the variable", res.Stdout(), "before\n"); res.StateLost {
		failf("the state of a context that was attached counts as lost")
	}
	must(e.stateful().DeleteContext(e.ctx, again))
	if _, err := of.Attach(e.ctx, ref); !errors.Is(err, codeinterp.ErrContext) {
		failf("attaching a context that was deleted is %v, want ErrContext", err)
	}
}

func detachWaits(e *env) {
	of, ok := codeinterp.Attaches(e.ci)
	if !ok {
		return
	}
	const none = "toolcell-no-such-context"
	_, err := of.Detach(e.ctx, none)
	if res, rerr := of.ResumeRun(e.ctx, none, nil); !errors.Is(err, codeinterp.ErrContext) || !errors.Is(rerr, codeinterp.ErrContext) || res.Status != codeinterp.StatusNotRun {
		failf("of no context, Detach is %v and ResumeRun %v, %s; want ErrContext", err, rerr, describe(res))
	}
	if _, err := of.Attach(e.ctx, none); !errors.Is(err, codeinterp.ErrInvalid) {
		failf("attaching what is no reference is %v, want ErrInvalid", err)
	}
	id, run := e.busy(lines(e.p.Pause(settle), e.p.Set("late", "v")))
	ref := need(of.Detach(e.ctx, id))
	run.wait(e.patience())
	wantOK(run.res, run.err)
	id = need(of.Attach(e.ctx, ref))
	if res, err := of.ResumeRun(e.ctx, id, nil); !errors.Is(err, codeinterp.ErrNoRun) || res.Status != codeinterp.StatusNotRun {
		failf("resuming no run is %v, %s; want ErrNoRun", err, describe(res))
	}
	e.wantVariable(id, "late", "v")
	must(e.stateful().DeleteContext(e.ctx, id))
}
