package jupyter_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestEndThatNobodyHeard plays programs that have ended and of whose end neither we
// nor the server heard: a run without a timeout comes back nevertheless.
func TestEndThatNobodyHeard(t *testing.T) {
	for _, state := range []string{"busy", "starting"} {
		t.Run(state, func(t *testing.T) {
			inFake(t, jupyter.Options{}, plays{"x": func(k *fake.Kernel, req *fake.Message) {
				k.SetState(state)
				if state == "busy" {
					busy(k, req)
				}
			}}.on, func(r *rig) {
				ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Minute)
				defer cancel()
				start := time.Now()
				res, err := r.ci.RunInContext(ctx, r.id, "x", nil)
				if res.Status != codeinterp.StatusLost || !errors.Is(err, codeinterp.ErrUnavailable) || time.Since(start) > 2*time.Minute {
					t.Errorf("%+v, %v after %v", res, err, time.Since(start))
				}
				r.s.Kernels()[0].SetState("idle")
				r.ok("next")
			})
		})
	}
}

// TestLongSilence: a program that says nothing for long runs to its end, whatever is
// left with its kernel meanwhile.
func TestLongSilence(t *testing.T) {
	inFake(t, jupyter.Options{}, plays{"x": func(k *fake.Kernel, req *fake.Message) {
		busy(k, req)
		time.Sleep(time.Hour)
		say(k, req, "done")
		reply(k, req)
		idle(k, req)
	}}.on, func(r *rig) {
		if res := r.ok("x"); res.Stdout() != "done" || len(res.Truncated) > 0 || res.Duration < time.Hour {
			t.Errorf("%+v", res)
		}
	})
}
