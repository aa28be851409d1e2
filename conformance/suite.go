package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
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
	wrap      func(codeinterp.CodeInterpreter, ...codeinterp.Middleware) codeinterp.CodeInterpreter
	hide      func(codeinterp.CodeInterpreter) codeinterp.CodeInterpreter
	limit     func(*codeinterp.LimitOptions) codeinterp.Middleware
	programs  map[string]Programs
	languages []string

	shared   codeinterp.CodeInterpreter
	contexts map[string]codeinterp.ContextID // the shared ones, by language
	pace     map[group]time.Duration         // how long a small run takes
	gap      map[group]int                   // which of gaps keeps outputs in order

	leaks map[string]error // by check, once they were looked for

	announce  io.Writer         // for what may end the process
	announced map[string]bool   // by check
	given     int               // cases that were given up
	most      int               // of them, before the rest is not tried
	reported  map[string]string // the group in which a kind of failure was first seen

	settling []time.Duration // what is waited for processors to be idle after a stop, look by look

	telling  sync.Mutex // held during a call of OnFailure
	mu       sync.Mutex
	breaches map[string][]error // by invariant
}

// newSuite fills in cfg's defaults and picks the languages.
func newSuite(cfg Config) (*suite, error) {
	if sh := cfg.Share; sh.Number < 0 || sh.Number >= max(sh.Of, 1) {
		return nil, fmt.Errorf("no share %d of %d", sh.Number, sh.Of)
	}
	s := &suite{
		cfg: cfg, all: checks(), wrap: codeinterp.Wrap, hide: codeinterp.Stateless, limit: codeinterp.Limit, programs: programs(),
		contexts: map[string]codeinterp.ContextID{}, pace: map[group]time.Duration{}, gap: map[group]int{}, breaches: map[string][]error{},
		announce: os.Stderr, most: defaultHangs, settling: []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}, reported: map[string]string{}, announced: map[string]bool{},
	}
	if s.cfg.Timeout <= 0 {
		s.cfg.Timeout = defaultTimeout
	}
	if s.cfg.Patience <= 0 {
		s.cfg.Patience = defaultPatience
	}
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
		p, ok := s.programs[l]
		if !ok {
			return nil, errors.Join(fmt.Errorf("no programs for %q; see Config.Programs", l), s.close())
		}
		if p.Print == nil || p.PrintErr == nil || p.Pause == nil {
			return nil, errors.Join(fmt.Errorf("the programs for %q lack Print, PrintErr or Pause", l), s.close())
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

// gaveUp reports whether so many cases did not return that the rest is not
// tried.
func (s *suite) gaveUp() bool { return s.given >= s.most }

// try runs one check, and returns and reports its failure, if any.
func (s *suite) try(ctx context.Context, p part, c check) *Failure {
	if c.danger != "" && !s.announced[c.name] {
		s.announced[c.name] = true
		fmt.Fprintf(s.announce, "conformance: %s/%s comes now; %s\n  contract: %s\n", p.group.name(), c.name, c.danger, c.clause)
	}
	err := s.attempt(ctx, p.group, c)
	if err == nil {
		return nil
	}
	f := Failure{Group: p.group.name(), Check: c.name, Clause: c.clause, Err: err, Feature: c.proves}
	kind := f.kind()
	if f.Like = s.reported[kind]; f.Like == "" {
		s.reported[kind] = f.Group
	}
	s.tell(f)
	return &f
}

// tell passes a failure on as it comes.
func (s *suite) tell(f Failure) {
	if s.cfg.OnFailure == nil {
		return
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	s.cfg.OnFailure(f)
}

// attempt runs one check. Where the feature that it proves is declared as
// lacking, the check is to fail.
func (s *suite) attempt(ctx context.Context, g group, c check) error {
	if c.proves == "" || !s.cfg.lacks(c.proves, g.language) {
		late, err := s.once(ctx, g, c, s.cfg.Timeout)
		if late {
			s.given++
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

// once runs a check under a watchdog, and reports whether it was given up.
func (s *suite) once(ctx context.Context, g group, c check, limit time.Duration) (late bool, err error) {
	tooLong := fmt.Errorf("the case took longer than %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong)
	defer cancel()
	e, err := s.env(g, c)
	if err != nil {
		return false, err
	}
	// Longer than ctx: a check that heeds its end says more than a hang does.
	err = within(limit+s.cfg.Patience, c.name, func() error {
		if g.way == inContextWay {
			if _, err := e.shared(ctx); err != nil {
				return err
			}
		}
		return c.run(ctx, e)
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

// afterHang is how long is waited for a provider to clean up after a case that
// was given up.
const afterHang = 2 * time.Second

// discard drops the shared interpreter after a failure, so that the next check
// starts with a clean one.
func (s *suite) discard(limit time.Duration) {
	if ci := s.shared; ci != nil {
		s.shared = nil
		clear(s.contexts)
		// A failure was told already; that of Close has a check of its own.
		_ = within(limit, "Close", ci.Close)
	}
}

// breach records a broken invariant. A few per invariant are enough.
func (s *suite) breach(name string, err error) {
	s.mu.Lock()
	n := len(s.breaches[name])
	if n < 5 {
		s.breaches[name] = append(s.breaches[name], err)
	}
	s.mu.Unlock()
	if i := slices.IndexFunc(invariants, func(i invariant) bool { return i.name == name }); n == 0 && i >= 0 {
		s.tell(invariants[i].failure(err))
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
	go func() { done <- safely(f) }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return &hang{what: what, limit: limit, stacks: goroutines()}
	}
}

// A hang is a call that did not return.
type hang struct {
	what   string
	limit  time.Duration
	stacks string // of all goroutines at that time
}

func (h *hang) Error() string { return h.summary() + "; goroutines:\n" + h.stacks }

func (h *hang) summary() string { return fmt.Sprintf("%s did not return within %v", h.what, h.limit) }

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

// safely turns a panic of f into an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			buf := make([]byte, 2<<10) // of the place, which is at the top
			err = fmt.Errorf("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])
		}
	}()
	return f()
}
