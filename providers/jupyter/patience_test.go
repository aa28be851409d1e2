package jupyter_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// A counter counts the requests that a fake gets.
type counter struct{ n atomic.Int64 }

func (c *counter) on(s *fake.Server) {
	s.HTTP = func(http.ResponseWriter, *http.Request) bool {
		c.n.Add(1)
		return false
	}
}

// atMost wants no more than two requests a second since start, and a few.
func (c *counter) atMost(t *testing.T, start time.Time) {
	t.Helper()
	if n, max := c.n.Load(), int64(2*time.Since(start)/time.Second)+10; n > max {
		t.Errorf("%d requests in %v", n, time.Since(start))
	}
}

// TestSlowKernelIsNotGone plays kernels that live and answer late, or never,
// after a restart: they are waited for within the caller's ctx, asked now and
// then, and never replaced.
func TestSlowKernelIsNotGone(t *testing.T) {
	for name, c := range map[string]struct {
		after, limit time.Duration
		want         error
	}{
		"late":                {24 * time.Second, 50 * time.Second, nil},
		"too late for ctx":    {45 * time.Second, 30 * time.Second, context.DeadlineExceeded},
		"never":               {time.Hour, 10 * time.Minute, codeinterp.ErrUnavailable},
		"late, and no socket": {24 * time.Second, 50 * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var requests counter
			inFake(t, jupyter.Options{}, requests.on, func(r *rig) {
				r.ok("x")
				kernel := r.s.Kernels()[0]
				if err := r.ci.RestartContext(r.t.Context(), r.id); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				requests.n.Store(0)
				r.s.Info = func(k *fake.Kernel, req *fake.Message) {
					if time.Since(start) > c.after {
						k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
					}
				}
				if name == "late, and no socket" {
					kernel.Drop()
				}
				ctx, cancel := context.WithTimeout(r.t.Context(), c.limit)
				defer cancel()
				res, err := r.ci.RunInContext(ctx, r.id, "x", nil)
				if took := time.Since(start); !errors.Is(err, c.want) || took > min(c.limit, time.Minute)+5*time.Second {
					t.Errorf("%+v, %v after %v", res, err, took)
				}
				requests.atMost(t, start)
				if c.want != nil && res.Status != codeinterp.StatusNotRun || r.s.Kernels()[0] != kernel {
					t.Errorf("%+v, kernel replaced: %t", res, r.s.Kernels()[0] != kernel)
				}
			})
		})
	}
}

// TestRestartedElsewhere plays a kernel of a cluster whose process died and was
// started again at another address: the sockets of before lead nowhere, and the
// server goes on calling it busy.
func TestRestartedElsewhere(t *testing.T) {
	var sockets atomic.Int64
	var requests counter
	inFake(t, jupyter.Options{}, func(s *fake.Server) {
		requests.on(s)
		count := s.HTTP
		s.HTTP = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/channels") {
				sockets.Add(1)
			}
			return count(w, r)
		}
		plays{"die": func(k *fake.Kernel, req *fake.Message) {
			busy(k, req)
			before := sockets.Load()
			s.Info = func(k *fake.Kernel, req *fake.Message) {
				if sockets.Load() > before {
					k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
				}
			}
			s.Control = func(k *fake.Kernel, req *fake.Message) {
				if sockets.Load() > before {
					k.Control(req, "kernel_info_reply", map[string]string{"status": "ok"})
				}
			}
			k.SetState("busy")
			k.Die()
		}}.on(s)
	}, func(r *rig) {
		r.ok("before")
		if res, err := r.run("die", nil); err != nil || res.Status != codeinterp.StatusLost || !res.StateLost {
			t.Errorf("%+v, %v", res, err)
		}
		start := time.Now()
		requests.n.Store(0)
		if res := r.ok("next"); res.StateLost || time.Since(start) > 10*time.Second {
			t.Errorf("%+v after %v", res, time.Since(start))
		}
		requests.atMost(t, start)
	})
}

// TestHalfOpenSocket plays a socket that takes everything and delivers nothing,
// of a kernel that the server calls idle: it is given up within seconds.
func TestHalfOpenSocket(t *testing.T) {
	var sockets, deaf atomic.Int64
	inFake(t, jupyter.Options{}, func(s *fake.Server) {
		s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/channels") {
				sockets.Add(1)
			}
			return false
		}
		s.Hidden = told(`{"status":"error","ename":"ValueError","evalue":"boom"}`)
		s.Info = func(k *fake.Kernel, req *fake.Message) {
			if sockets.Load() > deaf.Load() {
				k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
			}
		}
		plays{"work": func(k *fake.Kernel, req *fake.Message) {
			busy(k, req)
			say(k, req, "1")
			deaf.Store(sockets.Load())
		}}.on(s)
	}, func(r *rig) {
		start := time.Now()
		res, err := r.run("work", nil)
		if took := time.Since(start); err != nil || res.Status != codeinterp.StatusError || len(res.Truncated) == 0 || took > 20*time.Second {
			t.Errorf("%+v, %v after %v", res, err, took)
		}
	})
}
