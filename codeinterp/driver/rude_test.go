package driver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestUnseenEnd: a program whose begin was not reported has not ended well.
func TestUnseenEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{programs: map[string]program{
			"silent": func(context.Context, *fakeSession, *driver.Program, *driver.Output) (driver.Outcome, error) {
				return driver.Outcome{}, nil
			},
			"dropped": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
				_ = p.HandOver(func() error { return errors.New("the pipe is closed") })
				return driver.Outcome{}, nil
			},
		}}
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		for n, code := range []string{"silent", "dropped"} {
			res, err := ci.RunInContext(t.Context(), id, code, nil)
			want{status: "lost", exit: 137, cause: codeinterp.CauseServer, count: n + 1, err: codeinterp.ErrUnavailable}.check(t, code, res, err)
		}
		res, err := ci.RunCode(t.Context(), "fake", "silent", nil)
		want{status: "lost", exit: 137, cause: codeinterp.CauseServer, err: codeinterp.ErrUnavailable}.check(t, "RunCode", res, err)
	})
}

// TestNoInterruptOfTheEnded: an interrupt that waits behind another is not delivered
// once Run has returned, or the session was given up.
func TestNoInterruptOfTheEnded(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var over atomic.Bool
			f := &fake{onIntr: func(context.Context) error {
				if over.Load() {
					t.Error("an interrupt after the end")
				}
				time.Sleep(2 * takes)
				return nil
			}, programs: map[string]program{"late": func(ctx context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
				p.Begin()
				time.Sleep(time.Second + takes*3/2)
				over.Store(true)
				return driver.Outcome{ExitCode: 1}, nil
			}}}
			ci, id := stateful(t, f, driver.Config{})
			if takes == time.Hour {
				time.AfterFunc(time.Second+12*time.Second, func() { over.Store(true) }) // grace and patience
			}
			if res, _ := ci.RunInContext(t.Context(), id, "late", &codeinterp.RunOptions{Timeout: time.Second}); res.Status != codeinterp.StatusTimeout {
				t.Errorf("%+v", res)
			}
			time.Sleep(5 * time.Hour)
			ci.Close()
		})
	}
}
