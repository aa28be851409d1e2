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
		const now = "asyncio.get_running_loop().call_soon(_thread.interrupt_main)\n"
		for program, line := range map[string]int{
			"loop = asyncio.get_running_loop(); loop.call_later(.05, os.kill, os.getpid(), signal.SIGINT)\nawait asyncio.sleep(60)": 2,
			"upon('_run_once', 1)\nawait asyncio.sleep(60)":                                         2,
			now + "while True: await asyncio.sleep(0)":                                              2,
			"for _ in '123': " + now + "await asyncio.sleep(60)":                                    2,
			now + "try: await asyncio.sleep(60)\nfinally: _thread.interrupt_main(); time.sleep(60)": 3,
			now + "try: await asyncio.sleep(60)\nexcept BaseException: 1 / 0":                       3,
		} {
			res, err := c.run(program, &codeinterp.RunOptions{Timeout: time.Minute})
			if err != nil || res.Error == nil || res.Error.Name != "KeyboardInterrupt" || res.Error.Line != line || strings.Contains(strings.Join(res.Error.Traceback, ""), "<toolcell>") {
				t.Errorf("%s: %+v, %+v, %v", program, res, res.Error, err)
			}
		}
		if res := c.ok("await asyncio.sleep(0, 'kept')"); res.Text() != "'kept'" {
			t.Errorf("then: %+v", res)
		}
	})
}
