package conformance

import (
	"errors"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

func completeChecks() []check {
	return []check{{
		name: "CompletesNames", scope: stateful, uses: func(p *Programs) bool { return variables(p) && p.Partial != nil },
		clause: "Complete returns what stands for the beginning of a variable's name, in the context that has it and in no other, and leaves the state as it is",
		run: func(e *env) {
			if !e.info().Completion {
				return
			}
			const name = "toolcell_completed_name"
			id, other := e.context(nil), e.context(nil)
			before := e.okIn(id, e.p.Set(name, "v"), nil)
			e.okIn(other, e.p.Set("toolcell_completed_other", "v"), nil)
			if list, want := e.completed(id, e.p.Partial("toolcell_compl")), []string{e.p.Partial(name)}; !slices.Equal(list, want) {
				failf("the beginning of a name is completed to %q, want %q", list, want)
			}
			if list := e.completed(id, e.p.Partial("toolcell_nothing_like_it")); len(list) > 0 {
				failf("what nothing completes is completed to %q", list)
			}
			res := e.okIn(id, e.p.Get(name), nil)
			if res.Stdout() != "v\n" || res.Stderr() != "" || res.StateLost || !e.lacks(ExecutionCount) && res.ExecutionCount != before.ExecutionCount+1 {
				failf("the run after it is number %d: %s; want number %d and the variable", res.ExecutionCount, describe(res), before.ExecutionCount+1)
			}
		},
	}}
}

// completed returns code with each of the ways to complete it at its end. A kernel
// that is at work for others may need a few tries.
func (e *env) completed(id codeinterp.ContextID, code string) (list []string) {
	of, ok := codeinterp.Completions(e.ci)
	if !ok {
		failf("%T has no Completions, and Describe says it has", e.ci)
	}
	c, err := of.Complete(e.ctx, id, code, len(code))
	for tries := 0; tries < 10 && errors.Is(err, codeinterp.ErrUnavailable); tries++ {
		c, err = of.Complete(e.ctx, id, code, len(code))
	}
	must(err)
	if c.Start < 0 || c.Start > c.End || c.End != len(code) && len(c.Matches) > 0 {
		failf("%q is completed as %+v", code, c)
	}
	for _, m := range c.Matches {
		list = append(list, code[:c.Start]+m+code[c.End:])
	}
	return list
}
