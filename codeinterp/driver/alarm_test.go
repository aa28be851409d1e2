package driver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestDeadlinesOfRuns runs programs of one context, each to its own timeout or its end,
// whatever the timeouts of the runs before were.
func TestDeadlinesOfRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci, id := stateful(t, &fake{}, driver.Config{})
		defer ci.Close()
		for _, tt := range []struct {
			code                string
			pause, timeout, end time.Duration
		}{
			{"sleep 1s", 0, time.Minute, time.Second},
			{"sleep 1h", 0, 2 * time.Minute, 2 * time.Minute},
			{"sleep 1h", 0, time.Second, time.Second},
			{"sleep 1s", 0, 0, time.Second},
			{"sleep 10m", 0, 0, 10 * time.Minute},
			{"sleep 1s", 0, time.Minute, time.Second},
			{"sleep 1h", 50 * time.Second, 30 * time.Second, 30 * time.Second},
			{"sleep 1s", 0, time.Minute, time.Second},
			{"sleep 1h", 2 * time.Hour, time.Minute, time.Minute},
		} {
			time.Sleep(tt.pause)
			begin := time.Now()
			res, err := ci.RunInContext(t.Context(), id, tt.code, &codeinterp.RunOptions{Timeout: tt.timeout})
			want := codeinterp.StatusOK
			if tt.end == tt.timeout {
				want = codeinterp.StatusTimeout
			}
			if took := time.Since(begin); err != nil || res.Status != want || took != tt.end || res.Duration != tt.end {
				t.Errorf("%+v: %s after %v, duration %v, %v", tt, res.Status, took, res.Duration, err)
			}
		}
	})
}
