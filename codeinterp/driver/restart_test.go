package driver_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestRestartIdle: a restart with no run in progress is not reported.
func TestRestartIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		ci.RunInContext(t.Context(), id, "ok", nil)
		if err := ci.RestartContext(t.Context(), id); err != nil {
			t.Error(err)
		}
		if err := ci.InterruptContext(t.Context(), id); err != nil {
			t.Error(err)
		}
		res, err := ci.RunInContext(t.Context(), id, "ok", nil)
		want{status: "ok", count: 1}.check(t, "after", res, err)

		f.onReset = func(context.Context) error { return errors.New("server away") }
		if err := ci.RestartContext(t.Context(), id); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("a restart that failed: %v", err)
		}
		res, err = ci.RunInContext(t.Context(), id, "ok", nil)
		want{status: "not_run", exit: -1, err: codeinterp.ErrUnavailable, text: "server away"}.check(t, "not in the old state", res, err)
		f.onReset = nil
		res, err = ci.RunInContext(t.Context(), id, "ok", nil)
		want{status: "ok", count: 1}.check(t, "tried again", res, err)
	})
}

// TestRestartLost: where a restart fails, and what tries it again costs the session,
// the new one is not reset, and the loss is not reported twice.
func TestRestartLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resets := 0
		f := &fake{onReset: func(context.Context) error {
			if resets++; resets > 1 {
				runtime.Goexit()
			}
			return errors.New("server away")
		}}
		ci, id := stateful(t, f, driver.Config{})
		defer ci.Close()
		time.AfterFunc(time.Second, func() {
			if err := ci.RestartContext(t.Context(), id); !errors.Is(err, codeinterp.ErrUnavailable) {
				t.Errorf("a restart that failed: %v", err)
			}
		})
		res, err := ci.RunInContext(t.Context(), id, "sleep 1h", nil)
		want{status: "lost", exit: 137, cause: codeinterp.CauseRestart, lost: true, count: 1}.check(t, "restarted", res, err)
		res, err = ci.RunInContext(t.Context(), id, "ok", nil)
		want{status: "not_run", exit: -1, err: codeinterp.ErrUnavailable}.check(t, "tried again", res, err)
		if n := strings.Count(err.Error(), "runtime.Goexit"); n != 1 {
			t.Errorf("says %d times why: %v", n, err)
		}
		for count := 1; count < 4; count++ {
			res, err = ci.RunInContext(t.Context(), id, "ok", nil)
			want{status: "ok", count: count}.check(t, "in a new session", res, err)
		}
		if resets != 2 {
			t.Errorf("reset %d times, want 2", resets)
		}
	})
}
