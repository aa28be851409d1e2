package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Config describes the provider under test.
type Config struct {
	// New returns a new interpreter. The suite calls it many times, and
	// closes what it returns.
	New func() (codeinterp.CodeInterpreter, error)

	// Stateful says whether New's values are to have the context methods.
	Stateful bool

	// Lacks lists what the provider cannot do; see [Feature].
	Lacks []Feature

	// Languages are the languages to try; empty means all of the provider's
	// that there are programs for.
	Languages []string

	// Programs adds languages, or replaces the suite's own programs for one;
	// start from [ProgramsFor] to change a few.
	Programs map[string]Programs

	// Timeout is how long one case may take before it is given up; zero
	// means two minutes.
	Timeout time.Duration

	// Patience is how late an interpreter may be before that counts as a
	// failure: in starting an empty state, and in ending a run that was told
	// to stop. Zero means 10 seconds. It is a bound against hanging, and costs
	// nothing where the provider is prompt.
	Patience time.Duration

	// Thrifty is for providers whose states take long to start: contexts are
	// shared between clauses, and what holds for RunCode and RunInContext
	// alike is tried in contexts only.
	Thrifty bool
}

const (
	defaultTimeout  = 2 * time.Minute
	defaultPatience = 10 * time.Second
)

// Run checks the provider, one subtest per clause.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	s, err := newSuite(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, g := range s.groups() {
		t.Run(g.name(), func(t *testing.T) {
			for _, c := range s.checks(g) {
				t.Run(c.name, func(t *testing.T) {
					if reason := s.exempt(g, c); reason != "" {
						t.Skip(reason)
					}
					if err := s.try(t.Context(), g, c); err != nil {
						t.Error(report(c.clause, err))
					}
				})
			}
		})
	}
	t.Run("invariants", func(t *testing.T) {
		for _, inv := range invariants {
			t.Run(inv.name, func(t *testing.T) {
				for _, err := range s.broken(inv.name) {
					t.Error(report(inv.clause, err))
				}
			})
		}
	})
}

// Check is Run without a testing.T. It returns nil or a [*Report]. Ending ctx
// ends the check, and what was not tried by then counts as failed.
func Check(ctx context.Context, cfg Config) error {
	s, err := newSuite(cfg)
	if err != nil {
		return &Report{Tried: 1, Failures: []Failure{{Check: "New", Clause: "New returns an interpreter", Err: err}}}
	}
	return s.check(ctx)
}

// check tries everything and closes the suite.
func (s *suite) check(ctx context.Context) error {
	var r Report
	for _, g := range s.groups() {
		for _, c := range s.checks(g) {
			if s.exempt(g, c) != "" {
				r.Exempt++
				continue
			}
			r.Tried++
			if err := s.try(ctx, g, c); err != nil {
				r.Failures = append(r.Failures, Failure{Group: g.name(), Check: c.name, Clause: c.clause, Err: err})
			}
		}
	}
	for _, inv := range invariants {
		r.Tried++
		for _, err := range s.broken(inv.name) {
			r.Failures = append(r.Failures, Failure{Group: "invariants", Check: inv.name, Clause: inv.clause, Err: err})
		}
	}
	if err := s.close(); err != nil {
		r.Failures = append(r.Failures, Failure{Check: "Close", Clause: "Close returns nil once all is released", Err: err})
	}
	if len(r.Failures) == 0 {
		return nil
	}
	return &r
}
