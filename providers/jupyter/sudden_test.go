//go:build linux

package jupyter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// speechless has the kernel say of no program that it began, as one that dies before
// its output thread gets its turn.
const speechless = `
kernel = get_ipython().kernel
kernel._publish_execute_input = lambda *args: None
def publish(status, *args, _plain=kernel._publish_status, **kw):
    if status != "busy": _plain(status, *args, **kw)
kernel._publish_status = publish
`

// TestSuddenDeath: a program that ends its kernel at once runs once, whatever was
// heard of its begin.
func TestSuddenDeath(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		trace := filepath.Join(t.TempDir(), "trace")
		for _, end := range []string{"import os; os._exit(3)", "import ctypes; ctypes.string_at(0)"} {
			c.ok(speechless)
			res, err := c.run(fmt.Sprintf("open(%q, 'a').write('x'); %s", trace, end), nil)
			ran, _ := os.ReadFile(trace)
			if err != nil || res.Status != codeinterp.StatusLost || res.ExitCode != 137 || !res.StateLost ||
				res.Cause != codeinterp.CauseExit || string(ran) != "x" {
				t.Errorf("%s: ran %d times: %+v, %v", end, len(ran), res, err)
			}
			_ = os.Remove(trace)
		}
	})
}
