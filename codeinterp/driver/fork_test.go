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

// A forking fake copies sessions that have run something.
type forking struct {
	*fake
	fails error
}

func (f forking) Describe() codeinterp.Info {
	info := f.fake.Describe()
	info.Languages[0].Forks = true
	return info
}

func (f forking) Fork(_ context.Context, of driver.Session, o driver.Options) (driver.Session, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	s := of.(*fakeSession)
	defer s.enter("Fork")()
	f.open.Add(1)
	return &fakeSession{f: f.fake, o: o, used: s.used}, nil
}

// TestFork: a copy is a context of its own with the options of the other, made between two
// runs.
func TestFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := forking{fake: &fake{programs: map[string]program{"slow": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
			p.Begin()
			time.Sleep(time.Minute)
			return driver.Outcome{}, nil
		}}}}
		ci := driver.NewStateful(f, driver.Config{MaxContexts: 2})
		defer ci.Close()
		forks, ok := codeinterp.Forks(ci)
		if !ok {
			t.Fatal("no forks")
		}
		id := create(t, ci)
		go ci.RunInContext(t.Context(), id, "slow", nil)
		synctest.Wait()
		start := time.Now()
		copied, err := forks.ForkContext(t.Context(), id)
		if err != nil || copied == id || time.Since(start) != time.Minute {
			t.Fatalf("got %q after %v, %v", copied, time.Since(start), err)
		}
		if res, err := ci.RunInContext(t.Context(), copied, "slow", nil); err != nil || res.StateLost || res.ExecutionCount != 2 {
			t.Errorf("the copy's run: %+v, %v", res, err)
		}
		if _, err := forks.ForkContext(t.Context(), id); !errors.Is(err, codeinterp.ErrCapacity) {
			t.Errorf("beyond MaxContexts: %v", err)
		}
		if s := f.rude.Load(); s != nil {
			t.Error(*s)
		}
	})
}

// TestForkErrors: what cannot be copied leaves no context behind.
func TestForkErrors(t *testing.T) {
	if _, ok := codeinterp.Forks(driver.NewStateful(&fake{}, driver.Config{})); ok {
		t.Error("a runtime without forks has some")
	}
	ci := driver.NewStateful(forking{&fake{}, codeinterp.ErrCapacity}, driver.Config{})
	defer ci.Close()
	forks, _ := codeinterp.Forks(ci)
	id := create(t, ci)
	if _, err := forks.ForkContext(t.Context(), id); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("a fork that fails: %v", err)
	}
	if _, err := forks.ForkContext(t.Context(), "nothing"); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("an unknown context: %v", err)
	}
	if list, err := ci.ListContexts(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d contexts, %v", len(list), err)
	}
}
