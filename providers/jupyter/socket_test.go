package jupyter_test

import (
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

// TestSocketIsNotAnswered plays a server that takes the handshake of a socket
// and answers it late, or never: the kernel keeps its state.
func TestSocketIsNotAnswered(t *testing.T) {
	var hold atomic.Bool
	hook := func(_ http.ResponseWriter, r *http.Request) bool {
		for hold.Load() && strings.HasSuffix(r.URL.Path, "/channels") {
			time.Sleep(time.Second)
		}
		return false
	}
	for name, c := range map[string]struct {
		after time.Duration
		ok    bool
	}{"late": {50 * time.Second, true}, "never": {10 * time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			inFake(t, jupyter.Options{}, func(s *fake.Server) { s.HTTP = hook }, func(r *rig) {
				r.ok("x")
				kernel := r.s.Kernels()[0]
				hold.Store(true)
				time.AfterFunc(c.after, func() { hold.Store(false) })
				kernel.Drop()
				time.Sleep(time.Second)
				start := time.Now()
				res, err := r.run("x", nil)
				switch {
				case c.ok && (err != nil || !res.OK() || res.StateLost):
					t.Errorf("%+v, %v", res, err)
				case !c.ok && (!errors.Is(err, codeinterp.ErrUnavailable) || res.Status != codeinterp.StatusNotRun || time.Since(start) > 61*time.Second):
					t.Errorf("%+v, %v after %v", res, err, time.Since(start))
				}
				hold.Store(false)
				time.Sleep(2 * time.Second)
				if res := r.ok("x"); res.StateLost || r.s.Kernels()[0] != kernel {
					t.Error("the state is lost")
				}
			})
		})
	}
	t.Run("during a run", func(t *testing.T) {
		hold.Store(false)
		inFake(t, jupyter.Options{}, func(s *fake.Server) {
			s.HTTP = hook
			plays{"work": func(k *fake.Kernel, req *fake.Message) {
				busy(k, req)
				say(k, req, "1 ")
				hold.Store(true)
				time.Sleep(100 * time.Millisecond)
				k.Drop()
			}}.on(s)
		}, func(r *rig) {
			start := time.Now()
			res, err := r.run("work", nil)
			r.want(res, codeinterp.StatusLost, 137, "1 ")
			if res.Cause != codeinterp.CauseServer || !errors.Is(err, codeinterp.ErrUnavailable) || time.Since(start) > 35*time.Second {
				t.Errorf("%+v, %v after %v", res, err, time.Since(start))
			}
			hold.Store(false)
			time.Sleep(2 * time.Second)
		})
	})
}
