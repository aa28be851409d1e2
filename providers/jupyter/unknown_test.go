package jupyter_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// remembering plays a kernel that knows how its last cell ended.
func remembering(outcome string) func(k *fakeKernel, req *fakeMessage) {
	return func(k *fakeKernel, req *fakeMessage) {
		content := fakeOK(1)
		if strings.Contains(string(req.Content), ".outcome(") {
			content = map[string]any{"status": "ok", "user_expressions": map[string]any{"outcome": map[string]any{
				"status": "ok", "data": map[string]string{"text/plain": "'" + base64.StdEncoding.EncodeToString([]byte(outcome)) + "'"}}}}
		}
		k.Answer(req, "execute_reply", content)
	}
}

// TestLostReply (contract row 8) loses the reply of a program in several ways: how it ended
// is asked for, and if that is unknown it is never ok.
func TestLostReply(t *testing.T) {
	losses := map[string]func(k *fakeKernel, req *fakeMessage){
		"idle came": idle,
		"nothing came": func(k *fakeKernel, req *fakeMessage) {
			_ = k.Make("iopub", req, "status", fakeStatus("idle"))
		},
		"the socket was lost": func(k *fakeKernel, req *fakeMessage) {
			k.Drop()
			_ = k.Make("iopub", req, "status", fakeStatus("idle"))
		},
	}
	ends := []struct {
		name, outcome string
		status        codeinterp.Status
		exit          int
		err           error
	}{
		{"well", `{"status":"ok","execution_count":1}`, codeinterp.StatusOK, 0, nil},
		{"badly", `{"status":"error","ename":"ValueError","evalue":"boom"}`, codeinterp.StatusError, 1, nil},
		{"by exit", `{"status":"error","ename":"SystemExit","evalue":"3"}`, codeinterp.StatusError, 3, nil},
		{"unknown", ``, codeinterp.StatusLost, 137, codeinterp.ErrUnavailable},
	}
	for name, lose := range losses {
		for _, end := range ends {
			t.Run(name+"/"+end.name, func(t *testing.T) {
				inFake(t, jupyter.Options{}, func(s *fakeServer) {
					s.Hidden = remembering(end.outcome)
					plays{"x": func(k *fakeKernel, req *fakeMessage) {
						busy(k, req)
						say(k, req, "1")
						time.Sleep(100 * time.Millisecond)
						_ = k.Make("shell", req, "execute_reply", fakeOK(1))
						lose(k, req)
					}}.on(s)
				}, func(r *rig) {
					start := time.Now()
					res, err := r.run("x", nil)
					if !errors.Is(err, end.err) || res.Status != end.status || res.ExitCode != end.exit || res.StateLost {
						t.Errorf("%+v, %v", res, err)
					}
					if took := time.Since(start); took > 10*time.Second {
						t.Errorf("took %v", took)
					}
					r.ok("next")
				})
			})
		}
	}
}

// TestLeftRunning loses the server for longer than is waited for. The run is
// lost, and what runs on is ended, and reported, before the next one.
func TestLeftRunning(t *testing.T) {
	for name, c := range map[string]struct {
		program     time.Duration // from the loss
		stops, lost bool          // by an interrupt; the state
		how         string
	}{
		"ended meanwhile": {35 * time.Second, true, false, "had ended meanwhile"},
		"interrupted":     {10 * time.Minute, true, false, "was interrupted"},
		"killed":          {10 * time.Minute, false, true, "was ended with its kernel's process"},
	} {
		t.Run(name, func(t *testing.T) {
			var down, interrupted atomic.Bool
			inFake(t, jupyter.Options{}, func(s *fakeServer) {
				s.HTTP = outage(&down)
				s.Interrupt = func(*fakeKernel) { interrupted.Store(true) }
				plays{"x": func(k *fakeKernel, req *fakeMessage) {
					busy(k, req)
					say(k, req, "1")
					time.Sleep(100 * time.Millisecond)
					down.Store(true)
					k.Drop()
					process := k.Process()
					for end := time.Now().Add(c.program); time.Now().Before(end) && (!c.stops || !interrupted.Load()) && k.Process() == process; {
						time.Sleep(100 * time.Millisecond)
					}
					reply(k, req)
					idle(k, req)
				}}.on(s)
			}, func(r *rig) {
				r.ok("before")
				res, err := r.run("x", nil)
				if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseServer || res.StateLost ||
					!errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "may still be running") {
					t.Errorf("%+v, %v", res, err)
				}
				res, err = r.run("too early", &codeinterp.RunOptions{Timeout: time.Second})
				if err == nil || res.Status != codeinterp.StatusNotRun {
					t.Errorf("while the server was away: %+v, %v", res, err)
				}
				down.Store(false)
				res = r.ok("next")
				if len(res.Outputs) == 0 || !res.Outputs[0].Late || !strings.Contains(string(res.Outputs[0].Data), c.how) || res.StateLost != c.lost {
					t.Errorf("%+v", res)
				}
				if res := r.ok("third"); res.StateLost || len(res.Outputs) > 0 {
					t.Errorf("reported twice: %+v", res)
				}
			})
		})
	}
}
