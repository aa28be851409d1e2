package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func apartChecks() []check {
	return []check{
		{
			name:   "EndsApart",
			clause: "what ends a run of one context, or the context, takes nothing from another: neither the run in progress there nor the state, and StateLost is not told there",
			scope:  stateful,
			uses:   variables,
			run:    endsApart,
		},
		{
			name:   "ContextsOfLanguages",
			clause: "contexts of several languages live side by side, and each runs its own",
			run:    contextsOfLanguages,
		},
	}
}

// endsApart ends runs of one context in every way, beside a run in another, which
// it ends at last.
func endsApart(ctx context.Context, e *env) error {
	ids, err := e.contexts(ctx, 2)
	if err != nil {
		return err
	}
	if err := e.do(ctx, ids[0], e.p.Set("apart", "v")); err != nil {
		return err
	}
	if m, ok := codeinterp.Manager(e.ci); ok {
		if err := m.RestartContext(ctx, ids[1]); err != nil { // while both are idle
			return fmt.Errorf("RestartContext: %w", err)
		}
	}
	runCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	_, kept, err := e.busyIn(runCtx, ids[0], e.p.Pause(time.Hour))
	if err != nil {
		return err
	}
	for _, how := range e.endings(ids[1]) {
		if err := e.endBeside(ctx, ids[1], how); err != nil {
			return fmt.Errorf("%s: %w", how.name, err)
		}
		select {
		case <-kept.done:
			return fmt.Errorf("the run of another context ended by %s: %s, error %v", how.name, describe(kept.res), kept.err)
		default:
		}
	}
	end(errStop)
	if err := kept.wait(2 * e.patience()); err != nil {
		return err
	}
	if err := wantErr(kept.res, kept.err, errStop, codeinterp.StatusCanceled, codeinterp.ExitCanceled); err != nil {
		return fmt.Errorf("the run of another context: %w", err)
	}
	if err := e.wantTold(ctx, ids[0], "apart", kept.res); err != nil {
		return fmt.Errorf("the state of another context: %w", err)
	}
	return nil
}

// An ending is a way in which a run ends that another is beside.
type ending struct {
	name string
	code string
	opts *codeinterp.RunOptions
	end  func(context.Context) error // nil where the run ends by itself
}

// endings lists how runs of a context end, the last of which ends it too.
func (e *env) endings(id codeinterp.ContextID) []ending {
	wait := e.p.Pause(time.Hour)
	var list []ending
	if m, ok := codeinterp.Manager(e.ci); ok {
		list = append(list,
			ending{name: "InterruptContext", code: wait, end: func(ctx context.Context) error { return m.InterruptContext(ctx, id) }},
			ending{name: "RestartContext", code: wait, end: func(ctx context.Context) error { return m.RestartContext(ctx, id) }})
	}
	if !e.s.cfg.Thrifty { // a kill may take a while, and the start of what comes in its place
		if e.p.Stubborn != "" {
			list = append(list, ending{name: "a timeout", code: e.p.Stubborn, opts: &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}})
		}
		if e.p.KillSelf != "" && !e.s.cfg.lacks(Processes, e.language) {
			list = append(list, ending{name: "a signal", code: e.p.KillSelf})
		}
	}
	return append(list, ending{name: "DeleteContext", code: wait, end: func(ctx context.Context) error { return e.stateful().DeleteContext(ctx, id) }})
}

// endBeside makes a run and ends it. How it ends is for other clauses to judge.
func (e *env) endBeside(ctx context.Context, id codeinterp.ContextID, how ending) error {
	if how.end == nil {
		_, err := e.runIn(ctx, id, how.code, how.opts)
		return err
	}
	_, run, err := e.busyIn(ctx, id, how.code)
	if err != nil {
		return err
	}
	return errors.Join(how.end(ctx), run.wait(2*e.patience()))
}

// contextsOfLanguages makes all contexts before it runs anything.
func contextsOfLanguages(ctx context.Context, e *env) error {
	if !hasContexts(e.ci) || len(e.s.languages) < 2 {
		return nil
	}
	languages := e.s.languages[:min(len(e.s.languages), 3)]
	var ids []codeinterp.ContextID
	for _, language := range languages {
		id, err := e.stateful().CreateContext(ctx, language, nil)
		if err != nil {
			return fmt.Errorf("CreateContext in %s: %w", language, err)
		}
		e.made = append(e.made, id)
		ids = append(ids, id)
	}
	told := map[codeinterp.ContextID]string{}
	if m, ok := codeinterp.Manager(e.ci); ok {
		list, err := m.ListContexts(ctx)
		if err != nil {
			return fmt.Errorf("ListContexts: %w", err)
		}
		for _, info := range list {
			told[info.ID] = info.Language
		}
	}
	for i, id := range ids {
		p := e.s.programs[languages[i]]
		out, err := e.stdoutIn(ctx, id, lines(p.Comment, p.Print("of "+languages[i])))
		if err := errors.Join(err, wantText("stdout", out, "of "+languages[i])); err != nil {
			return fmt.Errorf("a context of %s beside others: %w", languages[i], err)
		}
		if len(told) > 0 && told[id] != languages[i] {
			return fmt.Errorf("ListContexts tells %q of a context of %s", told[id], languages[i])
		}
	}
	return nil
}
