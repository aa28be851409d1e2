//go:build linux

package jupyter_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestR wants losses told of a kernel that signs its messages with the name of
// whoever asks: by the server's rate limit, and by a restart of somebody else's,
// between runs and during one.
func TestR(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "server6")
	ci, err := open(t.Context(), s, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if !slices.Contains(ci.Languages(), "r") {
		missing(t, false, "no IRkernel: run internal/testenv/jupyter.sh")
	}
	id, err := ci.CreateContext(t.Context(), "r", nil)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := ci.Ref(id)
	if err != nil {
		t.Fatal(err)
	}
	run := func(code string) codeinterp.Result {
		res, err := ci.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Timeout: 3 * time.Minute})
		t.Logf("%q: %s, cause %q, state lost %t, %v", code, res.Status, res.Cause, res.StateLost, err)
		return res
	}
	// What is sent to a kernel that is being replaced may be lost, and such a kernel's
	// successor looks like it until it counts: the next run tells.
	next := func() (res codeinterp.Result) {
		for range 5 {
			if res = run("cat(exists('x'))"); res.Status != codeinterp.StatusLost || res.StateLost {
				break
			}
		}
		return res
	}
	run("x <- 5")
	res := run(`for (i in 1:8) { cat(strrep("y", 1e6)); flush(stdout()) }`)
	if len(res.Stdout()) < 8e6 && len(res.Truncated) == 0 || strings.Contains(res.Stderr(), "rate exceeded") {
		t.Errorf("%d of 8e6 bytes, truncated %v, stderr %.200q", len(res.Stdout()), res.Truncated, res.Stderr())
	}
	s.restartKernel(t, ref)
	// A kernel that has just begun may speak before the server listens again.
	if res := next(); !res.StateLost || res.Stdout() != "FALSE" && len(res.Truncated) == 0 {
		t.Errorf("a restart between runs: %+v", res)
	}
	began, restarted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(restarted)
		<-began
		s.restartKernel(t, ref)
	}()
	seen := false
	res, err = ci.RunInContext(t.Context(), id, "x <- 6; cat('begun')\nSys.sleep(600)", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
		if !seen {
			seen = true
			close(began)
		}
		return nil
	}})
	<-restarted
	// The server interrupts before it kills, and R may have told that.
	if res.Status != codeinterp.StatusLost && res.Status != codeinterp.StatusError {
		t.Errorf("a restart during a run: %+v, %v", res, err)
	}
	if after := next(); res.StateLost == after.StateLost || after.Stdout() != "FALSE" && len(after.Truncated) == 0 {
		t.Errorf("after it: %+v", after)
	}
}

// restartKernel restarts a context's kernel as another client does.
func (s *server) restartKernel(t *testing.T, ref string) {
	for _, id := range s.kernels(t) {
		if !strings.Contains(ref, id) {
			continue
		}
		req, err := http.NewRequest(http.MethodPost, joinURL(s.url, "api/kernels/"+id+"/restart"), nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "token "+s.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("restart: %v, %v", resp, err)
			return
		}
		resp.Body.Close()
		return
	}
	t.Errorf("no kernel of %q", ref)
}
