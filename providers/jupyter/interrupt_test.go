package jupyter_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestLateInterrupt has interrupts delivered after their senders stopped waiting, when the
// program that they were for has ended by itself: the next one begins when that is over.
func TestLateInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		delay time.Duration
		code  int // the answer if it is not delivered
	}{"answered late": {5 * time.Second, 0}, "refused": {0, 500}} {
		t.Run(name, func(t *testing.T) {
			var h heldRequest // what the kernel runs
			var hit sync.Map
			inFake(t, jupyter.Options{}, func(s *fakeServer) {
				s.HTTP = func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/interrupt") {
						return false
					}
					time.Sleep(c.delay)
					if c.code != 0 {
						fakeFail(w, c.code, "no")
					}
					return c.code != 0
				}
				s.Interrupt = func(k *fakeKernel) {
					if at, req := h.get(); at == k && req != nil {
						hit.Store(req.Code(), true)
					}
				}
				s.Execute = func(k *fakeKernel, req *fakeMessage) {
					h.set(k, req)
					busy(k, req)
					d := 10 * time.Second
					if req.Code() == "ends by itself" {
						d = 1500 * time.Millisecond
					}
					time.Sleep(d)
					reply(k, req)
					idle(k, req)
					h.set(nil, nil)
				}
			}, func(r *rig) {
				kernel := r.s.Kernels()[0]
				res, err := r.run("ends by itself", &codeinterp.RunOptions{Timeout: time.Second})
				if err != nil || res.Status != codeinterp.StatusTimeout {
					t.Errorf("%+v, %v", res, err)
				}
				start := time.Now()
				next := r.ok("next")
				if took := time.Since(start) - 10*time.Second; took > 6*time.Second || next.StateLost || r.s.Kernels()[0] != kernel {
					t.Errorf("it waited %v: %+v", took, next)
				}
				r.ok("third")
				time.Sleep(5 * time.Minute)
				hit.Range(func(code, _ any) bool {
					if code != "ends by itself" {
						t.Errorf("%q was interrupted", code)
					}
					return true
				})
			})
		})
	}
}
