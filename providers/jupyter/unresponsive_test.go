package jupyter_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestUnresponsiveAfterInterrupt plays kernels that live on after an interrupt and answer
// no request any more: one that is ours alone is restarted within bounds, which is
// reported; another may be at work for others, and is waited for.
func TestUnresponsiveAfterInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		state   string // what the server goes on saying of it
		foreign bool   // the last that it said was that it works for somebody else
		shared  bool   // another client is connected
	}{
		"idle":           {state: "idle"},
		"busy":           {state: "busy"},
		"busy elsewhere": {state: "busy", foreign: true},
		"shared":         {state: "busy", shared: true},
	} {
		t.Run(name, func(t *testing.T) {
			var deaf atomic.Pointer[string] // the process
			var interrupted chan bool
			hears := func(k *fake.Kernel) bool {
				p := deaf.Load()
				return p == nil || *p != k.Process()
			}
			inFake(t, jupyter.Options{}, func(s *fake.Server) {
				interrupted = make(chan bool, 10)
				s.Interrupt = func(*fake.Kernel) { interrupted <- true }
				s.Restart = func(k *fake.Kernel) { k.SetState("idle") }
				s.Info = func(k *fake.Kernel, req *fake.Message) {
					if hears(k) {
						k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
					}
				}
				s.Hidden = func(k *fake.Kernel, req *fake.Message) {
					if hears(k) {
						k.Answer(req, "execute_reply", fake.OK(1))
					}
				}
				s.Execute = func(k *fake.Kernel, req *fake.Message) {
					if !hears(k) {
						return
					}
					busy(k, req)
					if req.Code() == "spin" {
						<-interrupted
						process := k.Process()
						deaf.Store(&process)
						k.SetState(c.state)
					}
					reply(k, req)
					idle(k, req)
					if c.foreign && req.Code() == "spin" {
						busy(k, &fake.Message{Header: fake.Header{ID: "other", Session: "other"}})
					}
				}
			}, func(r *rig) {
				r.ok("x = 1")
				kernel := r.s.Kernels()[0]
				if c.shared {
					other := share(r.t, r.s, kernel)
					defer other()
				}
				if res, err := r.run("spin", &codeinterp.RunOptions{Timeout: time.Second}); err != nil || res.Status != codeinterp.StatusTimeout {
					t.Fatalf("%+v, %v", res, err)
				}
				start, process := time.Now(), kernel.Process()
				ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Minute)
				defer cancel()
				res, err := r.ci.RunInContext(ctx, r.id, "next", nil)
				took := time.Since(start)
				if c.shared {
					if !errors.Is(err, context.DeadlineExceeded) || res.Status != codeinterp.StatusNotRun || kernel.Process() != process {
						t.Errorf("%+v, %v after %v; restarted: %t", res, err, took, kernel.Process() != process)
					}
					return
				}
				if err != nil || !res.OK() || !res.StateLost || took > 30*time.Second || kernel.Process() == process {
					t.Errorf("%+v, %v after %v", res, err, took)
				}
				if len(res.Outputs) == 0 || !res.Outputs[0].Late || !strings.Contains(string(res.Outputs[0].Data), "was restarted") {
					t.Errorf("said %+v", res.Outputs)
				}
				if res := r.ok("third"); res.StateLost {
					t.Error("StateLost twice")
				}
			})
		})
	}
}

// share connects another client to a kernel of the fake.
func share(t *testing.T, s *fake.Server, k *fake.Kernel) (leave func()) {
	t.Helper()
	ci, err := jupyter.NewStateful(t.Context(), fakeOptions(s, jupyter.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ci.Adopt(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := ci.Close(); err != nil && !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Error(err)
		}
	}
}
