package jupyter_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestNewKernelBehindDeadSocket protects row 9 if the first socket of a kernel leads
// nowhere: the context gets its kernel by another one.
func TestNewKernelBehindDeadSocket(t *testing.T) {
	for name, hang := range map[string]bool{"it answers nothing": false, "no handshake": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fake.New()
				defer s.Close()
				var mu sync.Mutex
				first := ""
				s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					is := strings.HasSuffix(r.URL.Path, "/channels") && first == ""
					if is {
						first = r.URL.Query().Get("session_id")
					}
					mu.Unlock()
					if is && hang {
						<-r.Context().Done()
					}
					return is && hang
				}
				s.Info = func(k *fake.Kernel, req *fake.Message) {
					mu.Lock()
					defer mu.Unlock()
					if req.Header.Session != first {
						k.Answer(req, "kernel_info_reply", map[string]string{"status": "ok"})
					}
				}
				ci, err := jupyter.NewStateful(t.Context(), fakeOptions(s, jupyter.Options{StartTimeout: 5 * time.Minute}))
				if err != nil {
					t.Fatal(err)
				}
				defer ci.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := ci.CreateContext(ctx, "python", nil); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
