//go:build unix

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestLongTraceback: what a traceback takes grows with its frames, not with their
// square, which made timeouts of errors.
func TestLongTraceback(t *testing.T) {
	t.Parallel()
	s := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	const code = `import sys
sys.setrecursionlimit(200_000)
def f(n): return f(n + 1) + 1
f(0)`
	res := run(t, s, "python", code, &codeinterp.RunOptions{Timeout: 10 * time.Minute})
	if res.Error == nil || res.Error.Name != "RecursionError" || res.Error.Line != 3 || !strings.Contains(strings.Join(res.Error.Traceback, "\n"), "[Previous line repeated 19") {
		t.Errorf("%v: %+v", res.Status, res.Error)
	}
}
