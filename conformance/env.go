package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// An env is what a check works with: an interpreter, a language and its
// programs. What it creates is removed when the check ends.
type env struct {
	s        *suite
	where    string // for reports: group and check
	ci       codeinterp.CodeInterpreter
	own      bool
	language string
	p        *Programs
	way      way
	made     []codeinterp.ContextID
}

// env returns the environment of a check.
func (s *suite) env(g group, c check) (*env, error) {
	p := s.programs[g.language]
	e := &env{s: s, where: g.name() + "/" + c.name, language: g.language, p: &p, way: g.way, own: c.own}
	var err error
	if c.own {
		if e.ci, err = s.cfg.New(); err != nil {
			return nil, fmt.Errorf("Config.New: %w", err)
		}
		return e, nil
	}
	e.ci, err = s.interpreter()
	return e, err
}

// close removes what the check made.
func (e *env) close() error {
	if e.own {
		return e.ci.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.s.cfg.Timeout)
	defer cancel()
	for _, id := range e.made {
		if err := e.stateful().DeleteContext(ctx, id); err != nil && !errors.Is(err, codeinterp.ErrContext) {
			return fmt.Errorf("DeleteContext after the check: %w", err)
		}
	}
	return nil
}

// stateful returns the interpreter's context methods. Only checks of scope
// stateful use it; where the provider lacks what it was declared to have, the
// panic is reported by the check.
func (e *env) stateful() codeinterp.StatefulInterpreter {
	st, ok := codeinterp.Stateful(e.ci)
	if !ok {
		panic(fmt.Sprintf("%T is no StatefulInterpreter, and Config.Stateful is set", e.ci))
	}
	return st
}

// manager is like stateful.
func (e *env) manager() codeinterp.ContextManager {
	m, ok := codeinterp.Manager(e.ci)
	if !ok {
		panic(fmt.Sprintf("%T is no ContextManager, and Manager is not in Config.Lacks", e.ci))
	}
	return m
}

// patience is how late an interpreter may be.
func (e *env) patience() time.Duration { return e.s.cfg.Patience }

// timeout returns a timeout of d for a run that is to print before: d and three
// times what a small run takes here and now.
func (e *env) timeout(ctx context.Context, d time.Duration) (time.Duration, error) {
	pace, err := e.pace(ctx)
	return d + 3*pace, err
}

// pace is how long a small run took here the first time that it was asked.
func (e *env) pace(ctx context.Context) (time.Duration, error) {
	g := group{e.language, e.way}
	if _, ok := e.s.pace[g]; !ok {
		start := time.Now()
		if _, err := e.stdout(ctx, e.p.Print("x"), nil); err != nil {
			return 0, err
		}
		e.s.pace[g] = time.Since(start)
	}
	return e.s.pace[g], nil
}

// context creates a context that is deleted after the check.
func (e *env) context(ctx context.Context, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	id, err := e.stateful().CreateContext(ctx, e.language, opts)
	if err != nil {
		return "", fmt.Errorf("CreateContext: %w", err)
	}
	e.made = append(e.made, id)
	return id, nil
}

// shared returns a context that checks share, in an unknown state.
func (e *env) shared(ctx context.Context) (codeinterp.ContextID, error) {
	// The suite's contexts are another interpreter's.
	if e.own {
		if len(e.made) == 0 {
			return e.context(ctx, nil)
		}
		return e.made[0], nil
	}
	if id, ok := e.s.contexts[e.language]; ok {
		return id, nil
	}
	id, err := e.stateful().CreateContext(ctx, e.language, nil)
	if err != nil {
		return "", fmt.Errorf("CreateContext: %w", err)
	}
	e.s.contexts[e.language] = id
	return id, nil
}

// run runs code the group's way: by RunCode, or in the shared context.
func (e *env) run(ctx context.Context, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if e.way != inContextWay {
		return e.runCode(ctx, code, opts)
	}
	id, err := e.shared(ctx)
	if err != nil {
		return codeinterp.Result{}, err
	}
	return e.runIn(ctx, id, code, opts)
}

// runCode runs code by RunCode, watched.
func (e *env) runCode(ctx context.Context, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return e.watch(code, opts, "", func(opts *codeinterp.RunOptions) (codeinterp.Result, error) {
		return e.ci.RunCode(ctx, e.language, code, opts)
	})
}

// runIn runs code in a context, watched.
func (e *env) runIn(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return e.watch(code, opts, id, func(opts *codeinterp.RunOptions) (codeinterp.Result, error) {
		return e.stateful().RunInContext(ctx, id, code, opts)
	})
}

// stdout runs code the group's way, wants it to end normally, and returns what
// it printed.
func (e *env) stdout(ctx context.Context, code string, opts *codeinterp.RunOptions) (string, error) {
	res, err := e.run(ctx, code, opts)
	if err = wantOK(res, err); err != nil {
		return "", fmt.Errorf("running %s: %w", quote(code), err)
	}
	return res.Stdout(), nil
}

// stdoutIn is stdout in a given context.
func (e *env) stdoutIn(ctx context.Context, id codeinterp.ContextID, code string) (string, error) {
	res, err := e.runIn(ctx, id, code, nil)
	if err = wantOK(res, err); err != nil {
		return "", fmt.Errorf("running %s: %w", quote(code), err)
	}
	return res.Stdout(), nil
}

// do runs code in a context and wants it to end normally.
func (e *env) do(ctx context.Context, id codeinterp.ContextID, code string) error {
	_, err := e.stdoutIn(ctx, id, code)
	return err
}
