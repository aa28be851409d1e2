package jupyter_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// hanging is a server that takes requests and never answers those that match.
func hanging(s *fakeServer, matches func(r *http.Request) bool) {
	s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
		hangs := matches(r)
		if hangs {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see who leaves
			<-r.Context().Done()
		}
		return hangs
	}
}

// TestHangingKill: who asked for a program that ignores interrupts is not kept by a
// server that does not end its kernel, and is reported. Nothing else runs in the context
// before the kernel has ended.
func TestHangingKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		defer s.Close()
		var hangs atomic.Bool
		hanging(s, func(r *http.Request) bool {
			return hangs.Load() && (r.Method == http.MethodDelete || strings.HasSuffix(r.URL.Path, "/restart"))
		})
		plays{"stubborn": func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			time.Sleep(10 * time.Minute)
		}}.on(s)
		ci, err := jupyter.NewStateful(t.Context(), fakeOptions(s, jupyter.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		defer ci.Close()
		id, err := ci.CreateContext(t.Context(), "python", nil)
		if err != nil {
			t.Fatal(err)
		}
		hangs.Store(true)
		for name, call := range map[string]func(context.Context) (codeinterp.Result, error){
			"RunCode": func(ctx context.Context) (codeinterp.Result, error) {
				return ci.RunCode(ctx, "python", "stubborn", nil)
			},
			"RunInContext": func(ctx context.Context) (codeinterp.Result, error) { return ci.RunInContext(ctx, id, "stubborn", nil) },
		} {
			const limit = 3 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			start := time.Now()
			res, err := call(ctx)
			cancel()
			if took := time.Since(start); res.Status != codeinterp.StatusCanceled || took > limit+5*time.Second || !errors.Is(err, context.DeadlineExceeded) ||
				!errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "may still be running") || res.StateLost != (name == "RunInContext") {
				t.Errorf("%s: %+v, %v after %v", name, res, err, took)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if res, err := ci.RunInContext(ctx, id, "x", nil); res.Status != codeinterp.StatusNotRun || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beside it: %+v, %v", res, err)
		}
		hangs.Store(false)
		res, err := ci.RunInContext(t.Context(), id, "x", nil)
		if err != nil || !res.OK() || len(res.Outputs) != 1 || !strings.Contains(string(res.Outputs[0].Data), "ended with its kernel") {
			t.Errorf("after it: %+v, %v", res, err)
		}
	})
}
