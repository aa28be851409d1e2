package jupyter_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// inOther is inFake with a context of another language.
func inOther(t *testing.T, setup func(*fakeServer), f func(*rig)) {
	inFake(t, jupyter.Options{}, func(s *fakeServer) {
		s.Specs = map[string]string{"python3": "python", "ir": "R"}
		setup(s)
	}, func(r *rig) {
		id, err := r.ci.CreateContext(r.t.Context(), "r", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.id = id
		f(r)
	})
}

// TestUnsignedKernel plays a kernel whose messages do not tell which process
// made them: losses by the server's rate limit and lost state show all the same.
func TestUnsignedKernel(t *testing.T) {
	count := 0
	plays := plays{"rate": func(k *fakeKernel, req *fakeMessage) {
		busy(k, req)
		k.IOPub(req, "stream", fakeStream("stderr", "IOPub data rate exceeded.\nThe Jupyter server will temporarily stop\n"))
		k.Reply(req, "execute_reply", fakeOK(100))
		idle(k, req)
	}, "count": func(k *fakeKernel, req *fakeMessage) {
		count++
		k.Answer(req, "execute_reply", fakeOK(count))
	}}
	t.Run("rate", func(t *testing.T) {
		inOther(t, func(s *fakeServer) { s.Unsigned = true; plays.on(s) }, func(r *rig) {
			if res := r.ok("rate"); reason(res) != codeinterp.TruncatedByRate || res.Stderr() != "" {
				t.Errorf("truncated %+v, stderr %q", res.Truncated, res.Stderr())
			}
		})
	})
	t.Run("restarted by others between runs", func(t *testing.T) {
		count = 0
		inOther(t, func(s *fakeServer) { s.Unsigned = true; plays.on(s) }, func(r *rig) {
			r.ok("count")
			if res := r.ok("count"); res.StateLost {
				t.Error("StateLost without a loss")
			}
			count = 0
			if res := r.ok("count"); !res.StateLost || res.ExecutionCount != 1 {
				t.Errorf("%+v", res)
			}
			if res := r.ok("count"); res.StateLost {
				t.Error("StateLost twice")
			}
		})
	})
	t.Run("restarted by others during a run", func(t *testing.T) {
		inOther(t, func(s *fakeServer) {
			s.Unsigned = true
			s.Execute = func(*fakeKernel, *fakeMessage) {} // the answer goes with the process
		}, func(r *rig) {
			start := time.Now()
			res, err := r.run("x", nil)
			if res.Status != codeinterp.StatusLost || !errors.Is(err, codeinterp.ErrUnavailable) || time.Since(start) > 10*time.Second {
				t.Errorf("%+v, %v after %v", res, err, time.Since(start))
			}
		})
	})
}

// TestInput plays a kernel that asks for input though it may not: the program fails, and is
// interrupted. Only IPython kernels take Stdin.
func TestInput(t *testing.T) {
	var got []string
	var interrupts atomic.Int32
	inOther(t, func(s *fakeServer) {
		s.Interrupt = func(*fakeKernel) { interrupts.Add(1) }
		plays{"x": func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			got = append(got, k.Ask(req, "name? "), k.Ask(req, "age? "))
			reply(k, req)
			idle(k, req)
		}}.on(s)
	}, func(r *rig) {
		start := time.Now()
		res, err := r.run("x", nil)
		if err != nil || res.Status != codeinterp.StatusError || res.Error == nil || res.Error.Name != "EOFError" ||
			!slices.Equal(got, []string{"", ""}) || interrupts.Load() == 0 || time.Since(start) > time.Second {
			t.Errorf("%+v, %v, answers %q after %v, %d interrupts", res, err, got, time.Since(start), interrupts.Load())
		}
		if _, err := r.run("x", &codeinterp.RunOptions{Stdin: []byte("x")}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("with input: %v", err)
		}
	})
}

// TestPythonWithoutIPython plays a kernel that is called python's and refuses
// the setup.
func TestPythonWithoutIPython(t *testing.T) {
	inFake(t, jupyter.Options{}, func(s *fakeServer) {
		s.Hidden = func(k *fakeKernel, req *fakeMessage) {
			k.Answer(req, "execute_reply", fakeError("ImportError", "no IPython"))
		}
	}, func(r *rig) {
		r.ok("x")
		if _, err := r.run("x", &codeinterp.RunOptions{Env: map[string]string{"A": "1"}}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("an environment: %v", err)
		}
	})
}

// TestInterruptedIsNoDrop plays a kernel that says of a program which was
// interrupted what others say of one that they dropped: it is not run again, and
// not ok.
func TestInterruptedIsNoDrop(t *testing.T) {
	for _, status := range []string{"abort", "aborted"} {
		var runs atomic.Int32
		inOther(t, func(s *fakeServer) {
			s.Execute = func(k *fakeKernel, req *fakeMessage) {
				runs.Add(1)
				busy(k, req)
				k.IOPub(req, "execute_input", map[string]any{"code": req.Code(), "execution_count": 1})
				k.Reply(req, "execute_reply", map[string]any{"status": status, "execution_count": 1})
				idle(k, req)
			}
		}, func(r *rig) {
			res, err := r.run("x", nil)
			if err != nil || res.Status != codeinterp.StatusError || res.ExitCode != 1 || res.Error == nil || runs.Load() != 1 {
				t.Errorf("%s: %d runs, %+v, %v", status, runs.Load(), res, err)
			}
		})
	}
}

// TestKernelThatDiesAtBirth plays a kernelspec whose kernels die before they
// are ready, the first of them or all.
func TestKernelThatDiesAtBirth(t *testing.T) {
	for name, c := range map[string]struct {
		die, born int
	}{"twice": {2, 3}, "always": {100, 3}} {
		t.Run(name, func(t *testing.T) {
			inFake(t, jupyter.Options{}, nil, func(r *rig) {
				var born atomic.Int32
				seen := map[string]bool{}
				r.s.Info = func(k *fakeKernel, req *fakeMessage) {
					if !seen[k.ID] {
						seen[k.ID] = true
						born.Add(1)
					}
					if int(born.Load()) <= c.die {
						k.IOPub(nil, "status", fakeStatus("dead"))
						return
					}
					k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
				}
				_, err := r.ci.CreateContext(r.t.Context(), "python", nil)
				if (err == nil) != (c.die < c.born) || int(born.Load()) != c.born {
					t.Errorf("%v after %d kernels", err, born.Load())
				}
				if err != nil && (!errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "died")) {
					t.Error(err)
				}
			})
		})
	}
}

// TestCloseWithADeadServer wants Close to be bounded as a whole, however many
// kernels there are.
func TestCloseWithADeadServer(t *testing.T) {
	var frozen atomic.Bool
	dialFake(t, jupyter.Options{}, func(s *fakeServer) { s.HTTP = freeze(&frozen) },
		func(t *testing.T, s *fakeServer, ci *jupyter.Stateful, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for range 8 {
				if _, err := ci.CreateContext(t.Context(), "python", nil); err != nil {
					t.Fatal(err)
				}
			}
			frozen.Store(true)
			start := time.Now()
			if err := ci.Close(); err == nil || time.Since(start) > 30*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			frozen.Store(false)
			time.Sleep(5 * time.Second)
		})
}

// TestBusyWithOthers plays a kernel that runs another client's program when
// ours comes: it is waited for, and the time does not count as its start.
func TestBusyWithOthers(t *testing.T) {
	const others = 3 * time.Minute
	other := &fakeMessage{Header: fakeHeader{ID: "other_1", Session: "other"}}
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		r.ok("x")
		kernel := r.s.Kernels()[0]
		kernel.IOPub(other, "status", fakeStatus("busy"))
		kernel.SetState("busy")
		start := time.Now()
		r.s.Info = func(k *fakeKernel, req *fakeMessage) {
			time.Sleep(others - time.Since(start))
			k.SetState("idle")
			k.IOPub(other, "status", fakeStatus("idle"))
			k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
		}
		time.Sleep(time.Second)
		res := r.ok("y")
		if took := time.Since(start); res.StateLost || took < others || res.Duration > time.Second || r.s.Kernels()[0] != kernel {
			t.Errorf("%+v after %v", res, took)
		}
	})
}

// freeze lets requests hang while it is on.
func freeze(frozen *atomic.Bool) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		for frozen.Load() && r.Context().Err() == nil {
			time.Sleep(time.Second)
		}
		return false
	}
}
