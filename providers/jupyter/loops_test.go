//go:build linux

package jupyter_test

import (
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
		if res := c.ok("await asyncio.sleep(0, 'kept')"); res.Text() != "'kept'" {
			t.Errorf("then: %+v", res)
		}
	})
}
