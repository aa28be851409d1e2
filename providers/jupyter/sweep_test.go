//go:build linux

package jupyter_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestSweep leaves kernels behind, as a crash does, and sweeps them.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "server6")
	c := realSession(t, s, jupyter.Options{Tag: "swept"})
	if _, err := c.ci.Detach(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	live := realSession(t, s, jupyter.Options{Tag: "swept"})
	other := realSession(t, s, jupyter.Options{Tag: "other"})
	n := 0
	for range 600 { // the server counts the closed socket for a moment
		k, err := jupyter.Sweep(t.Context(), &jupyter.Options{URL: s.url, Token: s.token, Tag: "swept"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n += k; n > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if n != 1 {
		t.Errorf("swept %d kernels, want 1", n)
	}
	live.ok("1")
	other.ok("1")
}
