package driver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

func runtimeGoexit() { runtime.Goexit() }

// TestHammer has many callers run, stop, restart and delete at the same time,
// and checks that everybody gets their own answer, and a lawful one.
func TestHammer(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			polite(t, f)
			ci := driver.NewStateful(f, driver.Config{Grace: 20 * time.Millisecond, Patience: time.Second})
			var mu sync.Mutex
			ids := make([]codeinterp.ContextID, 8)
			for i := range ids {
				ids[i] = create(t, ci)
			}
			var callers sync.WaitGroup
			for n := range 24 {
				rnd := rand.New(rand.NewPCG(seed, uint64(n)))
				callers.Go(func() {
					for i := range 150 {
						slot := rnd.IntN(len(ids))
						mu.Lock()
						id := ids[slot]
						mu.Unlock()
						switch rnd.IntN(12) {
						case 0:
							_ = ci.RestartContext(t.Context(), id)
						case 1:
							_ = ci.InterruptContext(t.Context(), id)
						case 2:
							if ci.DeleteContext(t.Context(), id) == nil {
								new := create(t, ci)
								mu.Lock()
								ids[slot] = new
								mu.Unlock()
							}
						default:
							hammer(t, ci, rnd, id, fmt.Sprint(n, "-", i))
						}
						time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
					}
				})
			}
			callers.Wait()
			if err := ci.Close(); err != nil || f.open.Load() != 0 {
				t.Errorf("%v, %d sessions are open", err, f.open.Load())
			}
		})
	}
}

// hammer makes one run and checks its answer.
func hammer(t *testing.T, ci *driver.Stateful, rnd *rand.Rand, id codeinterp.ContextID, text string) {
	code := []string{"ok " + text, "sleep 5ms", "stubborn", "die", "slow"}[rnd.IntN(5)]
	o := &codeinterp.RunOptions{Timeout: time.Duration(1+rnd.IntN(10)) * time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if rnd.IntN(3) == 0 {
		time.AfterFunc(time.Duration(rnd.IntN(10))*time.Millisecond, cancel)
	}
	var res codeinterp.Result
	var err error
	if rnd.IntN(8) == 0 {
		res, err = ci.RunCode(ctx, "fake", code, o)
	} else {
		res, err = ci.RunInContext(ctx, id, code, o)
	}
	lawful := false
	switch res.Status {
	case codeinterp.StatusOK:
		lawful = err == nil && res.ExitCode == 0 && (code[:2] != "ok" || res.Stdout() == text) && code != "stubborn" && code != "die"
	case codeinterp.StatusError:
		lawful = err == nil && res.Cause == codeinterp.CauseInterrupt
	case codeinterp.StatusTimeout:
		lawful = err == nil && res.ExitCode == 124
	case codeinterp.StatusCanceled:
		lawful = errors.Is(err, context.Canceled)
	case codeinterp.StatusLost:
		lawful = res.Cause == codeinterp.CauseRestart && err == nil || errors.Is(err, codeinterp.ErrContext) || code == "die" && err == nil
	case codeinterp.StatusNotRun:
		lawful = errors.Is(err, context.Canceled) || errors.Is(err, codeinterp.ErrContext)
	}
	if !lawful {
		t.Errorf("%q ended as %v, %d, cause %q, stdout %q, %v", code, res.Status, res.ExitCode, res.Cause, res.Stdout(), err)
	}
}

// BenchmarkRun is what the driver adds to a program that does nothing.
func BenchmarkRun(b *testing.B) {
	empty := map[string]program{"": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{}, nil
	}}
	ci := driver.NewStateful(&fake{programs: empty}, driver.Config{})
	defer ci.Close()
	id, err := ci.CreateContext(b.Context(), "fake", nil)
	if err != nil {
		b.Fatal(err)
	}
	cancelable, cancel := context.WithCancel(b.Context())
	defer cancel()
	for _, bm := range []struct {
		name string
		run  func() (codeinterp.Result, error)
	}{
		{"context", func() (codeinterp.Result, error) { return ci.RunInContext(context.Background(), id, "", nil) }},
		{"timeout", func() (codeinterp.Result, error) {
			return ci.RunInContext(cancelable, id, "", &codeinterp.RunOptions{Timeout: time.Minute})
		}},
		{"once", func() (codeinterp.Result, error) { return ci.RunCode(context.Background(), "fake", "", nil) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := bm.run(); !res.OK() {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id, _ := ci.CreateContext(context.Background(), "fake", nil)
			if err := ci.DeleteContext(context.Background(), id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
