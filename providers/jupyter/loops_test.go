//go:build linux

package jupyter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/pytools/loopstest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestInterruptUponAsyncio: an interrupt that comes upon asyncio's own code loses no
// step of a task: the program ends with its finally, and the kernel keeps its state.
func TestInterruptUponAsyncio(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		c.ok(loopstest.Set)
		for name, program := range loopstest.Programs() {
			res, err := c.run(program, &codeinterp.RunOptions{Timeout: time.Minute})
			if err != nil || res.Status != codeinterp.StatusError || res.Stdout() != "fin\n" || res.Error == nil || res.Error.Name != "KeyboardInterrupt" || res.StateLost {
				t.Errorf("%s: %+v, stdout %q, stderr %q, %v", name, res, res.Stdout(), res.Stderr(), err)
				c.ok(loopstest.Set)
			}
		}
		// Where nothing of the program ran, it tells where that awaited.
		for _, program := range []string{
			"loop = asyncio.get_running_loop(); loop.call_later(.05, os.kill, os.getpid(), signal.SIGINT)\nawait asyncio.sleep(60)",
			"upon('_run_once', 1)\nawait asyncio.sleep(60)",
		} {
			res, err := c.run(program, &codeinterp.RunOptions{Timeout: time.Minute})
			if err != nil || res.Error == nil || res.Error.Line != 2 || strings.Contains(strings.Join(res.Error.Traceback, ""), "<toolcell>") {
				t.Errorf("%s: %+v, %+v, %v", program, res, *res.Error, err)
			}
		}
		if res := c.ok("await asyncio.sleep(0, 'kept')"); res.Text() != "'kept'" {
			t.Errorf("then: %+v", res)
		}
	})
}
