//go:build unix

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

func lateText(res codeinterp.Result) string {
	late := ""
	for _, o := range res.Outputs {
		if o.Late {
			late += string(o.Data)
		}
	}
	return late
}

// TestExitsBetweenRuns: what ends the loop between two runs, an exit in a task, what the
// handler of a signal raises or loop.stop, ends no other task, and is told.
func TestExitsBetweenRuns(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}})
	const task, handler = "Exception in a task of a run that is over:", "Exception in a handler of a signal, when no run awaited:"
	for _, tt := range []struct{ name, code, first, last string }{
		{"an exit", "t = asyncio.create_task(leave(sys.exit, 5))", task, "SystemExit: 5"},
		{"two", "t = [loop.call_later(0.05, leaving, sys.exit, i) for i in (6, 7)]", task, "SystemExit: 7"},
		{"an interrupt", "t = asyncio.create_task(leave(signal.default_int_handler, 2, None))", task, "KeyboardInterrupt"},
		{"a handler", "alarm(lambda: 1/0)", handler, "ZeroDivisionError: division by zero"},
		{"a handler that exits", "alarm(lambda: sys.exit(8))", handler, "SystemExit: 8"},
		{"a handler, and no task", "ticks.cancel(); await asyncio.sleep(0); alarm(lambda: 1/0)", handler, "ZeroDivisionError: division by zero"},
		{"a stop", "t = loop.call_later(0.05, leaving, loop.stop)", "", ""},
	} {
		n := newNotebook(t, ci, "python")
		n.run(`import asyncio, signal, sys
n, at, loop = 0, None, asyncio.get_running_loop()
async def tick():
  global n
  while True: await asyncio.sleep(0.01); n += 1
def leaving(how, *args):
  global at
  at = n; how(*args)
async def leave(*args): await asyncio.sleep(0.05); leaving(*args)
def alarm(how): signal.signal(signal.SIGALRM, lambda *args: leaving(how)); signal.setitimer(signal.ITIMER_REAL, 0.05)
ticks = asyncio.create_task(tick()); await asyncio.sleep(0)`, nil)
		late, on := "", "-1"
		for range 5 {
			n.run("at = None\n"+tt.code+"\nawait asyncio.sleep(0)", nil)
			time.Sleep(500 * time.Millisecond) // in which no run has the tasks go on
			res := n.run("-1 if at is None else n > at", nil)
			on = res.Text()
			late += lateText(res)
			if on != "-1" {
				break // else it has yet to come
			}
		}
		late += lateText(n.run("1", nil))
		lines := strings.Split(strings.TrimSpace(late), "\n")
		if on != "True" && tt.name != "a handler, and no task" || lines[0] != tt.first || lines[len(lines)-1] != tt.last || strings.Contains(late, "<toolcell>") {
			t.Errorf("%s: others go on: %s, late %q", tt.name, on, late)
		}
	}
}
