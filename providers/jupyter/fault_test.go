package jupyter_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestKernelDiesBeforeItTellsTheRun: whether the program ran is not known, so it is
// not run again, here or by the kernel's next process.
func TestKernelDiesBeforeItTellsTheRun(t *testing.T) {
	var ran, restarts atomic.Int32
	inFake(t, jupyter.Options{}, func(s *fakeServer) {
		s.Restart = func(*fakeKernel) { restarts.Add(1) }
		plays{"x": func(k *fakeKernel, req *fakeMessage) {
			ran.Add(1)
			k.Die()
		}}.on(s)
	}, func(r *rig) {
		r.ok("before")
		res, err := r.run("x", nil)
		if err != nil || !res.StateLost || res.Cause != codeinterp.CauseExit || ran.Load() != 1 || restarts.Load() != 1 {
			t.Errorf("%+v, %v; ran %d times, %d restarts", res, err, ran.Load(), restarts.Load())
		}
		r.want(res, codeinterp.StatusLost, 137, "")
		if res := r.ok("next"); res.StateLost {
			t.Error("StateLost twice")
		}
	})
}

func TestKernelGoes(t *testing.T) {
	cases := map[string]func(*fakeServer, *fakeKernel, *fakeMessage){
		"restarted by another client": func(_ *fakeServer, k *fakeKernel, _ *fakeMessage) {
			defer k.Replace()
			k.IOPub(&fakeMessage{Header: fakeHeader{ID: "server"}}, "shutdown_reply", map[string]bool{"restart": true})
		},
		"dead": func(s *fakeServer, k *fakeKernel, _ *fakeMessage) {
			s.Remove(k)
			k.IOPub(nil, "status", fakeStatus("dead"))
		},
		"shut down": func(s *fakeServer, k *fakeKernel, _ *fakeMessage) {
			s.Remove(k)
			k.IOPub(&fakeMessage{Header: fakeHeader{ID: "server"}}, "shutdown_reply", map[string]bool{"restart": false})
		},
		"culled in silence": func(s *fakeServer, k *fakeKernel, _ *fakeMessage) { s.Remove(k) },
		"dead by the REST API": func(_ *fakeServer, k *fakeKernel, _ *fakeMessage) {
			k.Replace()
			k.SetState("dead")
		},
	}
	causes := map[string]codeinterp.Cause{"restarted by another client": codeinterp.CauseRestart, "dead": codeinterp.CauseExit,
		"shut down": codeinterp.CauseServer, "culled in silence": codeinterp.CauseServer, "dead by the REST API": codeinterp.CauseExit}
	for name, play := range cases {
		t.Run(name, func(t *testing.T) {
			var s *fakeServer
			inFake(t, jupyter.Options{}, func(server *fakeServer) {
				s = server
				plays{"x": func(k *fakeKernel, req *fakeMessage) {
					busy(k, req)
					say(k, req, "a")
					play(s, k, req)
				}}.on(server)
			}, func(r *rig) {
				start := time.Now()
				res, err := r.run("x", nil)
				if err != nil || !res.StateLost || res.Cause != causes[name] || time.Since(start) > 4*time.Second {
					t.Errorf("%+v, %v after %v", res, err, time.Since(start))
				}
				r.want(res, codeinterp.StatusLost, 137, "a")
				r.ok("next")
			})
		})
	}
}

func TestCulledBetweenRuns(t *testing.T) {
	for name, drop := range map[string]bool{"socket open": false, "socket lost": true} {
		t.Run(name, func(t *testing.T) {
			inFake(t, jupyter.Options{}, nil, func(r *rig) {
				r.ok("x")
				k := r.s.Kernels()[0]
				r.s.Remove(k)
				if drop {
					k.Drop()
				}
				time.Sleep(time.Minute)
				res := r.ok("next")
				if !res.StateLost {
					t.Errorf("no StateLost: %+v", res)
				}
			})
		})
	}
}

// TestLostSocket: what the server replays is shown once, and the Result says that there may
// have been more.
func TestLostSocket(t *testing.T) {
	cases := map[string]func(k *fakeKernel, req *fakeMessage, before *fakeMessage){
		"all comes, and some again": func(k *fakeKernel, req *fakeMessage, before *fakeMessage) {
			k.Raw(before)
			say(k, req, "2")
			reply(k, req)
			idle(k, req)
		},
		"output is missing": func(k *fakeKernel, req *fakeMessage, _ *fakeMessage) {
			_ = k.Make("iopub", req, "stream", fakeStream("stdout", "missing"))
			say(k, req, "2")
			reply(k, req)
			idle(k, req)
		},
		"the idle is missing": func(k *fakeKernel, req *fakeMessage, _ *fakeMessage) {
			say(k, req, "2")
			reply(k, req)
			_ = k.Make("iopub", req, "status", fakeStatus("idle"))
		},
	}
	for name, rest := range cases {
		t.Run(name, func(t *testing.T) {
			inFake(t, jupyter.Options{}, plays{"x": func(k *fakeKernel, req *fakeMessage) {
				busy(k, req)
				before := k.Make("iopub", req, "stream", fakeStream("stdout", "1 "))
				k.Raw(before)
				time.Sleep(time.Second)
				k.Drop()
				rest(k, req, before)
			}}.on, func(r *rig) {
				res := r.ok("x")
				r.want(res, codeinterp.StatusOK, 0, "1 2")
				if reason(res) != codeinterp.TruncatedByConnection || res.StateLost {
					t.Errorf("%+v", res)
				}
				r.ok("next")
			})
		})
	}
}

func TestSocketLostBetweenRuns(t *testing.T) {
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		r.ok("x")
		r.s.Cut()
		time.Sleep(time.Hour)
		if res := r.ok("next"); res.StateLost || len(res.Truncated) > 0 {
			t.Errorf("%+v", res)
		}
	})
}

// outage refuses every request while it is on.
func outage(down *atomic.Bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		if down.Load() {
			fakeFail(w, 503, "Service Unavailable")
		}
		return down.Load()
	}
}

func TestServerGoesAway(t *testing.T) {
	var down atomic.Bool
	hook := outage(&down)
	run := func(t *testing.T, back time.Duration, check func(r *rig, res codeinterp.Result, err error)) {
		down.Store(false)
		inFake(t, jupyter.Options{}, func(s *fakeServer) {
			s.HTTP = hook
			plays{"x": func(k *fakeKernel, req *fakeMessage) {
				busy(k, req)
				say(k, req, "1 ")
				time.Sleep(100 * time.Millisecond)
				down.Store(true)
				k.Drop()
				say(k, req, "2")
				time.Sleep(back)
				down.Store(false)
				reply(k, req)
				idle(k, req)
			}}.on(s)
		}, func(r *rig) {
			res, err := r.run("x", nil)
			check(r, res, err)
		})
	}
	t.Run("for a while", func(t *testing.T) {
		run(t, 20*time.Second, func(r *rig, res codeinterp.Result, err error) {
			r.want(res, codeinterp.StatusOK, 0, "1 2")
		})
	})
	t.Run("for good", func(t *testing.T) {
		run(t, 2*time.Minute, func(r *rig, res codeinterp.Result, err error) {
			r.want(res, codeinterp.StatusLost, 137, "1 ")
			if res.Cause != codeinterp.CauseServer || !errors.Is(err, codeinterp.ErrUnavailable) {
				t.Errorf("%+v, %v", res, err)
			}
			time.Sleep(3 * time.Minute)
		})
	})
}

func TestKernelNeverReady(t *testing.T) {
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		r.s.Info = func(*fakeKernel, *fakeMessage) {}
		before := len(r.s.Kernels())
		start := time.Now()
		_, err := r.ci.CreateContext(r.t.Context(), "python", nil)
		if !errors.Is(err, codeinterp.ErrUnavailable) || time.Since(start) > 70*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
		defer cancel()
		if _, err := r.ci.CreateContext(ctx, "python", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("canceled: %v", err)
		}
		time.Sleep(time.Second)
		if n := len(r.s.Kernels()); n != before {
			t.Errorf("%d kernels, want %d", n, before)
		}
	})
}

// TestStartGivenUp gives a start up before its answer comes: the kernel is deleted.
func TestStartGivenUp(t *testing.T) {
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		r.s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				time.Sleep(10 * time.Second)
			}
			return false
		}
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := r.ci.CreateContext(ctx, "python", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(time.Minute)
		if n := len(r.s.Kernels()); n != 1 {
			t.Errorf("%d kernels, want 1", n)
		}
	})
}
