//go:build unix

package subprocess_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBashLargeCalledOff: a run that is canceled while bash reads its code, which takes
// another process where that is large, ends soon and costs no state.
func TestBashLargeCalledOff(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}, Grace: time.Minute}), "bash")
	if res := n.run("kept=1", nil); !res.OK() {
		t.Fatal(summary(res))
	}
	for _, size := range []int{10_000, 1 << 20} {
		code := "#" + strings.Repeat("x", size) + "\nsleep 600"
		for after := time.Duration(1); after < 50; after += 5 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(after*time.Millisecond, cancel)
			res, _ := n.ci.RunInContext(ctx, n.id, code, &codeinterp.RunOptions{})
			if res.Status != codeinterp.StatusCanceled && res.Status != codeinterp.StatusNotRun || res.StateLost || res.Stderr() != "" {
				t.Errorf("%d bytes, after %d ms: %s %q, lost %v", size, after, summary(res), res.Stderr(), res.StateLost)
			}
		}
	}
	if res := n.run("echo $kept", nil); summary(res) != "ok out=1\n" || res.StateLost {
		t.Error(summary(res))
	}
}
