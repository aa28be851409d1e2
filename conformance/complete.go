package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func hasCompletions(ci codeinterp.CodeInterpreter) bool {
	_, ok := codeinterp.Completions(ci)
	return ok
}

func completeChecks() []check {
	list := []check{
		{
			name:   "CompletionsTold",
			clause: "an interpreter has Completions exactly if Describe says so of a language that has contexts",
			run: func(_ context.Context, e *env) error {
				said := slices.ContainsFunc(codeinterp.Describe(e.ci).Languages, func(l codeinterp.LanguageInfo) bool { return l.Completion && l.Contexts })
				if got := hasCompletions(e.ci); got != said {
					return fmt.Errorf("%T has Completions: %v, and Describe says %v", e.ci, got, said)
				}
				return nil
			},
		},
		{
			name:   "CompletesNames",
			clause: "Complete says what stands for the beginning of a variable's name, in the context that has it and in no other, and leaves the state as it is",
			run:    completesNames,
		},
		{
			name:   "CompleteBusy",
			clause: "Complete fails with ErrCapacity at once while a run is in progress, which goes on",
			run:    completeBusy,
		},
		{
			name:   "CompleteRefuses",
			clause: "Complete refuses a cursor that is not between two characters (ErrInvalid), an ended ctx (its cause) and a context that is gone (ErrContext)",
			run:    completeRefuses,
		},
	}
	for i := range list[1:] {
		c := &list[i+1]
		c.scope, c.uses = stateful, func(p *Programs) bool { return variables(p) && p.Partial != nil }
		run := c.run
		c.run = func(ctx context.Context, e *env) error {
			if !e.completes() {
				return nil
			}
			return run(ctx, e)
		}
	}
	return list
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
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	other, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	first, err := e.runIn(ctx, id, e.p.Set(completedName, "v"), nil)
	if err := errors.Join(wantOK(first, err), e.do(ctx, other, e.p.Set(otherName, "v"))); err != nil {
		return err
	}
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
	if err := wantOK(res, err); err != nil {
		return err
	}
	if want := first.ExecutionCount + 1; !e.s.cfg.lacks(ExecutionCount, e.language) && res.ExecutionCount != want {
		return fmt.Errorf("the run after it has number %d, want %d", res.ExecutionCount, want)
	}
	if res.StateLost || len(res.Stderr()) > 0 {
		return fmt.Errorf("the run after it: %s", describe(res))
	}
	return wantText("the variable", res.Stdout(), "v\n")
}

// completeBusy tries again with a longer run where the run may have ended before
// Complete was called, which a busy machine can put off.
func completeBusy(ctx context.Context, e *env) error {
	for _, pause := range []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second} {
		if told, err := completeDuring(ctx, e, pause); told || err != nil {
			return err
		}
	}
	return errors.New("Complete waited for the run")
}

// completeDuring reports whether it is told that Complete does not wait for a run.
func completeDuring(ctx context.Context, e *env, pause time.Duration) (told bool, err error) {
	id, run, err := e.busy(ctx, lines(e.p.Pause(pause), e.p.Print("end")))
	if err != nil {
		return false, err
	}
	of, _ := codeinterp.Completions(e.ci)
	if of == nil {
		return false, errors.New("no Completions")
	}
	code := e.p.Partial("toolcell_compl")
	c, err := of.Complete(ctx, id, code, len(code))
	early := true
	select {
	case <-run.done:
		early = false
	default:
	}
	if err := run.wait(2 * e.patience()); err != nil {
		return false, err
	}
	if early && !errors.Is(err, codeinterp.ErrCapacity) {
		return false, fmt.Errorf("Complete during a run: %+v, %w; want ErrCapacity", c, err)
	}
	if err := wantOK(run.res, run.err); err != nil {
		return false, err
	}
	return early || err != nil, wantText("stdout", run.res.Stdout(), "busyend")
}

func completeRefuses(ctx context.Context, e *env) error {
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	of, _ := codeinterp.Completions(e.ci)
	if of == nil {
		return errors.New("no Completions")
	}
	for _, cursor := range []int{-1, 1, 3} {
		if _, err := of.Complete(ctx, id, "é", cursor); !errors.Is(err, codeinterp.ErrInvalid) {
			return fmt.Errorf("a cursor at %d of \"é\": %v, want ErrInvalid", cursor, err)
		}
	}
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errStop)
	if _, err := of.Complete(ended, id, "", 0); !errors.Is(err, errStop) {
		return fmt.Errorf("a ctx that has ended: %v, want its cause", err)
	}
	if err := e.stateful().DeleteContext(ctx, id); err != nil {
		return err
	}
	if _, err := of.Complete(ctx, id, "", 0); !errors.Is(err, codeinterp.ErrContext) {
		return fmt.Errorf("a deleted context: %v, want ErrContext", err)
	}
	return nil
}
