//go:build real && linux

package subprocess_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

func pauser(t *testing.T, ci codeinterp.CodeInterpreter) codeinterp.Pauser {
	t.Helper()
	p, ok := codeinterp.Pauses(ci)
	if !ok || !strings.Contains(codeinterp.Describe(ci).Pause, "clocks") {
		t.Fatalf("no Pauser: %q", codeinterp.Describe(ci).Pause)
	}
	return p
}

// computing returns those of this process's descendants that can compute, but for the
// shell that kills what is left if the host dies.
func computing(t *testing.T) (list []string) {
	t.Helper()
	all, _ := procfs.Descendants()
	for _, st := range all {
		line, _ := procfs.File(st.PID, "cmdline")
		if strings.IndexByte("TtZXD", st.State) < 0 && !strings.Contains(string(line), "kept=") && !strings.HasPrefix(st.Name, "bwrap") {
			list = append(list, fmt.Sprintf("%d %s %c", st.PID, st.Name, st.State))
		}
	}
	return list
}

const storm = `
(while :; do for i in 1 2 3 4; do (:; /bin/true) & done; wait; echo; done) &
while :; do SETSID sh -c '(:)&'; done`

// TestPauseStorm: at random moments of storms of forks, in a context, a run and a
// command, all processes stop, and go on.
func TestPauseStorm(t *testing.T) {
	rounds := 8
	if tier.Full {
		rounds = 200
	}
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			o := inMode(mode)
			o.Limits.Processes = 10000 // a shell that cannot fork ends
			ci := open(t, o)
			p := pauser(t, ci)
			code := strings.ReplaceAll(storm, "SETSID", map[bool]string{true: "setsid"}[mode == subprocess.Bwrap])
			var written [3]atomic.Int64
			note := func(i int) *codeinterp.RunOptions {
				return &codeinterp.RunOptions{MaxOutput: 1 << 10, OnOutput: func(o codeinterp.Output) error { written[i].Add(1); return nil }}
			}
			n := newNotebook(t, ci, "bash")
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 3)
			go func() { _, err := ci.RunInContext(ctx, n.id, code, note(0)); done <- err }()
			go func() { _, err := ci.RunCode(ctx, "bash", code, note(1)); done <- err }()
			go func() {
				c, _ := codeinterp.Commands(ci)
				_, err := c.RunCommand(ctx, code, &codeinterp.CommandOptions{RunOptions: *note(2)})
				done <- err
			}()
			var slowest, all time.Duration
			for round := range rounds {
				for i := range written { // all go on
					before := written[i].Load()
					for end := time.Now().Add(time.Minute); written[i].Load() == before; time.Sleep(time.Millisecond) {
						if time.Now().After(end) {
							t.Fatalf("round %d: storm %d does not go on", round, i)
						}
					}
				}
				time.Sleep(rand.N(30 * time.Millisecond))
				begin := time.Now()
				if err := p.Pause(ctx); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				slowest, all = max(slowest, time.Since(begin)), all+time.Since(begin)
				if list := computing(t); len(list) > 0 {
					t.Errorf("round %d: not stopped: %q", round, list)
				}
				if err := p.Resume(ctx); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			t.Logf("%d pauses, the slowest %v, the mean %v", rounds, slowest, all/time.Duration(rounds))
			if err := p.Pause(ctx); err != nil {
				t.Fatal(err)
			}
			cancel() // which kills in a pause
			for range 3 {
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
			if err := p.Resume(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPauseTimeout: what is left of a timeout before a pause is left after it. A
// program's own clock goes on, and a process that it has stopped stays so.
func TestPauseTimeout(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Grace = time.Minute
		ci := open(t, o)
		p := pauser(t, ci)
		n := newNotebook(t, ci, "python")
		n.run("import subprocess, time, os, signal\nchild = subprocess.Popen(['sleep', '1000']); os.kill(child.pid, signal.SIGSTOP); os.waitpid(child.pid, os.WUNTRACED); begin = time.time()", nil)
		got := make(chan codeinterp.Result)
		began := make(chan struct{})
		begin := time.Now()
		go func() {
			got <- n.run("print('x', flush=True)\nwhile True: time.sleep(0.01)", &codeinterp.RunOptions{Timeout: 2 * time.Second,
				OnOutput: func(codeinterp.Output) error { close(began); return nil }})
		}()
		<-began
		if err := p.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := ci.RunCode(t.Context(), "python", "1", nil); !errors.Is(err, codeinterp.ErrPaused) {
			t.Error(err)
		}
		time.Sleep(2500 * time.Millisecond)
		if err := p.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		res := <-got
		if res.Status != codeinterp.StatusTimeout || res.StateLost || time.Since(begin) < 4400*time.Millisecond {
			t.Errorf("%s after %v", summary(res), time.Since(begin))
		}
		res = n.run("os.waitpid(child.pid, os.WCONTINUED | os.WNOHANG) == (0, 0) and time.time() - begin > 4.4", nil)
		if res.Text() != "True" {
			t.Errorf("after the pause: %s", summary(res))
		}
	})
}

// TestPauseKill: a signal that kills ends a command in a pause.
func TestPauseKill(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		ci := open(t, inMode(mode))
		p := pauser(t, ci)
		c, _ := codeinterp.Commands(ci)
		began, signals := make(chan struct{}), make(chan codeinterp.Signal)
		got := make(chan codeinterp.Result, 1)
		go func() {
			res, err := c.RunCommand(t.Context(), "(setsid sleep 1000 &); sleep 1000 & echo x; wait", &codeinterp.CommandOptions{Signals: signals,
				RunOptions: codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { close(began); return nil }}})
			if err != nil {
				t.Error(err)
			}
			got <- res
		}()
		<-began
		if err := p.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		signals <- codeinterp.SignalKill
		select {
		case res := <-got:
			if res.Status != codeinterp.StatusError || res.ExitCode != codeinterp.ExitKilled {
				t.Error(mode, summary(res))
			}
		case <-time.After(20 * time.Second):
			t.Error(mode, "the command goes on")
		}
		if err := p.Resume(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
