package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/tier"
)

// TestErraticSessions has sessions fail in every way beside callers who do anything at any
// moment, and checks that nothing is reported that did not happen: every answer is the
// caller's own, ok is what a session has brought to its end, a lost state is reported, and
// a Close without an error leaves nothing.
func TestErraticSessions(t *testing.T) {
	rounds := uint64(60)
	if tier.Full {
		rounds = 600
	}
	for round := range rounds {
		synctest.Test(t, func(t *testing.T) {
			r := &erratic{chance: newChance(round), programs: map[string]*deed{}, odds: []int{8, 12, 16, 40}[round%4]}
			ci := driver.NewStateful(r, driver.Config{Grace: 2 * time.Second, StartLimit: 30 * time.Second})
			var callers sync.WaitGroup
			for n := range 4 {
				c := &erraticCaller{t: t, r: r, ci: ci, beside: &callers, name: fmt.Sprintf("%d-%d", round, n)}
				callers.Go(c.work)
			}
			if r.n(3) == 0 {
				time.Sleep(r.ms(20_000))
			} else {
				callers.Wait()
			}
			if err := ci.Close(); err == nil && (r.running.Load() != 0 || r.open.Load() != 0) {
				t.Errorf("round %d: Close without an error, and %d programs run, %d sessions are open", round, r.running.Load(), r.open.Load())
			}
			callers.Wait()
			time.Sleep(time.Hour) // for what did not return in time
			if r.running.Load() != 0 || r.open.Load() != 0 {
				t.Errorf("round %d: %d programs and %d sessions are left", round, r.running.Load(), r.open.Load())
			}
		})
	}
}

// A chance is a source of random numbers for many goroutines.
type chance struct {
	mu  sync.Mutex
	rnd *rand.Rand
}

func newChance(seed uint64) *chance { return &chance{rnd: rand.New(rand.NewPCG(seed, 0))} }

func (c *chance) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rnd.IntN(n)
}

func (c *chance) ms(n int) time.Duration { return time.Duration(c.n(n)) * time.Millisecond }

// erratic is a runtime whose methods misbehave, one time in odds
// in each way.
type erratic struct {
	*chance
	odds          int
	states        atomic.Int64
	running, open atomic.Int32
	mu            sync.Mutex
	programs      map[string]*deed
}

// A deed is what a program did, as its session knows.
type deed struct {
	handed, ended bool
	state         int64 // in which it ran
}

func (*erratic) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "erratic", Languages: []codeinterp.LanguageInfo{{Name: "erratic", Contexts: true, Functions: true}}}
}

func (r *erratic) misbehave(ctx context.Context) error {
	switch r.n(r.odds) {
	case 0:
		return errors.New("it failed")
	case 1:
		panic("it panicked")
	case 2:
		runtime.Goexit()
	case 3:
		<-ctx.Done()
		return ctx.Err()
	case 4:
		time.Sleep(r.ms(60_000))
	case 5:
		<-ctx.Done()
		time.Sleep(r.ms(9_000))
	}
	return nil
}

func (r *erratic) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	if err := r.misbehave(ctx); err != nil {
		return nil, err
	}
	r.open.Add(1)
	return &erraticSession{r: r, o: o, state: r.states.Add(1), stop: make(chan struct{}, 1)}, nil
}

func (r *erratic) Close(ctx context.Context) error { return r.misbehave(ctx) }

// note changes what is known of a program.
func (r *erratic) note(code string, change func(*deed)) deed {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.programs[code]
	if d == nil {
		d = &deed{}
		r.programs[code] = d
	}
	change(d)
	return *d
}

type erraticSession struct {
	r     *erratic
	o     driver.Options
	state int64
	used  bool
	stop  chan struct{}
}

func (s *erraticSession) Interrupt(ctx context.Context) error {
	select {
	case s.stop <- struct{}{}:
	default:
	}
	return s.r.misbehave(ctx)
}

func (s *erraticSession) Reset(ctx context.Context) error {
	if s.r.n(s.r.odds) == 0 {
		return errors.ErrUnsupported
	}
	err := s.r.misbehave(ctx)
	if err == nil {
		s.empty()
	}
	return err
}

func (s *erraticSession) empty() { s.state, s.used = s.r.states.Add(1), false }

func (s *erraticSession) Close(ctx context.Context) error {
	defer s.r.open.Add(-1)
	return s.r.misbehave(ctx)
}

func (s *erraticSession) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	s.r.running.Add(1)
	defer s.r.running.Add(-1)
	for len(s.stop) > 0 {
		<-s.stop
	}
	if err := s.r.misbehave(ctx); err != nil {
		return driver.Outcome{}, err
	}
	if s.r.n(s.r.odds) == 0 {
		s.o.Late(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("late\n")})
	}
	fresh := !s.used
	for range 1 + 1/(1+s.r.n(s.r.odds)) { // twice is allowed
		err := p.HandOver(func() error {
			s.r.note(p.Code, func(d *deed) { d.handed = false })
			if err := s.r.misbehave(ctx); err != nil {
				return err
			}
			s.used = true
			s.r.note(p.Code, func(d *deed) { d.handed, d.state = true, s.state })
			return nil
		})
		if err != nil {
			return driver.Outcome{}, err
		}
	}
	o := s.compute(ctx, p, out)
	o.Fresh = fresh
	if o.Lost {
		s.empty()
	}
	return o, nil
}

// compute is the program.
func (s *erraticSession) compute(ctx context.Context, p *driver.Program, out *driver.Output) driver.Outcome {
	out.Write(codeinterp.Stdout, []byte("begin "+p.Code+"\n"))
	if s.r.n(4) == 0 {
		v, err := p.Call(ctx, "name", nil)
		if err == nil && string(v) != `"`+p.Code+`"` {
			out.Write(codeinterp.Stdout, []byte("the answer to another\n"))
		}
	}
	lost := driver.Outcome{Lost: true, ExitCode: 137}
	switch s.r.n(s.r.odds) {
	case 0:
		panic("it panicked")
	case 1:
		runtime.Goexit()
	case 2:
		time.Sleep(s.r.ms(40_000))
	case 3:
		p.End()
		time.Sleep(s.r.ms(3_000))
	case 4:
		return lost
	case 5:
		return driver.Outcome{Unknown: codeinterp.ErrUnavailable}
	}
	select {
	case <-time.After(s.r.ms(200)):
	case <-s.stop:
		return driver.Outcome{ExitCode: 130}
	case <-ctx.Done():
		return lost
	}
	out.Write(codeinterp.Stdout, []byte("end "+p.Code+"\n"))
	s.r.note(p.Code, func(d *deed) { d.ended = true })
	return driver.Outcome{}
}

// A erraticCaller has a context of its own.
type erraticCaller struct {
	t      *testing.T
	r      *erratic
	ci     *driver.Stateful
	beside *sync.WaitGroup
	name   string
	id     codeinterp.ContextID

	state     int64       // of the last program that was ok
	reported  bool        // its loss, since
	restarted atomic.Bool // it was asked for a new one, in the run before or beside this one
}

func (c *erraticCaller) work() {
	var err error
	if c.id, err = c.ci.CreateContext(context.Background(), "erratic", nil); err != nil {
		return
	}
	for n := range 30 {
		if !c.run(fmt.Sprintf("%s-%d", c.name, n)) {
			return
		}
	}
	if c.r.n(2) == 0 {
		_ = c.ci.DeleteContext(context.Background(), c.id)
	}
}

// act does something to the context, or to the run.
func (c *erraticCaller) act(cancel func()) {
	ctx, stop := context.WithTimeout(context.Background(), c.r.ms(100))
	defer stop()
	switch c.r.n(6) {
	case 0:
		cancel()
	case 1:
		c.restarted.Store(true)
		_ = c.ci.RestartContext(ctx, c.id)
	case 2:
		_ = c.ci.InterruptContext(ctx, c.id)
	case 3:
		if c.r.n(20) == 0 {
			_ = c.ci.DeleteContext(ctx, c.id)
		}
	case 4:
		_, _ = c.ci.ListContexts(ctx)
	}
}

// run makes a run and checks its answer. It reports whether there can be another.
func (c *erraticCaller) run(code string) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := &codeinterp.RunOptions{Timeout: 50 * time.Second, OnOutput: func(codeinterp.Output) error {
		if c.r.n(3) == 0 {
			c.act(cancel)
		}
		time.Sleep(c.r.ms(1 + 5_000/(1+c.r.n(100))))
		return nil
	}}
	if c.r.n(2) == 0 {
		o.Timeout = time.Millisecond + c.r.ms(300)
	}
	o.Functions = []codeinterp.Function{{Name: "name", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
		if c.r.n(4) == 0 {
			c.act(cancel)
		}
		if c.r.n(10) == 0 {
			time.Sleep(c.r.ms(30_000))
		}
		return json.RawMessage(`"` + code + `"`), nil
	}}}
	var beside sync.WaitGroup
	if c.r.n(4) == 0 {
		beside.Go(func() { time.Sleep(c.r.ms(300)); c.act(cancel) })
	}
	begin := time.Now()
	res, err := c.ci.RunInContext(ctx, c.id, code, o)
	if took := time.Since(begin); took > 4*time.Minute {
		c.t.Errorf("%s took %v: %v, %v", code, took, res.Status, err)
	}
	beside.Wait()
	c.check(code, res, err)
	return !errors.Is(err, codeinterp.ErrContext) && !errors.Is(err, codeinterp.ErrClosed)
}

// check judges an answer by what the session did.
func (c *erraticCaller) check(code string, res codeinterp.Result, err error) {
	d := c.r.note(code, func(*deed) {})
	stdout := ""
	for _, o := range res.Outputs {
		if !o.Late {
			stdout += string(o.Data)
		}
	}
	whole := "begin " + code + "\nend " + code + "\n"
	if !strings.HasPrefix(whole, stdout) {
		c.t.Errorf("%s: %v with the output of others: %q", code, res.Status, stdout)
	}
	switch res.Status {
	case codeinterp.StatusOK:
		if !d.handed || !d.ended || err != nil || stdout != whole {
			c.t.Errorf("%s is ok, and was %+v, stdout %q, %v", code, d, stdout, err)
		}
		restarted := c.restarted.Swap(false)
		if c.state != 0 && d.state != c.state && !res.StateLost && !c.reported && !restarted {
			c.t.Errorf("%s: the state of %d is gone, this is %d, and the loss was not reported", code, c.state, d.state)
		}
		c.state, c.reported = d.state, false
		if restarted { // maybe behind the program, whose state is gone then
			c.state = 0
		}
	case codeinterp.StatusNotRun:
		if d.handed || err == nil {
			c.t.Errorf("%s did not run, and was %+v, %v", code, d, err)
		}
	default:
		c.reported = c.reported || res.StateLost
	}
}
