package conformance

import (
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
)

func forkChecks() []check {
	return []check{{
		name: "ForksApart", scope: stateful, own: true, uses: variables,
		clause: "a language with Forks copies a context with its variables; neither sees what the other does from then on, and a copy of the copy outlives both; others are ErrInvalid",
		run:    forksApart,
	}, {
		name: "ForkWaits", scope: stateful, own: true, uses: variables,
		clause: "ForkContext waits for the run in progress, and what is no context is ErrContext",
		run:    forkWaits,
	}}
}

// forker returns the group of the interpreter, or nil where it has none and may have none.
func (e *env) forker() codeinterp.ContextForker {
	of, ok := codeinterp.Forks(e.ci)
	if !ok && e.info().Forks {
		failf("%T has no Forks, and Describe says it has", e.ci)
	}
	if ok && e.info().Forks {
		return of
	}
	if ok {
		if _, err := of.ForkContext(e.ctx, e.context(nil)); !errors.Is(err, codeinterp.ErrInvalid) {
			failf("a copy of a context whose language has no Forks is %v, want ErrInvalid", err)
		}
	}
	return nil
}

// wantVariable wants a context to have a variable with the value.
func (e *env) wantVariable(id codeinterp.ContextID, name, value string) {
	res := e.okIn(id, e.p.Get(name), nil)
	wantText("the variable "+name, res.Stdout(), value+"\n")
}

func forksApart(e *env) {
	of := e.forker()
	if of == nil {
		return
	}
	id := e.context(nil)
	e.okIn(id, e.p.Set("shared", "before"), nil)
	copied := need(of.ForkContext(e.ctx, id))
	if copied == id {
		failf("the copy has the id of the context, %q", id)
	}
	e.okIn(id, lines(e.p.Set("shared", "in the first"), e.p.Set("added", "v")), nil)
	e.wantVariable(copied, "shared", "before")
	res := e.okIn(copied, e.p.Has("added"), nil)
	wantText("a variable that the first got later", res.Stdout(), "no\n")
	e.okIn(copied, e.p.Set("shared", "in the copy"), nil)
	e.wantVariable(id, "shared", "in the first")
	last := need(of.ForkContext(e.ctx, copied))
	must(e.stateful().DeleteContext(e.ctx, id))
	must(e.stateful().DeleteContext(e.ctx, copied))
	e.wantVariable(last, "shared", "in the copy")
	must(e.stateful().DeleteContext(e.ctx, last))
}

func forkWaits(e *env) {
	of := e.forker()
	if of == nil {
		return
	}
	if _, err := of.ForkContext(e.ctx, "toolcell-no-such-context"); !errors.Is(err, codeinterp.ErrContext) {
		failf("a copy of no context is %v, want ErrContext", err)
	}
	id, run := e.busy(lines(e.p.Pause(settle), e.p.Set("late", "v")))
	copied := need(of.ForkContext(e.ctx, id))
	run.wait(e.patience())
	wantOK(run.res, run.err)
	e.wantVariable(copied, "late", "v")
	must(e.stateful().DeleteContext(e.ctx, copied))
}
