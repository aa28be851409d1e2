package jupyter_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestServerFallsSilent: a call is back soon after its ctx where the server takes
// requests and answers none, and tells what it could not end.
func TestServerFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fake.New()
		defer s.Close()
		var silent atomic.Bool
		s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
			if silent.Load() {
				<-r.Context().Done()
			}
			return silent.Load()
		}
		s.Execute = func(*fake.Kernel, *fake.Message) { silent.Store(true) }
		ci, err := jupyter.NewStateful(t.Context(), fakeOptions(s, jupyter.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		res, err := ci.RunCode(ctx, "python", "x", nil)
		if took := time.Since(start); res.Status != codeinterp.StatusCanceled || !errors.Is(err, codeinterp.ErrUnavailable) || took > 8*time.Second {
			t.Errorf("%+v, %v after %v", res, err, took)
		}
		if err := ci.Close(); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("Close: %v", err)
		}
	})
}

// TestDisplayTooDeep: a display that cannot be decoded is told.
func TestDisplayTooDeep(t *testing.T) {
	inFake(t, jupyter.Options{}, plays{"x": func(k *fake.Kernel, req *fake.Message) {
		busy(k, req)
		m := k.Make("iopub", req, "display_data", nil)
		m.Content = json.RawMessage(`{"data": {"application/json": ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`)
		k.Raw(m)
		reply(k, req)
		idle(k, req)
	}}.on, func(r *rig) {
		if res := r.ok("x"); len(res.Truncated) != 1 || res.Truncated[0].Stream != "display" {
			t.Errorf("%+v", res)
		}
	})
}
