//go:build unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestFunctionsOfWhatIsLeft: tasks, callbacks and threads that a run left behind,
// and what those start, call nothing in the next run, which calls itself.
func TestFunctionsOfWhatIsLeft(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	n := newNotebook(t, ci, "python")
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: functions(t)}
	res := n.run(`
import asyncio, threading
go, wake, told = asyncio.Event(), threading.Event(), {}
def attempt(k, f):
    try: told[k] = f()
    except ToolError as e: told[k] = e.message
async def task():
    await go.wait()
    attempt('task', lambda: tools.echo(v=1))
    try: told['aio'] = await tools.aio.echo(v=1)
    except ToolError as e: told['aio'] = e.message
    await asyncio.create_task(child())
    await asyncio.to_thread(attempt, 'task thread', lambda: tools.echo(v=1))
async def child(): attempt('child', lambda: tools.echo(v=1))
def thread():
    wake.wait()
    attempt('thread', lambda: tools.echo(v=1))
    t = threading.Thread(target=attempt, args=('its thread', lambda: tools.echo(v=1)))
    t.start()
    t.join()
t, th = asyncio.create_task(task()), threading.Thread(target=thread)
th.start()
await asyncio.to_thread(tools.echo, v='thread')`, o)
	if summary(res) != "ok value='thread'" {
		t.Fatal(summary(res))
	}
	res = n.run(`
go.set(); wake.set()
await t
th.join()
asyncio.get_running_loop().call_soon(attempt, 'own callback', lambda: tools.echo(v=2))
await asyncio.sleep(0.01)
told['own'] = tools.echo(v=2)
told['own thread'] = await asyncio.to_thread(tools.echo, v=2)
told['own task'] = await asyncio.create_task(tools.aio.echo(v=2))
sorted(told.items(), key=lambda v: str(v[1]) + v[0])`, o)
	want := "ok value=[('own', 2), ('own callback', 2), ('own task', 2), ('own thread', 2), " +
		"('aio', 'the run has ended'), ('child', 'the run has ended'), ('its thread', 'the run has ended'), " +
		"('task', 'the run has ended'), ('task thread', 'the run has ended'), ('thread', 'the run has ended')]"
	if summary(res) != want || len(res.Calls) != 4 {
		t.Errorf("%s, %d calls", summary(res), len(res.Calls))
	}
}
