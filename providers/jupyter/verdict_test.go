package jupyter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestStatusIsTheReply protects row 16: a traceback that a program shows and survives is
// output, and the execute_reply decides.
func TestStatusIsTheReply(t *testing.T) {
	inFake(t, jupyter.Options{}, plays{
		"shown": func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			k.IOPub(req, "error", fakeError("ValueError", "seen", "Traceback", "ValueError: seen"))
			say(k, req, "went on\n")
			reply(k, req)
			idle(k, req)
		},
		"shown and failed": func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			k.IOPub(req, "error", fakeError("ValueError", "seen", "Traceback", "ValueError: seen"))
			k.IOPub(req, "error", fakeError("KeyError", "last", "Traceback", "KeyError: last"))
			k.Reply(req, "execute_reply", fakeError("KeyError", "last", "Traceback", "KeyError: last"))
			idle(k, req)
		},
	}.on, func(r *rig) {
		res := r.ok("shown")
		if res.Error != nil || res.Stdout() != "went on\n" || res.Stderr() != "Traceback\nValueError: seen\n" {
			t.Errorf("%+v", res)
		}
		res, err := r.run("shown and failed", nil)
		if err != nil || res.Status != codeinterp.StatusError || res.Error == nil || res.Error.Name != "KeyError" || strings.Count(res.Stderr(), "seen") != 1 || strings.Contains(res.Stderr(), "last") {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// TestDeadByTheServersWord plays a kernel without IPython whose server reports it dead
// in the middle of a run: the run ends within 5 s with its state lost.
func TestDeadByTheServersWord(t *testing.T) {
	for _, unsigned := range []bool{false, true} {
		t.Run(fmt.Sprint("unsigned ", unsigned), func(t *testing.T) {
			inFake(t, jupyter.Options{}, func(s *fakeServer) {
				s.Unsigned = unsigned
				s.Hidden = func(k *fakeKernel, req *fakeMessage) {
					k.Answer(req, "execute_reply", fakeError("ImportError", "no IPython"))
				}
				s.Execute = func(k *fakeKernel, req *fakeMessage) {
					if req.Code() != "die" {
						k.Answer(req, "execute_reply", fakeOK(1))
						return
					}
					busy(k, req)
					k.SetState("dead")
					k.Forge("status", fakeStatus("dead"))
					time.Sleep(time.Hour)
				}
			}, func(r *rig) {
				r.ok("x")
				start := time.Now()
				res, _ := r.run("die", nil)
				if took := time.Since(start); res.Status != codeinterp.StatusLost || !res.StateLost || res.Cause != codeinterp.CauseExit || took > 5*time.Second {
					t.Errorf("%+v after %v", res, took)
				}
			})
		})
	}
}
