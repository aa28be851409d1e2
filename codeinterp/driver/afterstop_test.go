package driver_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestAfterStop: what AfterStop was given is called once, when ctx has ended,
// also where that was before; and not once it was taken back, or ctx ends with
// the run.
func TestAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called, inTime int
		f := func(ctx context.Context, p *driver.Program) (stop func() bool) {
			return p.AfterStop(ctx, func() {
				called++
				if ctx.Err() == nil {
					t.Error("called before ctx has ended")
				}
			})
		}
		// What each returns says whether f was taken back.
		steps := map[string]func(ctx context.Context, p *driver.Program) (stop func() bool){
			"forever": func(ctx context.Context, p *driver.Program) func() bool {
				stop := f(ctx, p)
				<-ctx.Done()
				synctest.Wait()
				return stop
			},
			"late": func(ctx context.Context, p *driver.Program) func() bool {
				<-ctx.Done()
				stop := f(ctx, p)
				synctest.Wait()
				return stop
			},
			"back": func(ctx context.Context, p *driver.Program) func() bool {
				stop := f(ctx, p)
				taken := stop()
				<-ctx.Done()
				synctest.Wait()
				return func() bool { return taken }
			},
			"well": f,
			"leaves": func(ctx context.Context, p *driver.Program) func() bool {
				f(ctx, p)
				return func() bool { return false }
			},
		}
		programs := map[string]program{}
		for name, step := range steps {
			programs[name] = func(ctx context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
				p.Begin()
				if step(ctx, p)() {
					inTime++
				}
				return driver.Outcome{}, nil
			}
		}
		fk := &fake{programs: programs, onIntr: func(context.Context) error { return nil }}
		ci, id := stateful(t, fk, driver.Config{})
		defer ci.Close()
		for _, tc := range []struct {
			code           string
			called, inTime int
		}{{"forever", 1, 0}, {"late", 1, 0}, {"back", 0, 1}, {"well", 0, 1}, {"leaves", 0, 0}, {"forever", 1, 0}} {
			called, inTime = 0, 0
			_, err := ci.RunInContext(t.Context(), id, tc.code, &codeinterp.RunOptions{Timeout: time.Second})
			synctest.Wait()
			if err != nil || called != tc.called || inTime != tc.inTime {
				t.Errorf("%s: called %d times, taken back %d times, %v", tc.code, called, inTime, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		called = 0
		f(ctx, &driver.Program{})
		cancel()
		synctest.Wait()
		if called != 1 {
			t.Error("a program without a run has no AfterStop")
		}
	})
}
