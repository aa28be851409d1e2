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

// TestOutcomes runs programs one after the other in one context.
func TestOutcomes(t *testing.T) {
	canceled := errors.New("the caller's own cause")
	const ok, failed, timeout = codeinterp.StatusOK, codeinterp.StatusError, codeinterp.StatusTimeout
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{}, driver.Config{})
		for i, step := range []struct {
			code    string
			timeout time.Duration
			cancel  time.Duration
			want    want
			took    time.Duration
		}{
			{"ok a", 0, 0, want{status: ok, count: 1}, 0},
			{"fail", 0, 0, want{status: failed, exit: 1, count: 2}, 0},
			{"sleep 1s", 2 * time.Second, 3 * time.Second, want{status: ok, count: 3}, time.Second},
			{"sleep 3s", 2 * time.Second, 0, want{status: timeout, exit: 124, count: 4}, 2 * time.Second},
			{"sleep 3s", 0, time.Second, want{status: "canceled", exit: 130, count: 5, err: canceled}, time.Second},
			{"die", 0, 0, want{status: "lost", exit: 134, cause: codeinterp.CauseSignal, lost: true, count: 6}, 0},
			{"ok b", 0, 0, want{status: ok, count: 1}, 0},
			{"exit", 0, 0, want{status: "lost", exit: 137, cause: codeinterp.CauseExit, lost: true, count: 2}, 0},
			{"ok c", 0, 0, want{status: ok, count: 1}, 0},
			{"gone", 0, 0, want{status: ok, lost: true, count: 1}, 0},
			{"ok d", 0, 0, want{status: ok, count: 2}, 0},
			{"stubborn", 5 * time.Second, 0, want{status: timeout, exit: 124, lost: true, count: 3}, 7 * time.Second},
			{"ok e", 0, 0, want{status: ok, count: 1}, 0},
			{"unknown", 0, 0, want{status: "lost", exit: 137, cause: codeinterp.CauseServer, count: 2, err: codeinterp.ErrUnavailable, text: "reply"}, 0},
			{"never", 0, 0, want{status: "not_run", exit: -1, err: codeinterp.ErrUnavailable, text: "no kernel"}, 0},
			{"ok f", 0, 0, want{status: ok, count: 3}, 0},
			{"slow", 1500 * time.Millisecond, 0, want{status: ok, count: 4}, 2 * time.Second},
			{"slow", 500 * time.Millisecond, 0, want{status: timeout, exit: 124, count: 5}, 1500 * time.Millisecond},
			{"slow", 0, 500 * time.Millisecond, want{status: "not_run", exit: -1, err: canceled}, 500 * time.Millisecond},
			{"count", 0, 0, want{status: ok, count: 42}, 0},
			{"ok", 0, 0, want{status: ok, count: 43}, 0},
			// The deadline of a run before is no later one's.
			{"ok", 500 * time.Millisecond, 0, want{status: ok, count: 44}, 0},
			{"sleep 1s", 2 * time.Second, 0, want{status: ok, count: 45}, time.Second},
			{"ok", 500 * time.Millisecond, 0, want{status: ok, count: 46}, 0},
			{"sleep 3s", 2 * time.Second, 0, want{status: timeout, exit: 124, count: 47}, 2 * time.Second},
			{"ok", 5 * time.Second, 0, want{status: ok, count: 48}, 0},
			{"sleep 3s", 2 * time.Second, 0, want{status: timeout, exit: 124, count: 49}, 2 * time.Second},
		} {
			ctx := t.Context()
			if step.cancel > 0 {
				var stop context.CancelCauseFunc
				ctx, stop = context.WithCancelCause(ctx)
				time.AfterFunc(step.cancel, func() { stop(canceled) })
			}
			begin := time.Now()
			res, err := ci.RunInContext(ctx, id, step.code, &codeinterp.RunOptions{Timeout: step.timeout})
			step.want.check(t, step.code, res, err)
			if took := time.Since(begin); took != step.took {
				t.Errorf("%d, %s: took %v, want %v", i, step.code, took, step.took)
			}
			slept := step.took
			switch {
			case res.Status == codeinterp.StatusNotRun:
				slept = 0
			case step.code == "slow":
				slept -= time.Second
			}
			if res.Duration != slept {
				t.Errorf("%d, %s: duration %v", i, step.code, res.Duration)
			}
		}
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
	})
}
