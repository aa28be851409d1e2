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
	ctx      context.Context // of the check, or of a part of it; see with
	where    string          // for reports: group and check
	ci       codeinterp.CodeInterpreter
	own      bool
	language string
	p        *Programs
	way      way
	made     *[]codeinterp.ContextID
}

// env returns the environment of a check.
func (s *suite) env(ctx context.Context, g group, c check) (*env, error) {
	p := s.programs[g.language]
	e := &env{s: s, ctx: ctx, where: g.name() + "/" + c.name, language: g.language, p: &p, way: g.way, own: c.own, made: new([]codeinterp.ContextID)}
	var err error
	if !c.own {
		e.ci, err = s.interpreter()
	} else if e.ci, err = s.cfg.New(); err != nil {
		err = fmt.Errorf("Config.New: %w", err)
	}
	return e, err
}

// close removes what the check made.
func (e *env) close() error {
	if e.own {
		return e.ci.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.s.cfg.Timeout)
	defer cancel()
	for _, id := range *e.made {
		if err := e.stateful().DeleteContext(ctx, id); err != nil && !errors.Is(err, codeinterp.ErrContext) {
			return fmt.Errorf("DeleteContext after the check: %w", err)
		}
	}
	return nil
}

// with returns e with another ctx.
func (e *env) with(ctx context.Context) *env {
	other := *e
	other.ctx = ctx
	return &other
}

// errStop is why a check ends a ctx.
var errStop = errors.New("the caller changed its mind")

// stoppable returns e with a ctx that stop ends by errStop.
func (e *env) stoppable() (other *env, stop func()) {
	ctx, cancel := context.WithCancelCause(e.ctx)
	return e.with(ctx), func() { cancel(errStop) }
}

// ended returns e with a ctx that has ended by errStop.
func (e *env) ended() *env {
	other, stop := e.stoppable()
	stop()
	return other
}

// stateful returns the interpreter's context methods. Only checks of scope
// stateful use it.
func (e *env) stateful() codeinterp.StatefulInterpreter {
	st, ok := codeinterp.Stateful(e.ci)
	if !ok {
		failf("%T is no StatefulInterpreter, and Config.Stateful is set", e.ci)
	}
	return st
}

// manager is like stateful.
func (e *env) manager() codeinterp.ContextManager {
	m, ok := codeinterp.Manager(e.ci)
	if !ok {
		failf("%T is no ContextManager, and Manager is not in Config.Lacks", e.ci)
	}
	return m
}

func (e *env) lacks(f Feature) bool { return e.s.cfg.lacks(f, e.language) }

// info is what Describe says of the language.
func (e *env) info() codeinterp.LanguageInfo {
	for _, l := range codeinterp.Describe(e.ci).Languages {
		if l.Name == e.language {
			return l
		}
	}
	return codeinterp.LanguageInfo{}
}

// patience is how late an interpreter may be.
func (e *env) patience() time.Duration { return e.s.cfg.Patience }

// timeout returns a timeout of d for a run that is to print before: d and three
// times what a small run takes here and now.
func (e *env) timeout(d time.Duration) time.Duration { return d + 3*e.pace() }

// pace is how long a small run took here the first time that it was asked.
func (e *env) pace() time.Duration {
	g := group{e.language, e.way}
	if _, ok := e.s.pace[g]; !ok {
		start := time.Now()
		e.ok(e.p.Print("x"), nil)
		e.s.pace[g] = time.Since(start)
	}
	return e.s.pace[g]
}

// context creates a context that is deleted after the check.
func (e *env) context(opts *codeinterp.ContextOptions) codeinterp.ContextID {
	id, err := e.stateful().CreateContext(e.ctx, e.language, opts)
	if err != nil {
		failf("CreateContext: %w", err)
	}
	*e.made = append(*e.made, id)
	return id
}

// shared returns a context that checks share, in an unknown state.
func (e *env) shared() codeinterp.ContextID {
	if e.own { // the suite's contexts are another interpreter's
		if len(*e.made) == 0 {
			return e.context(nil)
		}
		return (*e.made)[0]
	}
	id, ok := e.s.contexts[e.language]
	if !ok {
		var err error
		if id, err = e.stateful().CreateContext(e.ctx, e.language, nil); err != nil {
			failf("CreateContext: %w", err)
		}
		e.s.contexts[e.language] = id
	}
	return id
}

// place returns the group's place to run code: the shared context, or none for
// RunCode.
func (e *env) place() codeinterp.ContextID {
	if e.way != inContextWay {
		return ""
	}
	return e.shared()
}

// run runs code the group's way.
func (e *env) run(code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return e.runIn(e.place(), code, opts)
}

// runIn runs code in a context, or by RunCode if id is empty, watched.
func (e *env) runIn(id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return e.watch(code, opts, func(opts *codeinterp.RunOptions) (codeinterp.Result, error) {
		if id == "" {
			return e.ci.RunCode(e.ctx, e.language, code, opts)
		}
		return e.stateful().RunInContext(e.ctx, id, code, opts)
	})
}

// ok runs code the group's way, and wants it to end normally.
func (e *env) ok(code string, opts *codeinterp.RunOptions) codeinterp.Result {
	return e.okIn(e.place(), code, opts)
}

// okIn is ok in a context.
func (e *env) okIn(id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) codeinterp.Result {
	res, err := e.runIn(id, code, opts)
	about("running "+quote(code), func() { wantOK(res, err) })
	return res
}

// stdout runs code in a context, wants it to end normally, and returns what it printed.
func (e *env) stdout(id codeinterp.ContextID, code string) string {
	res := e.okIn(id, code, nil)
	return res.Stdout()
}

// prints wants code to end normally, and to have printed text.
func (e *env) prints(what, code, text string, opts *codeinterp.RunOptions) {
	res := e.ok(code, opts)
	wantText(what, res.Stdout(), text)
}

// printsIn is prints in a context.
func (e *env) printsIn(id codeinterp.ContextID, what, code, text string) {
	wantText(what, e.stdout(id, code), text)
}
