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

func describedChecks() []check {
	return []check{
		{
			name: "LatenessKept", row: 11, needs: []Feature{Describer}, uses: func(p *Programs) bool { return p.Stubborn != "" },
			clause: "a run is over at the latest Info.Lateness after its timeout, where that is given, also if its program resists",
			run:    latenessKept,
		},
		{
			name: "LimitsEnforced", row: 12, scope: everyRun, needs: []Feature{Describer},
			clause: "what Info.Limits says holds: a value above is ErrInvalid, and nothing is run",
			run:    limitsEnforced,
		},
		{
			name: "ContextsDescribed", row: 13, needs: []Feature{Describer},
			clause: "a language has contexts exactly where Describe says so, whatever the others have; for one without them CreateContext is ErrLanguage",
			run:    contextsDescribed,
		},
	}
}

// latenessKept stops a program that resists. On a busy machine one of several
// tries has to be in time.
func latenessKept(ctx context.Context, e *env) error {
	late := codeinterp.Describe(e.ci).Lateness
	if late <= 0 {
		return nil
	}
	const timeout = 500 * time.Millisecond
	var err error
	for range busyTries {
		start := time.Now()
		res, runErr := e.runCode(ctx, e.p.Stubborn, &codeinterp.RunOptions{Timeout: timeout})
		took := time.Since(start)
		must(wantStatus(res, runErr, codeinterp.StatusTimeout, codeinterp.ExitTimeout))
		if res.Duration <= timeout+late {
			return nil
		}
		err = fmt.Errorf("the run ended %v after its begin (%v after the call) with a timeout of %v, and Info.Lateness is %v", res.Duration, took, timeout, late)
	}
	return err
}

func limitsEnforced(ctx context.Context, e *env) error {
	limits := codeinterp.Describe(e.ci).Limits
	code := e.p.Print("ran")
	tries := map[string]codeinterp.RunOptions{}
	if limits.Timeout > 0 {
		tries["a Timeout"] = codeinterp.RunOptions{Timeout: limits.Timeout + 1}
	}
	if limits.Output > 0 {
		tries["a MaxOutput"] = codeinterp.RunOptions{MaxOutput: limits.Output + 1}
	}
	for what, o := range tries {
		if err := e.refused(ctx, code, &o); err != nil {
			return fmt.Errorf("%s above the limits %+v: %w", what, limits, err)
		}
	}
	if limits.Code > 0 && limits.Code < codeinterp.MaxCode {
		if err := e.refused(ctx, code+"\n"+strings.Repeat(" ", limits.Code), nil); err != nil {
			return fmt.Errorf("code above the limits %+v: %w", limits, err)
		}
	}
	return nil
}

func contextsDescribed(ctx context.Context, e *env) error {
	st, ok := codeinterp.Stateful(e.ci)
	some := false
	for _, l := range codeinterp.Describe(e.ci).Languages {
		some = some || l.Contexts
		if !ok || l.Contexts && !slices.Contains(e.s.languages, l.Name) {
			continue // a runtime that is not tested may be dear to start
		}
		id, err := st.CreateContext(ctx, l.Name, nil)
		switch {
		case l.Contexts && err != nil:
			return fmt.Errorf("CreateContext in %s, which has contexts by Describe: %w", l.Name, err)
		case l.Contexts:
			must(about("DeleteContext", st.DeleteContext(ctx, id)))
		default:
			if wrong := wantContextError(id, err, codeinterp.ErrLanguage); wrong != nil {
				return fmt.Errorf("CreateContext in %s, which has no contexts by Describe: %w", l.Name, wrong)
			}
		}
	}
	if some != ok {
		return errors.New("Describe tells of contexts in some language exactly where the value has none")
	}
	return nil
}

func hasCompletions(ci codeinterp.CodeInterpreter) bool {
	_, ok := codeinterp.Completions(ci)
	return ok
}

func completeChecks() []check {
	return []check{{
		name: "CompletesNames", scope: stateful, uses: func(p *Programs) bool { return variables(p) && p.Partial != nil },
		clause: "Complete says what stands for the beginning of a variable's name, in the context that has it and in no other, and leaves the state as it is",
		run: func(ctx context.Context, e *env) error {
			if !e.completes() {
				return nil
			}
			return completesNames(ctx, e)
		},
	}}
}

// completes reports whether code of the language can be completed.
func (e *env) completes() bool {
	return slices.ContainsFunc(codeinterp.Describe(e.ci).Languages, func(l codeinterp.LanguageInfo) bool {
		return l.Name == e.language && l.Completion
	})
}

// complete completes code at its end. A kernel that is at work for others may need
// a few tries.
func (e *env) complete(ctx context.Context, id codeinterp.ContextID, code string) (codeinterp.Completion, error) {
	of, ok := codeinterp.Completions(e.ci)
	if !ok {
		return codeinterp.Completion{}, fmt.Errorf("%T has no Completions, and Describe says it has", e.ci)
	}
	for tries := 0; ; tries++ {
		c, err := of.Complete(ctx, id, code, len(code))
		if tries < 10 && errors.Is(err, codeinterp.ErrUnavailable) {
			continue
		}
		return c, err
	}
}

// completed returns the code with each of its matches.
func completed(code string, c codeinterp.Completion) (list []string) {
	for _, m := range c.Matches {
		list = append(list, code[:c.Start]+m+code[c.End:])
	}
	return list
}

const completedName, otherName = "toolcell_completed_name", "toolcell_completed_other"

func completesNames(ctx context.Context, e *env) error {
	id := need(e.context(ctx, nil))
	other := need(e.context(ctx, nil))
	first, err := e.runIn(ctx, id, e.p.Set(completedName, "v"), nil)
	must(errors.Join(wantOK(first, err), e.do(ctx, other, e.p.Set(otherName, "v"))))
	code := e.p.Partial("toolcell_compl")
	c, err := e.complete(ctx, id, code)
	if err != nil {
		return fmt.Errorf("Complete: %w", err)
	}
	if c.Start < 0 || c.Start > len(code) || c.End != len(code) || len(c.Matches) == 0 {
		return fmt.Errorf("%q is completed as %+v", code, c)
	}
	if list := completed(code, c); !slices.Equal(list, []string{e.p.Partial(completedName)}) {
		return fmt.Errorf("%q is completed to %q, want %q", code, list, e.p.Partial(completedName))
	}
	if c, err := e.complete(ctx, id, e.p.Partial("toolcell_nothing_like_it")); err != nil || len(c.Matches) > 0 {
		return fmt.Errorf("what nothing completes is completed as %+v, %w", c, err)
	}
	res, err := e.runIn(ctx, id, e.p.Get(completedName), nil)
	must(wantOK(res, err))
	if want := first.ExecutionCount + 1; !e.s.cfg.lacks(ExecutionCount, e.language) && res.ExecutionCount != want {
		return fmt.Errorf("the run after it has number %d, want %d", res.ExecutionCount, want)
	}
	if res.StateLost || len(res.Stderr()) > 0 {
		return fmt.Errorf("the run after it: %s", describe(res))
	}
	return wantText("the variable", res.Stdout(), "v\n")
}
