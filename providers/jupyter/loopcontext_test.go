//go:build linux

package jupyter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestLoopContext: what is printed where the kernel's loop calls, and no task, is the
// run's that is under way: handlers of signals, finalizers that these start, and what
// asyncio says of callbacks and tasks that failed.
func TestLoopContext(t *testing.T) {
	t.Parallel()
	const alarm = "signal.setitimer(signal.ITIMER_REAL, 0.2)\nawait asyncio.wait_for(called.wait(), 30); print('end')"
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		c.ok(`import asyncio, gc, signal, sys
loop, called = asyncio.get_running_loop(), asyncio.Event()
def on_alarm(call):
  def handle(*args):
    call(); loop.call_soon_threadsafe(called.set)
  called.clear(); signal.signal(signal.SIGALRM, handle)
class D:
  def __del__(self): print('deleted')
def cycle():
  d = D(); d.me = d
async def bad(): raise ValueError('lost?')
async def leave(): asyncio.create_task(bad()); await asyncio.sleep(0.01)`)
		for _, tt := range []struct{ name, code, stdout, stderr string }{
			{"a signal", "on_alarm(lambda: print('alarm'))\n" + alarm, "alarm\nend\n", ""},
			{"to standard error", "on_alarm(lambda: print('alarm', file=sys.stderr))\n" + alarm, "end\n", "alarm"},
			{"a finalizer", "on_alarm(gc.collect); cycle()\n" + alarm, "deleted\nend\n", ""},
			{"a callback", "loop.call_soon(lambda: 1/0); await asyncio.sleep(0.05); print('end')", "end\n", "ZeroDivisionError"},
			{"a task", "await leave(); gc.collect(); await asyncio.sleep(0.05); print('end')", "end\n", "ValueError: lost?"},
			{"a handler of these", "loop.set_exception_handler(lambda loop, context: print('handler'))\nloop.call_soon(lambda: 1/0); await asyncio.sleep(0.05); print('end')\nloop.set_exception_handler(None)", "handler\nend\n", ""},
		} {
			res, err := c.run(tt.code, nil)
			if err != nil || !res.OK() || res.Stdout() != tt.stdout || !strings.Contains(res.Stderr(), tt.stderr) || tt.stderr == "" && res.Stderr() != "" {
				t.Errorf("%s: %+v, stdout %q, stderr %q, %v", tt.name, res, res.Stdout(), res.Stderr(), err)
			}
		}
		res := c.ok("on_alarm(lambda: display('shown'))\n" + alarm)
		if got := sequence(res.Outputs); got != "display='shown' stdout=4" {
			t.Errorf("what it shows: %s", got)
		}
		// After the run it is the next one's, as late.
		c.ok("loop.call_later(0.2, lambda: 1/0)\nsignal.signal(signal.SIGALRM, lambda *args: print('late alarm')); signal.setitimer(signal.ITIMER_REAL, 0.2)")
		var late strings.Builder
		time.Sleep(time.Second) // until then, between two runs
		for end := time.Now().Add(time.Minute); time.Now().Before(end) && !(strings.Contains(late.String(), "late alarm") && strings.Contains(late.String(), "ZeroDivisionError")); time.Sleep(100 * time.Millisecond) {
			for _, o := range c.ok("0").Outputs {
				if (o.Kind == codeinterp.Stdout || o.Kind == codeinterp.Stderr) && !o.Late {
					t.Errorf("not late: %+v", o)
				}
				if o.Late {
					late.Write(o.Data)
				}
			}
		}
		if !strings.Contains(late.String(), "late alarm") || !strings.Contains(late.String(), "ZeroDivisionError") {
			t.Errorf("late: %q", late.String())
		}
	})
}
