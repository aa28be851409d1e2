package driver_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestTaken: what a session does once the program and its output are there makes
// no timeout of it, and it learns at once that the run is being stopped.
func TestTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := func(before, after time.Duration) program {
			return func(_ context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
				p.Begin()
				time.Sleep(before)
				out.Write(codeinterp.Stdout, []byte("all"))
				select {
				case <-p.Taken():
				case <-time.After(time.Hour):
					t.Error("the stop of the run was not reported")
				}
				time.Sleep(after)
				return driver.Outcome{}, nil
			}
		}
		f := &fake{programs: map[string]program{
			"ends":  look(20*time.Millisecond, time.Second),
			"slow":  look(20*time.Millisecond, 5*time.Second), // is asked to end meanwhile
			"late":  look(1100*time.Millisecond, time.Second),
			"never": look(20*time.Millisecond, time.Hour),
		}}
		f.onIntr = func(context.Context) error { return nil }
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		for _, tc := range []struct {
			code string
			want want
			took time.Duration
		}{
			{"ends", want{status: "ok", count: 1}, 2 * time.Second},
			{"slow", want{status: "ok", count: 2}, 6 * time.Second},
			{"late", want{status: "timeout", exit: 124, count: 3}, 2100 * time.Millisecond},
			{"never", want{status: "timeout", exit: 124, count: 4, lost: true, err: codeinterp.ErrUnavailable}, 13 * time.Second},
		} {
			run := start(ci, t.Context(), id, tc.code, &codeinterp.RunOptions{Timeout: time.Second})
			<-run.done
			tc.want.check(t, tc.code, run.res, run.err)
			if run.took != tc.took || run.res.Stdout() != "all" {
				t.Errorf("%s: took %v, want %v; %q", tc.code, run.took, tc.took, run.res.Stdout())
			}
		}
		if p := (&driver.Program{}); p.Taken() != nil {
			t.Error("a program without a run was stopped")
		}
		time.Sleep(2 * time.Hour) // the one that was given up
	})
}
