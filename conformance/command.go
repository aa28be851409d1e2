package conformance

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// commandChecks are about commands of a shell. They concern providers that have
// codeinterp.Commands. Their lines are such as every shell reads.
func commandChecks() []check {
	return []check{
		{
			name:   "CommandEnds",
			clause: "a command that fails is a Result with its exit code, its streams are kept apart, and one that reaches its Timeout has status timeout",
			run: commanding(func(run commandFunc) {
				res, err := run("echo out; echo err >&2; exit 3", codeinterp.RunOptions{})
				wantStatus(res, err, codeinterp.StatusError, 3)
				wantText("stdout", res.Stdout(), "out\n")
				wantText("stderr", res.Stderr(), "err\n")
				res, err = run("sleep 600", codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
				wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
			}),
		},
		{
			name:   "CommandInput",
			clause: "a command reads Stdin or Input, and the end of its input where there is neither",
			run: commanding(func(run commandFunc) {
				run.prints("cat", codeinterp.RunOptions{Stdin: []byte(SplitText)}, SplitText)
				run.prints("cat", codeinterp.RunOptions{Input: strings.NewReader(SplitText)}, SplitText)
				run.prints("cat", codeinterp.RunOptions{}, "")
			}),
		},
		{
			name: "CommandChildren", needs: []Feature{Children},
			clause: "what a command left running in the background does not hold it up, and is gone when it has returned",
			run: commanding(func(run commandFunc) {
				arg := sleepArg()
				run.prints("sleep "+arg+" & echo on", codeinterp.RunOptions{}, "on\n")
				allGone(arg)
			}),
		},
	}
}

// A commandFunc runs a command of a shell, watched.
type commandFunc func(line string, o codeinterp.RunOptions) (codeinterp.Result, error)

// commanding makes a check one of providers that run commands.
func commanding(check func(commandFunc)) func(*env) {
	return func(e *env) {
		sh, ok := codeinterp.Commands(e.ci)
		if !ok {
			return
		}
		check(func(line string, o codeinterp.RunOptions) (codeinterp.Result, error) {
			return e.watch(line, &o, func(run *codeinterp.RunOptions) (codeinterp.Result, error) {
				return sh.RunCommand(e.ctx, line, &codeinterp.CommandOptions{RunOptions: *run})
			})
		})
	}
}

// prints wants a command to end normally, and to have printed a text.
func (run commandFunc) prints(line string, o codeinterp.RunOptions, want string) {
	res, err := run(line, o)
	wantOK(res, err)
	wantText("stdout of "+quote(line), res.Stdout(), want)
}

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
			if res.Stdout() != "v\n" || res.Stderr() != "" || res.StateLost || res.ExecutionCount != before.ExecutionCount+1 {
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
