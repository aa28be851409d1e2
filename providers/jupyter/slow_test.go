package jupyter_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestSlowIsNotLost plays kernels that are slow on a busy machine: nothing of a run is given
// up, nor is its socket, by whose end servers lose some of what kernels say.
func TestSlowIsNotLost(t *testing.T) {
	for name, play := range map[string]func(k *fake.Kernel, req *fake.Message, value func()){
		"to begin": func(k *fake.Kernel, req *fake.Message, value func()) {
			k.SetState("starting")
			time.Sleep(90 * time.Second)
			busy(k, req)
			value()
			reply(k, req)
			idle(k, req)
		},
		"to send": func(k *fake.Kernel, req *fake.Message, value func()) {
			busy(k, req)
			reply(k, req)
			time.Sleep(15 * time.Second)
			value()
			idle(k, req)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			sockets := map[string]int{}
			inFake(t, jupyter.Options{}, func(s *fake.Server) {
				s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					defer mu.Unlock()
					if strings.HasSuffix(r.URL.Path, "/channels") {
						sockets[r.URL.Query().Get("session_id")]++
					}
					return false
				}
				plays{"x": func(k *fake.Kernel, req *fake.Message) {
					play(k, req, func() {
						k.IOPub(req, "execute_result", map[string]any{"data": map[string]string{"text/plain": "42"}})
					})
				}}.on(s)
			}, func(r *rig) {
				if res := r.ok("x"); res.Text() != "42" || len(res.Truncated) > 0 {
					t.Errorf("%+v", res)
				}
				for session, n := range sockets {
					if n > 1 {
						t.Errorf("%d sockets of session %s", n, session)
					}
				}
				if len(sockets) > 6 {
					t.Errorf("the kernel was asked by %d sockets", len(sockets))
				}
			})
		})
	}
}
