package jupyter_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestLateInterrupt has interrupts delivered long after their senders stopped
// waiting, when the program that they were for has ended by itself: the next one
// begins when that is over, or in another kernel if that is unknown.
func TestLateInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		message  bool // the kernel is asked, not the server
		delay    time.Duration
		cut      bool // the request is lost, and delivered all the same
		code     int  // the answer if it is not delivered
		replaced bool
		within   time.Duration
	}{
		"answered late":     {false, 5 * time.Second, false, 0, false, 6 * time.Second},
		"answered too late": {false, 2 * time.Minute, false, 0, true, 35 * time.Second},
		"cut":               {false, 10 * time.Second, true, 0, true, 6 * time.Second},
		"refused":           {false, 0, false, 500, false, 6 * time.Second},
		"given up between":  {false, 0, false, 504, true, 6 * time.Second},

		"message":                    {true, 0, false, 0, false, 6 * time.Second},
		"message, answered late":     {true, 5 * time.Second, false, 0, false, 6 * time.Second},
		"message, answered too late": {true, 2 * time.Minute, false, 0, true, 35 * time.Second},
		"message, cut":               {true, 10 * time.Second, true, 0, true, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var h heldRequest // what the kernel runs
			var hit sync.Map
			inFake(t, jupyter.Options{}, func(s *fake.Server) {
				if c.message {
					s.InterruptMode = "message"
				}
				s.Control = func(k *fake.Kernel, req *fake.Message) {
					if req.Header.Type != "interrupt_request" {
						return
					}
					if c.cut {
						k.Drop()
					}
					process := k.Process()
					if time.Sleep(c.delay); k.Process() != process {
						return // it died with what it was asked for
					}
					s.Interrupt(k)
					k.Control(req, "interrupt_reply", fake.OK(0))
				}
				s.HTTP = func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/interrupt") {
						return false
					}
					if c.message {
						t.Error("the server was asked too")
					}
					if c.cut {
						conn, _, _ := http.NewResponseController(w).Hijack()
						conn.Close()
					}
					if c.code != 0 {
						fake.Fail(w, c.code, "no")
						return true
					}
					time.Sleep(c.delay)
					return c.delay == 0
				}
				s.Interrupt = func(k *fake.Kernel) {
					if at, req := h.get(); at == k && req != nil {
						hit.Store(req.Code(), true)
					}
				}
				s.Execute = func(k *fake.Kernel, req *fake.Message) {
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
				process := kernel.Process()
				res, err := r.run("ends by itself", &codeinterp.RunOptions{Timeout: time.Second})
				if err != nil || res.Status != codeinterp.StatusTimeout {
					t.Errorf("%+v, %v", res, err)
				}
				start := time.Now()
				next := r.ok("next")
				if took := time.Since(start) - 10*time.Second; took > c.within {
					t.Errorf("it waited %v", took)
				}
				now := r.s.Kernels()[0]
				// A run whose interrupt failed may have been killed as it ended.
				killed := now == kernel && now.Process() != process
				if replaced := now != kernel; replaced != c.replaced && !(c.message && killed) {
					t.Errorf("kernel replaced: %t", replaced)
				}
				if lost := now.Process() != process; (res.StateLost || next.StateLost) != lost || res.StateLost && next.StateLost {
					t.Errorf("state lost: %t, reported: %t, %t", lost, res.StateLost, next.StateLost)
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
