package inmemory_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// A toy is an engine whose programs are commands of this test.
type toy struct {
	made, closed atomic.Int32
	release      chan struct{} // ends deaf programs
}

func newToy() *toy { return &toy{release: make(chan struct{})} }

func (*toy) Info() codeinterp.LanguageInfo {
	return codeinterp.LanguageInfo{Name: "toy", Runtime: "toy 1"}
}
func (*toy) Limits() engine.Limits { return engine.Limits{Memory: 1000, Stack: 10} }

func (e *toy) New(c engine.Config) (engine.Instance, error) {
	if !c.Budget.Take(c.Limits.Memory) {
		return nil, codeinterp.ErrCapacity
	}
	e.made.Add(1)
	i := &toyInstance{engine: e, config: c}
	return i, nil
}

type toyInstance struct {
	engine *toy
	config engine.Config
	state  string
}

func (i *toyInstance) Close() {
	i.config.Budget.Give(i.config.Limits.Memory)
	i.engine.closed.Add(1)
}

func (i *toyInstance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	switch verb, rest, _ := strings.Cut(p.Code, " "); verb {
	case "deaf":
		<-i.engine.release
		h.Write(codeinterp.Stdout, []byte("too late"))
	case "panic":
		panic("a fault of the engine")
	case "set":
		i.state = rest
	case "get":
		h.Write(codeinterp.Stdout, []byte(i.state))
	case "tardy":
		h.Write(codeinterp.Stdout, []byte("one "))
		h.Write(codeinterp.Stdout, []byte("two"))
		<-ctx.Done()
		time.Sleep(time.Second)
		return engine.Outcome{Stopped: true}
	case "busy":
		for ctx.Err() == nil {
			h.Breathe()
		}
		return engine.Outcome{Stopped: true}
	case "limits":
		if i.config.Limits != (engine.Limits{Memory: 500, Stack: 10}) {
			return engine.Outcome{ExitCode: 1}
		}
	}
	return engine.Outcome{}
}

// An engine that cannot be stopped is left behind: the run ends as what stopped
// it, with an error that says that the engine still runs, the number of such
// engines is reported and limited, and what they still write goes nowhere.
func TestAbandoned(t *testing.T) { synctest.Test(t, abandoned) }

func abandoned(t *testing.T) {
	e := newToy()
	s := open(t, &inmemory.Options{Engines: []engine.Engine{e}, MaxAbandoned: 2})
	id := create(t, s, "toy")
	for n := 1; n <= 2; n++ {
		res, err := s.RunInContext(t.Context(), id, "deaf", &codeinterp.RunOptions{Timeout: 50 * time.Millisecond})
		if res.Status != codeinterp.StatusTimeout || res.ExitCode != codeinterp.ExitTimeout || !res.StateLost {
			t.Errorf("got %v %d, state lost %v; want a timeout that took the state", res.Status, res.ExitCode, res.StateLost)
		}
		if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "may still be running") {
			t.Errorf("error %v does not say that the program may still be running", err)
		}
		if got := s.Abandoned(); got != n {
			t.Errorf("%d abandoned engines, want %d", got, n)
		}
	}
	if _, err := s.RunInContext(t.Context(), id, "get", nil); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("got %v, want ErrCapacity", err)
	}
	of, _ := codeinterp.Files(s)
	if _, err := of.OpenFiles(t.Context(), id); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("the files of an abandoned engine: %v", err)
	}
	if reasons := strings.Join(s.Describe().Isolation.Reasons, "\n"); !strings.Contains(reasons, "2 sessions") {
		t.Errorf("Describe does not tell: %s", reasons)
	}
	close(e.release)
	synctest.Wait()
	if res := run(t, s, id, "get", nil); !res.OK() || res.Stdout() != "" {
		t.Errorf("afterwards got %v %q", res.Status, res.Stdout())
	}
	if _, err := of.OpenFiles(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// An engine that takes long to end keeps what its program printed.
func TestTardy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, &inmemory.Options{Engines: []engine.Engine{newToy()}})
		id := create(t, s, "toy")
		time.AfterFunc(time.Second, func() { _ = s.RestartContext(context.Background(), id) })
		res := run(t, s, id, "tardy", nil)
		if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseRestart || res.Stdout() != "one two" {
			t.Errorf("got %v %q, %q", res.Status, res.Cause, res.Stdout())
		}
	})
}

// A panic of an engine costs that instance, and nothing else.
func TestPanic(t *testing.T) {
	e := newToy()
	s := open(t, &inmemory.Options{Engines: []engine.Engine{e}})
	id := create(t, s, "toy")
	run(t, s, id, "set x", nil)
	if res := run(t, s, id, "panic", nil); res.Status != codeinterp.StatusLost || !res.StateLost || res.Error == nil {
		t.Errorf("got %+v, want lost", res)
	}
	if res := run(t, s, id, "get", nil); res.Stdout() != "" || res.StateLost {
		t.Errorf("got %q, state lost again %v; want a fresh instance", res.Stdout(), res.StateLost)
	}
}

func TestLimits(t *testing.T) {
	e := newToy()
	s := open(t, &inmemory.Options{Engines: []engine.Engine{e}, Limits: engine.Limits{Memory: 500}, MaxMemory: 1200, MaxContexts: 3})
	first := create(t, s, "toy")
	if res := run(t, s, first, "limits", nil); !res.OK() {
		t.Error("the engine did not get the limits")
	}
	create(t, s, "toy")
	if _, err := s.CreateContext(t.Context(), "toy", nil); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("over the budget: got %v, want ErrCapacity", err)
	}
	if err := s.DeleteContext(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	create(t, s, "toy")
	if made, closed := e.made.Load(), e.closed.Load(); made-closed != 2 {
		t.Errorf("%d instances made, %d closed, want 2 alive", made, closed)
	}
	few := open(t, &inmemory.Options{Engines: []engine.Engine{newToy()}, MaxContexts: 1})
	create(t, few, "toy")
	if _, err := few.CreateContext(t.Context(), "toy", nil); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("over MaxContexts: got %v, want ErrCapacity", err)
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]*inmemory.Options{
		"negative memory":  {Limits: engine.Limits{Memory: -1}},
		"negative running": {MaxRunning: -1},
		"no engines":       {Engines: []engine.Engine{}},
		"nil engine":       {Engines: []engine.Engine{nil}},
		"two of a kind":    {Engines: []engine.Engine{newToy(), newToy()}},
	} {
		if _, err := inmemory.New(o); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

// Programs that compute take turns: none waits for another to end.
func TestFairness(t *testing.T) {
	s := open(t, &inmemory.Options{Engines: []engine.Engine{newToy()}, MaxRunning: 1})
	busy, quick := create(t, s, "toy"), create(t, s, "toy")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = s.RunInContext(ctx, busy, "busy", nil) })
	time.Sleep(20 * time.Millisecond)
	start := time.Now()
	for range 5 {
		if res := run(t, s, quick, "get", nil); !res.OK() {
			t.Error(res.Status)
		}
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("five runs beside a busy one took %v", d)
	}
	cancel()
	wg.Wait()
}

// A crowd is an engine that counts how many of its programs compute at a time.
type crowd struct {
	*toy
	computing, most atomic.Int32
}

type crowdInstance struct {
	engine.Instance
	crowd *crowd
}

func (c *crowd) New(config engine.Config) (engine.Instance, error) {
	inst, err := c.toy.New(config)
	return crowdInstance{inst, c}, err
}

func (i crowdInstance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	for range 40 {
		n := i.crowd.computing.Add(1)
		for most := i.crowd.most.Load(); n > most && !i.crowd.most.CompareAndSwap(most, n); most = i.crowd.most.Load() {
		}
		time.Sleep(100 * time.Microsecond)
		i.crowd.computing.Add(-1)
		h.Show(codeinterp.Output{Kind: codeinterp.Clear})
	}
	return engine.Outcome{}
}

// No more than MaxRunning programs compute at a time, however long callbacks
// take.
func TestSlots(t *testing.T) {
	e := &crowd{toy: newToy()}
	s := open(t, &inmemory.Options{Engines: []engine.Engine{e}, MaxRunning: 1})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			_, err := s.RunCode(t.Context(), "toy", "", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
				time.Sleep(5 * time.Millisecond) // after which a callback counts as slow
				return nil
			}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if n := e.most.Load(); n > 1 {
		t.Errorf("%d programs computed at a time, want 1", n)
	}
}
