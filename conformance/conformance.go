package conformance

import (
	"context"
	"fmt"
	"os"
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

	// Outage, if set, cuts the way between New's values and what runs their
	// programs, as a server that goes away does, until restore is called.
	// Providers whose programs run in processes of their own leave it nil.
	Outage func() (restore func())

	// Timeout is how long one case may take before it is given up; zero
	// means 15 seconds. After a few cases that were given up the rest is not
	// tried. A provider whose tests run on a busy machine sets minutes.
	Timeout time.Duration

	// Patience is how late an interpreter may be before that counts as a
	// failure: in starting an empty state, and in ending a run that was told
	// to stop. Zero means 5 seconds. It is a bound against hanging, and costs
	// nothing where the provider is prompt.
	Patience time.Duration

	// Seed chooses the programs that are made at random. Zero means another
	// choice each time; a failure tells the seed that it came from. Where the
	// suite is Brief, it chooses each clause's language too, for zero always
	// the same.
	Seed uint64

	// OnFailure, if set, is called with each failure when it is found, from
	// one goroutine at a time. [Run] prints them to standard error unless the
	// test is verbose, so that they are there whatever happens later.
	OnFailure func(Failure)

	// Thrifty is for providers whose states take long to start: contexts are
	// shared between clauses, and what holds for RunCode and RunInContext
	// alike is tried in contexts only.
	Thrifty bool

	// Brief is for the further set-ups of a provider that is tested in full in
	// one: every clause but those that take long by nature is tried, with one of
	// the languages that it holds for (which, Seed decides), with fewer programs
	// at random, fewer runs of the hammers, and a quarter of the large outputs.
	Brief bool

	// Share has several set-ups divide the clauses among them. The zero value
	// tries all.
	Share Share
}

// A Share is one of Of parts of the clauses, that with this Number, from 0: each
// clause is in one of them. Invariants are watched in each.
type Share struct{ Number, Of int }

// takes reports whether the clause at index i is in the share.
func (s Share) takes(i int) bool { return s.Of <= 1 || i%s.Of == s.Number }

const (
	defaultTimeout  = 15 * time.Second
	defaultPatience = 5 * time.Second
	defaultHangs    = 3 // cases that were given up, before the rest is not tried
)

// Run checks the provider, one subtest per clause.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	if cfg.OnFailure == nil && !testing.Verbose() {
		cfg.OnFailure = func(f Failure) { fmt.Fprintf(os.Stderr, "%s: %s\n", t.Name(), f) }
	}
	s, err := newSuite(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, p := range s.parts() {
		t.Run(p.name, func(t *testing.T) {
			for _, c := range p.checks {
				t.Run(c.name, func(t *testing.T) {
					if reason := s.exempt(p.group, c); reason != "" {
						t.Skip(reason)
					}
					if f := s.try(t.Context(), p, c); f != nil {
						t.Error(f.text())
					}
				})
			}
		})
	}
	t.Run("invariants", func(t *testing.T) {
		for _, inv := range invariants {
			t.Run(inv.name, func(t *testing.T) {
				for _, err := range s.broken(inv.name) {
					t.Error(inv.failure(err).text())
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
	for _, p := range s.parts() {
		for _, c := range p.checks {
			switch {
			case s.gaveUp():
				r.Untried++
				continue
			case s.exempt(p.group, c) != "":
				r.Exempt++
				continue
			}
			r.Tried++
			if f := s.try(ctx, p, c); f != nil {
				r.Failures = append(r.Failures, *f)
			}
		}
	}
	for _, inv := range invariants {
		r.Tried++
		for _, err := range s.broken(inv.name) {
			r.Failures = append(r.Failures, inv.failure(err))
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
