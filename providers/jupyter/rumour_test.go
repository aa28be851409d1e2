//go:build linux

package jupyter_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// deaths are what a program can forge to say that its process ended.
var deaths = map[string]func(k *fake.Kernel){
	"restarting":            func(k *fake.Kernel) { k.Forge("status", fake.Status("restarting")) },
	"starting":              func(k *fake.Kernel) { k.Forge("status", fake.Status("starting")) },
	"dead":                  func(k *fake.Kernel) { k.Forge("status", fake.Status("dead")) },
	"dead by the REST API":  func(k *fake.Kernel) { k.SetState("dead") },
	"restarted by somebody": func(k *fake.Kernel) { k.Forge("shutdown_reply", map[string]bool{"restart": true}) },
	"shut down":             func(k *fake.Kernel) { k.Forge("shutdown_reply", map[string]bool{"restart": false}) },
}

// TestForgedDeath: a program that has its kernel said to be dead is not told to
// have ended while it goes on, and its state is not told as lost.
func TestForgedDeath(t *testing.T) {
	for name, forge := range deaths {
		t.Run(name, func(t *testing.T) {
			inFake(t, jupyter.Options{}, plays{"x": func(k *fake.Kernel, req *fake.Message) {
				busy(k, req)
				for range 3 {
					say(k, req, "a")
					forge(k)
					time.Sleep(2 * time.Second)
					k.SetState("idle")
				}
				say(k, req, "b")
				reply(k, req)
				idle(k, req)
			}, "last": func(k *fake.Kernel, req *fake.Message) {
				busy(k, req)
				reply(k, req)
				forge(k)
				k.SetState("idle")
				idle(k, req)
			}}.on, func(r *rig) {
				r.ok("before")
				for _, code := range []string{"x", "last"} {
					res, err := r.run(code, nil)
					if err != nil || res.StateLost || len(res.Truncated) > 0 {
						t.Errorf("%s: %+v, %v", code, res, err)
					}
					r.want(res, codeinterp.StatusOK, 0, map[string]string{"x": "aaab"}[code])
				}
				if res := r.ok("next"); res.StateLost && name != "dead" && name != "shut down" {
					t.Error("StateLost")
				}
			})
		})
	}
}

// TestForgedDeathUnanswered: where nobody says whose process there is, the kernel
// is ended before its program is told to have ended.
func TestForgedDeathUnanswered(t *testing.T) {
	restarted := make(chan time.Time, 10)
	inFake(t, jupyter.Options{}, func(s *fake.Server) {
		s.Control = func(*fake.Kernel, *fake.Message) {}
		restarted = make(chan time.Time, 10)
		s.Restart = func(*fake.Kernel) { restarted <- time.Now() }
		plays{"x": func(k *fake.Kernel, req *fake.Message) {
			busy(k, req)
			k.Forge("status", fake.Status("restarting"))
			select {
			case <-time.After(time.Hour):
			case <-restarted:
			}
		}}.on(s)
	}, func(r *rig) {
		r.ok("before")
		process := r.s.Kernels()[0].Process()
		start := time.Now()
		res, err := r.run("x", nil)
		if err != nil || !res.StateLost || res.Cause != codeinterp.CauseExit || time.Since(start) > 25*time.Second {
			t.Errorf("%+v, %v after %v", res, err, time.Since(start))
		}
		r.want(res, codeinterp.StatusLost, 137, "")
		if r.s.Kernels()[0].Process() == process {
			t.Error("its kernel was not ended")
		}
		r.ok("next")
	})
}

// TestDeathBehindOutput: a death that waits for a slow OnOutput keeps its cause.
func TestDeathBehindOutput(t *testing.T) {
	inFake(t, jupyter.Options{}, plays{"die": func(k *fake.Kernel, req *fake.Message) {
		busy(k, req)
		say(k, req, "a")
		time.Sleep(500 * time.Millisecond)
		k.Die()
	}}.on, func(r *rig) {
		r.ok("before")
		n := 0
		res, err := r.run("die", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
			if n++; n == 1 {
				time.Sleep(10 * time.Second)
			}
			return nil
		}})
		if err != nil || !res.StateLost || res.Cause != codeinterp.CauseExit {
			t.Errorf("%+v, %v", res, err)
		}
		r.ok("next")
	})
}

// TestDeathOfNobody has a kernel die that signs with nobody's name, and whose next
// process answers on the shell channel only: that is no end of the program.
func TestDeathOfNobody(t *testing.T) {
	inFake(t, jupyter.Options{}, func(s *fake.Server) {
		s.Unsigned = true
		s.Control = func(*fake.Kernel, *fake.Message) {}
		plays{"die": func(k *fake.Kernel, req *fake.Message) {
			busy(k, req)
			say(k, req, "a")
			time.Sleep(3 * time.Second)
			k.Die()
		}}.on(s)
	}, func(r *rig) {
		r.ok("before")
		res, err := r.run("die", nil)
		if err != nil || !res.StateLost || res.Cause != codeinterp.CauseExit {
			t.Errorf("%+v, %v", res, err)
		}
		r.want(res, codeinterp.StatusLost, 137, "a")
		r.ok("next")
	})
}

// forgedDeath has real kernels say that they died, and goes on.
const forgedDeath = `
import time
k = get_ipython().kernel
def forge(what, content):
    k.session.send(k.iopub_socket, what, content, parent={})
for state in "restarting", "starting", "dead":
    forge("status", {"execution_state": state})
    time.sleep(0.3)
forge("shutdown_reply", {"restart": True, "status": "ok"})
time.sleep(1.5)
print("went on")
`

// TestForgedDeathReal is TestForgedDeath with real kernels.
func TestForgedDeathReal(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		c.ok("kept = 1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		res, err := c.ci.RunInContext(ctx, c.id, forgedDeath, nil)
		if err != nil || !res.OK() || res.StateLost || !strings.Contains(res.Stdout(), "went on") {
			t.Errorf("%+v, %v", res, err)
		}
		if res := c.ok("print(kept)"); res.StateLost || res.Stdout() != "1\n" {
			t.Errorf("%+v", res)
		}
	})
}
