package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A suite is one pass over the contract. Its checks run one after the other.
type suite struct {
	cfg       Config
	all       []check
	programs  map[string]Programs
	languages []string

	shared   codeinterp.CodeInterpreter
	contexts map[string]codeinterp.ContextID // the shared ones, by language
	pace     map[group]time.Duration         // how long a small run takes
	gap      map[group]int                   // which of gaps keeps outputs in order
	hung     int                             // cases that did not return

	mu       sync.Mutex
	breaches map[string][]error // by invariant
}

// newSuite fills in cfg's defaults and picks the languages.
func newSuite(cfg Config) (*suite, error) {
	s := &suite{
		cfg: cfg, all: checks(), programs: programs(),
		contexts: map[string]codeinterp.ContextID{}, pace: map[group]time.Duration{}, gap: map[group]int{}, breaches: map[string][]error{},
	}
	s.cfg.Timeout = cmp.Or(s.cfg.Timeout, defaultTimeout)
	s.cfg.Patience = cmp.Or(s.cfg.Patience, defaultPatience)
	maps.Copy(s.programs, cfg.Programs)
	ci, err := s.interpreter()
	if err != nil {
		return nil, err
	}
	s.languages = cfg.Languages
	if len(s.languages) == 0 {
		s.languages = slices.DeleteFunc(ci.Languages(), func(l string) bool {
			_, ok := s.programs[l]
			return !ok
		})
	}
	if len(s.languages) == 0 {
		return nil, errors.Join(fmt.Errorf("no programs for any of %q; see Config.Programs", ci.Languages()), s.close())
	}
	for _, l := range s.languages {
		if p := s.programs[l]; p.Print == nil || p.PrintErr == nil || p.Pause == nil {
			return nil, errors.Join(fmt.Errorf("the programs for %q lack Print, PrintErr or Pause; see Config.Programs", l), s.close())
		}
	}
	return s, nil
}

// interpreter returns the interpreter that checks share.
func (s *suite) interpreter() (codeinterp.CodeInterpreter, error) {
	if s.shared == nil {
		ci, err := s.cfg.New()
		if err != nil {
			return nil, fmt.Errorf("Config.New: %w", err)
		}
		if ci == nil {
			return nil, errors.New("Config.New returned neither an interpreter nor an error")
		}
		s.shared = ci
	}
	return s.shared, nil
}

// close ends the shared interpreter.
func (s *suite) close() error {
	if s.shared == nil {
		return nil
	}
	ci := s.shared
	s.shared = nil
	clear(s.contexts)
	return within(s.cfg.Timeout, "Close", ci.Close)
}

// try runs one check, and returns its failure, or nil.
func (s *suite) try(ctx context.Context, g group, c check) *failure {
	if err := s.attempt(ctx, g, c); err != nil {
		return &failure{c.name, sentence(c.row, c.clause), err, c.proves}
	}
	return nil
}

// attempt runs one check. Where the feature that it proves is declared as
// lacking, the check is to fail.
func (s *suite) attempt(ctx context.Context, g group, c check) error {
	if c.proves == "" || !s.cfg.lacks(c.proves, g.language) {
		late, err := s.once(ctx, g, c, s.cfg.Timeout)
		if late {
			s.hung++
		}
		return err
	}
	// It is to fail, and may leave its interpreter in any state.
	c.own = true
	if _, err := s.once(ctx, g, c, min(s.cfg.Timeout, 2*s.cfg.Patience)); err != nil {
		return nil
	}
	return fmt.Errorf("%s is declared as lacking, but works for %s: remove it from Lacks, or say in which languages it lacks", c.proves, g.language)
}

// once runs a check under a watchdog, and reports whether it took too long.
func (s *suite) once(ctx context.Context, g group, c check, limit time.Duration) (late bool, err error) {
	tooLong := fmt.Errorf("the case took longer than %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong)
	defer cancel()
	e, err := s.env(ctx, g, c)
	if err != nil {
		return false, err
	}
	// Longer than ctx: an error of the check says more than a hang does.
	err = within(limit+s.cfg.Patience, c.name, func() error {
		e.place() // which is not to count as a part of the check's runs
		c.run(e)
		return nil
	})
	if late = err != nil && context.Cause(ctx) == tooLong; late {
		limit = min(limit, afterHang) // what hung once may do so again
	}
	if closeErr := within(limit, "cleaning up", e.close); err == nil {
		err = closeErr
	}
	if err != nil {
		s.discard(min(limit, s.cfg.Patience))
	}
	return late, err
}

// afterHang bounds the clean-up after a case that did not return.
const afterHang = 2 * time.Second

// discard drops the shared interpreter after a failure, so that the next check
// starts with a clean one.
func (s *suite) discard(limit time.Duration) {
	if ci := s.shared; ci != nil {
		s.shared = nil
		clear(s.contexts)
		// The check's own failure is reported already.
		_ = within(limit, "Close", ci.Close)
	}
}

// breach records a broken invariant. A few per invariant are enough.
func (s *suite) breach(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.breaches[name]) < 5 {
		s.breaches[name] = append(s.breaches[name], err)
	}
}

// broken returns the breaches of an invariant.
func (s *suite) broken(name string) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breaches[name]
}

// within runs f on a goroutine of its own and returns its error, or, where f
// does not return in time, what all goroutines were doing then.
func within(limit time.Duration, what string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		if p := try(func() { err = f() }); p != nil {
			err = p
		}
		done <- err
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return fmt.Errorf("%s did not return within %v; goroutines:\n%s", what, limit, goroutines())
	}
}

// goroutines returns the stacks of all goroutines, equal ones once.
func goroutines() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	const most = 32 << 10
	if b.Len() > most {
		return b.String()[:most] + "\n..."
	}
	return b.String()
}
