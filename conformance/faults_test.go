package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/race"
)

// A fault is a provider that breaks the contract in one way.
type fault struct {
	name string
	want string // the check that has to notice
	also string // further checks that cannot but notice too, or may
	wrap func(codeinterp.CodeInterpreter) codeinterp.CodeInterpreter

	stateless bool // break a stateless provider
	real      bool // needs the real clock
	suite     func(*suite)
	lacks     []Feature
	clean     func() // ends what was leaked, so that no other fault sees it
}

// faults of one concern, which a process of their own tries
var (
	faultsOfRuns     = slices.Concat(presenceFaults(), inputFaults(), outcomeFaults(), streamFaults(), callbackFaults(), outputFaults(), describedFaults(), seenFaults(), offeredFaults(), endedFaults(), flowFaults(), boundsFaults(), watchedFaults())
	faultsOfStops    = slices.Concat(stopFaults(), awayFaults(), surroundingsFaults(), reachFaults(), stoppedFaults(), toldFaults())
	faultsOfContexts = slices.Concat(contextFaults(), managerFaults(), closeFaults(), lifecycleFaults(), momentFaults(), identityFaults(), invariantFaults(), hammerFaults(), modelFaults(), apartFaults(), namedFaults())
	faultsOfGroups   = slices.Concat(functionFaults(), fileFaults(), oddFileFaults(), artifactFaults(), commandFaults(), completeFaults(), givenFaults(), calledFaults())
)

func faults() []fault {
	return slices.Concat(faultsOfRuns, faultsOfStops, faultsOfContexts, faultsOfGroups)
}

// heavy checks are tried only with the faults that they are there for.
var heavy = []string{"LimitDefault", "LimitOff", "HugeOutput", "LossTold", "FloodBounded", "LongCode", "InvalidCode", "GeneratedPrograms", "HammerTiny", "HammerTinyContexts", "LeakGoroutines", "LeakFiles",
	"EndedBeforeTimeout", "FunctionLoop", "FunctionLarge", "FunctionsTogether", "FunctionsOfOthers", "FunctionsOfContext",
	"LeakProcesses", "LeakContexts", "CommandChildren", "StoppedCodeIsDead", "ChildrenEndWithRun", "ChildrenEndWithTimeout", "ChildrenEndWithContext"}

// Each fault is to be noticed by the check that is there for it, and by no other
// than those that cannot but notice, which are not tried with -short. The score is
// logged.
func TestFaultsOfRuns(t *testing.T)     { tryFaults(t, faultsOfRuns) }
func TestFaultsOfStops(t *testing.T)    { tryFaults(t, faultsOfStops) }
func TestFaultsOfContexts(t *testing.T) { tryFaults(t, faultsOfContexts) }
func TestFaultsOfGroups(t *testing.T)   { tryFaults(t, faultsOfGroups) }

// The race detector sees what it sees in a few of them: make test tries all
// without it.
func tryFaults(t *testing.T, faults []fault) {
	if aparttest.Run(t) {
		return
	}
	caught, tried, clauses := 0, 0, map[string]int{}
	defer func() {
		t.Logf("%d of %d broken providers are caught, by %d clauses: %v", caught, tried, len(clauses), clauses)
	}()
	for i, f := range faults {
		if race.Enabled && !race.Full() && i%16 != 0 {
			continue
		}
		t.Run(f.want+"/"+f.name, func(t *testing.T) {
			tried++
			defer func() {
				if !t.Failed() {
					caught++
					clauses[f.want]++
				}
			}()
			if f.clean != nil {
				defer f.clean()
			}
			if f.real {
				tryFault(t, f)
				return
			}
			synctest.Test(t, func(t *testing.T) { tryFault(t, f) })
		})
	}
}

func tryFault(t *testing.T, f fault) {
	n := newToyNet()
	create := func() (codeinterp.CodeInterpreter, error) { return newToyBehind(n) }
	if f.stateless {
		create = newToyStateless
	}
	cfg := toyConfig(func() (codeinterp.CodeInterpreter, error) {
		ci, err := create()
		if f.wrap != nil {
			ci = f.wrap(ci)
		}
		return ci, err
	}, !f.stateless)
	cfg.Lacks = append(cfg.Lacks, f.lacks...)
	cfg.Outage = n.outage
	s, err := newSuite(cfg)
	if err != nil {
		t.Fatal(err)
	}
	// An invariant sees the runs of all checks.
	alone := testing.Short() && !slices.ContainsFunc(invariants, func(i invariant) bool { return i.name == f.want })
	s.all = slices.DeleteFunc(s.all, func(c check) bool {
		return c.name != f.want && (f.real || alone || slices.Contains(heavy, c.name))
	})
	s.announce, s.most = io.Discard, math.MaxInt
	if f.suite != nil {
		f.suite(s)
	}
	noticed := map[string]error{}
	if report, ok := errors.AsType[*Report](s.check(t.Context())); ok {
		for _, failure := range report.Failures {
			noticed[failure.Check] = failure.Err
		}
	}
	if noticed[f.want] == nil {
		t.Errorf("%s did not notice", f.want)
	}
	if !f.real {
		time.Sleep(2 * time.Hour) // what was given up ends by itself
	}
	t.Logf("%s: %v", f.want, noticed[f.want])
	delete(noticed, f.want)
	for name, err := range noticed {
		if !slices.Contains(strings.Fields(f.also), name) {
			t.Errorf("%s noticed too: %v", name, err)
		}
	}
}

// A handler is a fault in the way calls are passed on.
type handler = func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error)

// A wrapper is the wrap of a fault.
type wrapper = func(codeinterp.CodeInterpreter) codeinterp.CodeInterpreter

// calls returns a fault in the way calls are passed on, but for commands. Each
// interpreter has its own middleware.
func calls(mw func() func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error)) wrapper {
	return func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
		handle := mw()
		return codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				if c.Op == codeinterp.OpCommand {
					return next(ctx, c)
				}
				return handle(ctx, c, next)
			}
		})
	}
}

// call is calls without memory.
func call(handle func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error)) wrapper {
	return calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
		return handle
	})
}

// runs returns a fault in the way runs are passed on, with options of its own
// to change.
func runs(handle func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error)) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		if !c.Op.Runs() {
			return next(ctx, c)
		}
		var o codeinterp.RunOptions
		if c.Run != nil {
			o = *c.Run
		}
		c.Run = &o
		return handle(ctx, c, &o, next)
	})
}

// options returns a fault in the options of runs.
func options(change func(c codeinterp.Call, o *codeinterp.RunOptions)) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		change(c, o)
		return next(ctx, c)
	})
}

// results returns a fault in the Results of runs.
func results(change func(c codeinterp.Call, res *codeinterp.Result)) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if c.Op.Runs() && r.Result.Status != codeinterp.StatusNotRun {
			change(c, &r.Result)
		}
		return r, err
	})
}

// outputs returns a fault in what comes out, live and in the Result. The
// function returns what becomes of an output.
func outputs(change func(o codeinterp.Output) []codeinterp.Output) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		if on := o.OnOutput; on != nil {
			o.OnOutput = func(out codeinterp.Output) error {
				var errs []error
				for _, out := range change(out) {
					errs = append(errs, on(out))
				}
				return errors.Join(errs...)
			}
		}
		r, err := next(ctx, c)
		var list []codeinterp.Output
		for _, out := range r.Result.Outputs {
			list = append(list, change(out)...)
		}
		r.Result.Outputs = list
		return r, err
	})
}

// data returns a fault in the bytes of streams.
func data(kind codeinterp.Kind, change func(string) string) wrapper {
	return outputs(func(o codeinterp.Output) []codeinterp.Output {
		if o.Kind == kind {
			o.Data = []byte(change(string(o.Data)))
			if len(o.Data) == 0 {
				return nil
			}
		}
		return []codeinterp.Output{o}
	})
}

// live returns a fault in the calls of OnOutput alone.
func live(change func(on func(codeinterp.Output) error) func(codeinterp.Output) error) wrapper {
	return options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
		if o.OnOutput != nil {
			o.OnOutput = change(o.OnOutput)
		}
	})
}

// refuse answers a call with an error.
func refuse(c codeinterp.Call, err error) (codeinterp.Reply, error) {
	r := codeinterp.Reply{}
	if c.Op.Runs() {
		r.Result = codeinterp.NotRun()
	}
	return r, toyErr(c.Op.String(), err)
}

// A seen remembers things by name.
type seen struct {
	mu sync.Mutex
	m  map[string]int
}

func (s *seen) count(format string, args ...any) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[string]int{}
	}
	name := fmt.Sprintf(format, args...)
	s.m[name]++
	return s.m[name]
}

func (s *seen) has(format string, args ...any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[fmt.Sprintf(format, args...)] > 0
}
