package driver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A fake is a runtime whose sessions do what their programs say.
type fake struct {
	onStart  func(context.Context, driver.Options) error
	onReset  func(context.Context) error
	onClose  func(context.Context) error // of a session
	onEnd    func(context.Context) error // of the runtime
	onIntr   func(context.Context) error
	programs map[string]program
	open     atomic.Int32                // sessions
	last     atomic.Pointer[fakeSession] // that was started
	rude     atomic.Pointer[string]      // what the driver must not have done
	unread   bool                        // by Detach
}

// A program is what a fake's session runs.
type program func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error)

func (*fake) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "fake", Languages: []codeinterp.LanguageInfo{
		{Name: "fake", Aliases: []string{"Phony"}, Contexts: true, Functions: true}, {Name: "bare"}}}
}

// A plain runtime says of no language what it can do.
type plain struct{ *fake }

func (plain) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "fake", Languages: []codeinterp.LanguageInfo{{Name: "fake"}, {Name: "bare"}}}
}

func (f *fake) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	if f.onStart != nil {
		if err := f.onStart(ctx, o); err != nil {
			return nil, err
		}
	}
	f.open.Add(1)
	s := &fakeSession{f: f, o: o}
	f.last.Store(s)
	return s, nil
}

func (f *fake) Close(ctx context.Context) error { return do(ctx, f.onEnd) }

// Attach takes "ref" up, and what else it is given.
func (f *fake) Attach(_ context.Context, ref codeinterp.Ref, late func(codeinterp.Output)) (driver.Attached, error) {
	if ref == "" {
		return driver.Attached{}, codeinterp.ErrContext
	}
	f.open.Add(1)
	s := &fakeSession{f: f, used: true, o: driver.Options{Late: late}}
	f.last.Store(s)
	return driver.Attached{Session: s, Language: "fake", Options: codeinterp.ContextOptions{Cwd: "/x"}}, nil
}

func (f *fake) Refer(driver.Session) (codeinterp.Ref, error) { return "ref", nil }

func (f *fake) Detach(_ context.Context, _ driver.Session, unread func() bool) (codeinterp.Ref, error) {
	f.open.Add(-1)
	f.unread = unread()
	return "ref", nil
}

type fakeSession struct {
	f      *fake
	o      driver.Options
	used   bool // a program has begun in the state
	mu     sync.Mutex
	stop   chan struct{} // of the program, closed by an interrupt
	inside string        // the method in progress, but for Interrupt
	closed bool
}

// enter notes that a method is in progress, of which there is one at a time.
func (s *fakeSession) enter(method string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside != "" || s.closed {
		s.accuse(method)
	}
	s.inside = method
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inside = ""
	}
}

// accuse has the test fail. mu is held.
func (s *fakeSession) accuse(method string) {
	text := fmt.Sprintf("%s was called during %q of a session that is closed: %v", method, s.inside, s.closed)
	s.f.rude.CompareAndSwap(nil, &text)
}

func do(ctx context.Context, f func(context.Context) error) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}

func (s *fakeSession) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	defer s.enter("Run")()
	s.mu.Lock()
	s.stop = make(chan struct{})
	s.mu.Unlock()
	name, _, _ := strings.Cut(p.Code, " ")
	f, ok := s.f.programs[name]
	if !ok {
		f = programs[name]
	}
	o, err := f(ctx, s, p, out)
	if err == nil {
		o.Fresh = o.Fresh || !s.used
		s.used = !o.Lost
	}
	return o, err
}

func (s *fakeSession) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	if s.inside != "Run" && s.inside != "" || s.closed { // Run may have returned just now
		s.accuse("Interrupt")
	}
	s.mu.Unlock()
	if s.f.onIntr != nil {
		return s.f.onIntr(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	return nil
}

func (s *fakeSession) Reset(ctx context.Context) error {
	defer s.enter("Reset")()
	if err := do(ctx, s.f.onReset); err != nil {
		return err
	}
	s.used = false
	return nil
}

func (s *fakeSession) Close(ctx context.Context) error {
	leave := s.enter("Close")
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	defer leave()
	err := do(ctx, s.f.onClose)
	s.f.open.Add(-1)
	return err
}

// programs are those that every fake has.
var programs = map[string]program{
	// ok prints its argument.
	"ok": func(_ context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		_, text, _ := strings.Cut(p.Code, " ")
		out.Write(codeinterp.Stdout, []byte(text))
		return driver.Outcome{}, nil
	},
	// sleep sleeps and obeys interrupts.
	"sleep": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		out.Write(codeinterp.Stdout, []byte("busy"))
		_, arg, _ := strings.Cut(p.Code, " ")
		d, _ := time.ParseDuration(arg)
		select {
		case <-time.After(d):
			return driver.Outcome{}, nil
		case <-s.stop:
			return driver.Outcome{ExitCode: 1}, nil
		case <-ctx.Done():
			return driver.Outcome{Lost: true}, nil
		}
	},
	// stubborn ends when it is killed.
	"stubborn": func(ctx context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		out.Write(codeinterp.Stdout, []byte("busy"))
		<-ctx.Done()
		return driver.Outcome{Lost: true}, nil
	},
	// unresponsive does not end when it is asked to.
	"unresponsive": func(_ context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		out.Write(codeinterp.Stdout, []byte("busy"))
		time.Sleep(time.Hour)
		return driver.Outcome{Lost: true}, nil
	},
	// slow takes a second to begin, and lasts another.
	"slow": func(ctx context.Context, s *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return driver.Outcome{}, ctx.Err()
		}
		p.Begin()
		out.Write(codeinterp.Stdout, []byte("begun"))
		select {
		case <-time.After(time.Second):
			return driver.Outcome{}, nil
		case <-s.stop:
			return driver.Outcome{ExitCode: 1}, nil
		case <-ctx.Done():
			return driver.Outcome{Lost: true}, nil
		}
	},
	"never": func(context.Context, *fakeSession, *driver.Program, *driver.Output) (driver.Outcome, error) {
		return driver.Outcome{}, errors.New("no kernel")
	},
	"gone": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{Fresh: true}, nil
	},
	"die": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{Lost: true, ExitCode: 134, Cause: codeinterp.CauseSignal}, nil
	},
	"exit": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{Lost: true, Cause: codeinterp.CauseExit}, nil
	},
	"fail": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{Error: &codeinterp.ProgramError{Name: "Oops"}}, nil
	},
	"unknown": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{Unknown: errors.New("the reply was lost")}, nil
	},
	"panic": func(_ context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		out.Write(codeinterp.Stdout, []byte("busy"))
		panic("oops")
	},
	"count": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{Count: 42}, nil
	},
}

// stateful returns an interpreter of f with one context. Grace is 2 s, patience
// 10 s.
func stateful(t *testing.T, f *fake, cfg driver.Config) (*driver.Stateful, codeinterp.ContextID) {
	t.Helper()
	polite(t, f)
	ci := driver.NewStateful(f, cfg)
	return ci, create(t, ci)
}

// polite has the test fail in the end where the driver has called methods of a
// session that exclude each other.
func polite(t *testing.T, f *fake) {
	t.Cleanup(func() {
		if what := f.rude.Load(); what != nil {
			t.Error(*what)
		}
	})
}

func create(t *testing.T, ci *driver.Stateful) codeinterp.ContextID {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), "fake", nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A pending is a run on its way.
type pending struct {
	done chan struct{}
	res  codeinterp.Result
	err  error
	took time.Duration
}

func start(ci *driver.Stateful, ctx context.Context, id codeinterp.ContextID, code string, o *codeinterp.RunOptions) *pending {
	p := &pending{done: make(chan struct{})}
	begin := time.Now()
	go func() {
		defer close(p.done)
		p.res, p.err = ci.RunInContext(ctx, id, code, o)
		p.took = time.Since(begin)
	}()
	return p
}

// want is what a Result is compared with.
type want struct {
	status codeinterp.Status
	exit   int
	cause  codeinterp.Cause
	lost   bool
	count  int
	err    error  // nil: none
	text   string // in the error
}

func (w want) check(t *testing.T, what string, res codeinterp.Result, err error) {
	t.Helper()
	got := want{res.Status, res.ExitCode, res.Cause, res.StateLost, res.ExecutionCount, w.err, w.text}
	if got != w {
		t.Errorf("%s: got %+v, want %+v", what, got, w)
	}
	switch {
	case w.err == nil && w.text == "" && err != nil, w.err != nil && !errors.Is(err, w.err),
		w.text != "" && (err == nil || !strings.Contains(err.Error(), w.text)):
		t.Errorf("%s: error %v, want %v %q", what, err, w.err, w.text)
	}
	if e, ok := err.(*codeinterp.Error); err != nil && (!ok || e.Provider != "fake" || e.Op == "") {
		t.Errorf("%s: error %#v is not wrapped", what, err)
	} else if ok {
		if again, ok := errors.AsType[*codeinterp.Error](e.Err); ok {
			t.Errorf("%s: wrapped twice: %v", what, again)
		}
	}
}
