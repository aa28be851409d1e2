package conformance

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
)

// A mutant breaks the contract in one way, which one clause is there to notice.
type mutant struct {
	clause string
	wrap   func(codeinterp.CodeInterpreter) codeinterp.CodeInterpreter

	stateless bool
	real      bool // needs the real clock
}

func mutants() []mutant {
	return slices.Concat(inputMutants(), outcomeMutants(), outputMutants(), stopMutants(), contextMutants(), lifecycleMutants(),
		fileMutants(), functionMutants(), reachMutants(), leakMutants(), invariantMutants())
}

// TestMutants: each clause notices its mutant. Those of invariants, for which many
// checks run, and those that need the real clock are tried with tag full.
func TestMutants(t *testing.T) {
	for _, m := range mutants() {
		if !tier.Full && (m.real || m.invariant()) {
			continue
		}
		t.Run(m.clause, func(t *testing.T) {
			if m.real {
				m.try(t)
				return
			}
			synctest.Test(t, m.try)
		})
	}
}

// TestEveryClauseHasAMutant: a check that was never seen to fail proves nothing.
func TestEveryClauseHasAMutant(t *testing.T) {
	left := map[string]bool{}
	for _, c := range Clauses() {
		if left[c.Check] || c.Text == "" {
			t.Errorf("%s: a second clause of that name, or one without text", c.Check)
		}
		left[c.Check] = true
	}
	for _, m := range mutants() {
		if !left[m.clause] {
			t.Errorf("a mutant for %s, which is no clause, or has one already", m.clause)
		}
		delete(left, m.clause)
	}
	for name := range left {
		t.Errorf("no mutant for %s", name)
	}
}

func (m mutant) invariant() bool {
	return slices.ContainsFunc(invariants, func(i invariant) bool { return i.name == m.clause })
}

func (m mutant) try(t *testing.T) {
	defer release()
	create := newToyStateful
	if m.stateless {
		create = newToyStateless
	}
	s, err := newSuite(toyConfig(func() (codeinterp.CodeInterpreter, error) {
		ci, err := create()
		return m.wrap(ci), err
	}, !m.stateless))
	if err != nil {
		t.Fatal(err)
	}
	// An invariant sees the runs of all checks; these take the longest.
	long := regexp.MustCompile("^(Hammer|Huge|Flood|Leak|Generated|Children|Command|LossReported|StoppedCodeIsDead)")
	s.all = slices.DeleteFunc(s.all, func(c check) bool {
		return !m.invariant() && c.name != m.clause || m.invariant() && long.MatchString(c.name)
	})
	found := s.failures(t.Context())
	if !slices.ContainsFunc(found, func(f failure) bool { return f.check == m.clause }) {
		t.Errorf("%s did not notice: %v", m.clause, found)
	}
	if !m.real {
		time.Sleep(2 * time.Hour) // what hangs ends by itself
	}
}

type (
	wrapper  = func(codeinterp.CodeInterpreter) codeinterp.CodeInterpreter
	handler  = func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error)
	callback = func(codeinterp.Output) error
)

// calls changes the way in which calls are passed on. Runs get options of their own.
func calls(handle handler) wrapper {
	return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		return codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				if c.Op.Runs() {
					o := codeinterp.RunOptions{}
					if c.Run != nil {
						o = *c.Run
					}
					c.Run = &o
				}
				return handle(ctx, c, next)
			}
		})
	}
}

// on changes one operation.
func on(op codeinterp.Op, handle handler) wrapper {
	return calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op != op {
			return next(ctx, c)
		}
		return handle(ctx, c, next)
	})
}

// after changes what one operation returns.
func after(op codeinterp.Op, change func(*codeinterp.Reply, *error)) wrapper {
	return on(op, func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		change(&r, &err)
		return r, err
	})
}

// before changes runs before they begin.
func before(change func(*codeinterp.Call)) wrapper {
	return calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Op.Runs() {
			change(&c)
		}
		return next(ctx, c)
	})
}

// replaced changes the text of programs.
func replaced(old, text string) wrapper {
	return before(func(c *codeinterp.Call) { c.Code = strings.Replace(c.Code, old, text, 1) })
}

// ends changes how runs end.
func ends(change func(codeinterp.Call, *codeinterp.Result, *error)) wrapper {
	return calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if c.Op.Runs() && r.Result.Status != codeinterp.StatusNotRun {
			change(c, &r.Result, &err)
		}
		return r, err
	})
}

// results changes the Results of runs.
func results(change func(*codeinterp.Result)) wrapper {
	return ends(func(_ codeinterp.Call, r *codeinterp.Result, _ *error) { change(r) })
}

// at changes the Results of runs that ended in one way.
func at(status codeinterp.Status, change func(*codeinterp.Result)) wrapper {
	return results(func(r *codeinterp.Result) {
		if r.Status == status {
			change(r)
		}
	})
}

// because changes the Results of runs that ended for one cause.
func because(cause codeinterp.Cause, change func(*codeinterp.Result)) wrapper {
	return results(func(r *codeinterp.Result) {
		if r.Cause == cause {
			change(r)
		}
	})
}

// errorsOf changes the errors of programs.
func errorsOf(change func(*codeinterp.ProgramError)) wrapper {
	return results(func(r *codeinterp.Result) {
		if r.Error != nil {
			change(r.Error)
		}
	})
}

// live changes the calls of OnOutput.
func live(change func(next callback) callback) wrapper {
	return before(func(c *codeinterp.Call) {
		if c.Run.OnOutput != nil {
			c.Run.OnOutput = change(c.Run.OnOutput)
		}
	})
}

// outputs changes the outputs of one kind, live and in the Result.
func outputs(kind codeinterp.Kind, change func(*codeinterp.Output)) wrapper {
	return calls(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if c.Run != nil && c.Run.OnOutput != nil {
			on := c.Run.OnOutput
			c.Run.OnOutput = func(o codeinterp.Output) error {
				if o.Kind == kind {
					change(&o)
				}
				return on(o)
			}
		}
		r, err := next(ctx, c)
		for i := range r.Result.Outputs {
			if o := &r.Result.Outputs[i]; o.Kind == kind {
				change(o)
			}
		}
		return r, err
	})
}

// data changes what is written to standard output.
func data(change func(string) string) wrapper {
	return outputs(codeinterp.Stdout, func(o *codeinterp.Output) { o.Data = []byte(change(string(o.Data))) })
}

// describes changes what Describe says.
func describes(change func(*codeinterp.Info)) wrapper {
	return after(codeinterp.OpDescribe, func(r *codeinterp.Reply, _ *error) {
		if info, ok := r.Value.(codeinterp.Info); ok {
			info.Languages = slices.Clone(info.Languages)
			change(&info)
			r.Value = info
		}
	})
}

// fails answers a call with an error.
func fails(c codeinterp.Call, err error) (codeinterp.Reply, error) {
	r := codeinterp.Reply{}
	if c.Op.Runs() {
		r.Result = codeinterp.NotRun()
	}
	return r, toyErr(c.Op.String(), err)
}

// uses reports whether a program has a command.
func uses(c codeinterp.Call, command string) bool {
	return c.Op.Runs() && strings.Contains("\n"+c.Code+" ", "\n"+command)
}

// A counter counts calls.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

// What mutants leave behind, until release.
var (
	leftMu sync.Mutex
	left   []func()
	hoard  [][]byte
)

func leave(end func()) {
	leftMu.Lock()
	defer leftMu.Unlock()
	left = append(left, end)
}

func release() {
	leftMu.Lock()
	defer leftMu.Unlock()
	for _, end := range left {
		end()
	}
	left, hoard = nil, nil
}
