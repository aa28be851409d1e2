package conformance

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Config describes the provider under test.
type Config struct {
	// New returns a new interpreter. The suite calls it many times, and
	// closes what it returns.
	New func() (codeinterp.CodeInterpreter, error)

	// Stateful says that New's values have the context methods.
	Stateful bool

	// Lacks lists what the provider cannot do; see [Feature].
	Lacks []Feature

	// Languages are the languages to try; empty means all of the provider's
	// that there are programs for.
	Languages []string

	// Programs adds languages, or replaces the suite's own programs for one;
	// start from [ProgramsFor] to change a few.
	Programs map[string]Programs

	// Timeout is how long one case may take; zero means 15 seconds. After three
	// cases that did not return the rest is not tried.
	Timeout time.Duration

	// Patience is how late an interpreter may be in starting an empty state and
	// in ending a run. Zero means 5 seconds. It costs nothing where the provider
	// is prompt.
	Patience time.Duration

	// Seed chooses the random programs. Zero means others each time; a failure
	// names its seed.
	Seed uint64
}

const (
	defaultTimeout  = 15 * time.Second
	defaultPatience = 5 * time.Second
	maxHangs        = 3 // cases that did not return, before the rest is not tried
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
					if f := s.try(t.Context(), g, c); f != nil {
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
