package driver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A pausable is a fake whose programs can be paused.
type pausable struct {
	*fake
	paused  bool
	refuses error
	slow    time.Duration // until a pause
}

func (p *pausable) Describe() codeinterp.Info {
	info := p.fake.Describe()
	info.Pause = "a flag"
	return info
}

func (p *pausable) Pause(context.Context) error {
	time.Sleep(p.slow)
	p.paused = p.refuses == nil
	return p.refuses
}

func (p *pausable) Resume(context.Context) error {
	p.paused = false
	return nil
}

// pausing returns an interpreter with a context, and its Pauser.
func pausing(t *testing.T) (*pausable, *driver.Stateful, codeinterp.ContextID, codeinterp.Pauser) {
	t.Helper()
	rt := &pausable{fake: &fake{}}
	polite(t, rt.fake)
	ci := driver.NewStateful(rt, driver.Config{})
	p, ok := codeinterp.Pauses(codeinterp.Wrap(ci))
	if !ok {
		t.Fatal("no Pauser")
	}
	return rt, ci, create(t, ci), p
}

// TestPauseWaits: who waits for another pause waits no longer than its ctx.
func TestPauseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, ci, _, p := pausing(t)
		defer ci.Close()
		rt.slow = time.Hour
		done := make(chan error)
		go func() { done <- p.Pause(context.Background()) }()
		synctest.Wait()
		for _, f := range []func(context.Context) error{p.Pause, p.Resume} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestPauseDeadlines: the timeout and the grace stand still in a pause, and what Duration
// says does too.
func TestPauseDeadlines(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		pauseAt    time.Duration
		took       time.Duration
	}{
		{"timeout", "sleep 1h", time.Second, 15 * time.Second},
		{"timeout in a run of one", "once", time.Second, 15 * time.Second},
		{"grace", "stubborn", 5500 * time.Millisecond, 17 * time.Second},
		{"second half of the grace", "stubborn", 6500 * time.Millisecond, 17 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, ci, id, p := pausing(t)
				defer ci.Close()
				o := &codeinterp.RunOptions{Timeout: 5 * time.Second}
				var r *pending
				if tt.code == "once" {
					r = startOnce(ci, t.Context(), "stubborn", o)
				} else {
					r = start(ci, t.Context(), id, tt.code, o)
				}
				time.Sleep(tt.pauseAt)
				for range 2 { // the second does nothing
					if err := p.Pause(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(10 * time.Second)
				if err := errors.Join(p.Resume(t.Context()), p.Resume(t.Context())); err != nil {
					t.Fatal(err)
				}
				<-r.done
				if tt.code == "once" {
					tt.took += 2 * time.Second // its grace
				}
				if r.res.Status != codeinterp.StatusTimeout || r.took != tt.took {
					t.Errorf("%s after %v, want %v", r.res.Status, r.took, tt.took)
				}
				if want := tt.took - 10*time.Second; r.res.Duration != want {
					t.Errorf("Duration %v, want %v", r.res.Duration, want)
				}
			})
		})
	}
}

func startOnce(ci *driver.Stateful, ctx context.Context, code string, o *codeinterp.RunOptions) *pending {
	p := &pending{done: make(chan struct{})}
	begin := time.Now()
	go func() {
		defer close(p.done)
		p.res, p.err = ci.RunCode(ctx, "fake", code, o)
		p.took = time.Since(begin)
	}()
	return p
}

// TestPauseStarts: Pause waits for a program that starts, and the limit of a start that
// waits for the end of a pause stands still.
func TestPauseStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ci, id, p := pausing(t)
		defer ci.Close()
		first := start(ci, t.Context(), id, "slow", nil)
		synctest.Wait()
		second := start(ci, t.Context(), id, "ok", nil)
		begin := time.Now()
		if err := p.Pause(t.Context()); err != nil || time.Since(begin) != time.Second {
			t.Errorf("Pause took %v: %v", time.Since(begin), err)
		}
		<-first.done // by its own clock
		time.Sleep(time.Hour)
		select {
		case <-second.done:
			t.Errorf("the next program began in the pause: %+v, %v", second.res, second.err)
		default:
		}
		if err := p.Resume(t.Context()); err != nil {
			t.Error(err)
		}
		if <-second.done; second.res.Status != codeinterp.StatusOK || second.err != nil {
			t.Errorf("%+v, %v", second.res, second.err)
		}
	})
}

// TestPauseCalls: in a pause calls are ErrPaused but for those that end something, and
// these take no time.
func TestPauseCalls(t *testing.T) {
	ends := map[string]func(*driver.Stateful, codeinterp.ContextID, context.CancelFunc) error{
		"cancel": func(_ *driver.Stateful, _ codeinterp.ContextID, cancel context.CancelFunc) error {
			cancel()
			return nil
		},
		"delete": func(ci *driver.Stateful, id codeinterp.ContextID, _ context.CancelFunc) error {
			return remove.do(context.Background(), ci, id)
		},
		"restart": func(ci *driver.Stateful, id codeinterp.ContextID, _ context.CancelFunc) error {
			return restart.do(context.Background(), ci, id)
		},
		"close": func(ci *driver.Stateful, _ codeinterp.ContextID, _ context.CancelFunc) error { return ci.Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, ci, id, p := pausing(t)
				defer ci.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := start(ci, ctx, id, "stubborn", nil)
				synctest.Wait()
				if err := p.Pause(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, errRun := ci.RunCode(t.Context(), "fake", "ok", nil)
				_, errIn := ci.RunInContext(t.Context(), id, "ok", nil)
				_, errCreate := ci.CreateContext(t.Context(), "fake", nil)
				for i, err := range []error{errRun, errIn, errCreate, ci.InterruptContext(t.Context(), id)} {
					if !errors.Is(err, codeinterp.ErrPaused) {
						t.Errorf("call %d: %v", i, err)
					}
				}
				if _, err := ci.ListContexts(t.Context()); err != nil {
					t.Error(err)
				}
				begin := time.Now()
				if err := end(ci, id, cancel); err != nil {
					t.Error(err)
				}
				if <-r.done; time.Since(begin) != 0 || !r.res.StateLost {
					t.Errorf("after %v: %+v, %v", time.Since(begin), r.res, r.err)
				}
				if err := p.Resume(t.Context()); (err != nil) != (name == "close") {
					t.Error(err)
				}
			})
		})
	}
}

// TestPauseFails: after an error of the runtime's nothing is paused.
func TestPauseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, ci, id, p := pausing(t)
		defer ci.Close()
		rt.refuses = errors.New("no signals")
		if err := p.Pause(t.Context()); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Error(err)
		}
		if res, err := ci.RunInContext(t.Context(), id, "ok x", nil); err != nil || res.Stdout() != "x" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// TestNoPauser: an interpreter whose runtime cannot pause has no Pauser, and neither has
// a share.
func TestNoPauser(t *testing.T) {
	if _, ok := codeinterp.Pauses(driver.New(&fake{}, driver.Config{})); ok {
		t.Error("a Pauser of a runtime that is none")
	}
	shared := codeinterp.Share(driver.New(&pausable{fake: &fake{}}, driver.Config{}))
	if _, ok := codeinterp.Pauses(shared); ok || codeinterp.Describe(shared).Pause != "" {
		t.Error("a share has a Pauser")
	}
}
