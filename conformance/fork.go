package conformance

import "github.com/toolcell/toolcell/codeinterp"

func forkChecks() []check {
	return []check{{
		name: "ForksApart", scope: stateful, own: true, uses: variables,
		clause: "a language with Forks copies a context with its variables, after the run in progress; neither sees what the other does from then on, and a copy of the copy outlives both; others are ErrInvalid",
		run:    forksApart,
	}}
}

func forksApart(e *env) {
	of, ok := codeinterp.Forks(e.ci)
	switch forks := e.info().Forks; {
	case forks && !ok:
		failf("%T has no Forks, and Describe says it has", e.ci)
	case !ok:
		return
	case !forks:
		_, err := of.ForkContext(e.ctx, e.context(nil))
		wantOpError(err, codeinterp.ErrInvalid)
		return
	}
	_, err := of.ForkContext(e.ctx, "toolcell-no-such-context")
	wantOpError(err, codeinterp.ErrContext)
	id, run := e.busy(lines(e.p.Pause(settle), e.p.Set("shared", "before")))
	copied := need(of.ForkContext(e.ctx, id))
	run.wait(e.patience())
	wantOK(run.res, run.err)
	if copied == id {
		failf("the copy has the id of the context, %q", id)
	}
	e.okIn(id, lines(e.p.Set("shared", "in the first"), e.p.Set("added", "v")), nil)
	e.printsIn(copied, "the variable in the copy", e.p.Get("shared"), "before\n")
	e.printsIn(copied, "a variable that the first got later", e.p.Has("added"), "no\n")
	e.okIn(copied, e.p.Set("shared", "in the copy"), nil)
	e.printsIn(id, "the variable in the first", e.p.Get("shared"), "in the first\n")
	last := need(of.ForkContext(e.ctx, copied))
	must(e.stateful().DeleteContext(e.ctx, id))
	must(e.stateful().DeleteContext(e.ctx, copied))
	e.printsIn(last, "the variable in the copy's copy", e.p.Get("shared"), "in the copy\n")
	must(e.stateful().DeleteContext(e.ctx, last))
}
