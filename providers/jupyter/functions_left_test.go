//go:build linux

package jupyter_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestFunctionsOfWhatIsLeft: tasks, callbacks and threads that a run left behind,
// and what those start, call nothing in the next run, which calls itself.
func TestFunctionsOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		o := &codeinterp.RunOptions{Functions: hostFunctions()}
		res, err := c.run(`
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
print(await asyncio.to_thread(tools.echo, v='thread'))`, o)
		if err != nil || res.Stdout() != "thread\n" {
			t.Fatalf("%+v, %v", res, err)
		}
		res, err = c.run(`
go.set(); wake.set()
await t
th.join()
asyncio.get_running_loop().call_soon(attempt, 'own callback', lambda: tools.echo(v=2))
await asyncio.sleep(0.01)
told['own'] = tools.echo(v=2)
told['own thread'] = await asyncio.to_thread(tools.echo, v=2)
told['own task'] = await asyncio.create_task(tools.aio.echo(v=2))
for k, v in sorted(told.items(), key=lambda v: str(v[1]) + v[0]): print(k, v, sep=': ')`, o)
		const want = "own: 2\nown callback: 2\nown task: 2\nown thread: 2\n"
		names := []string{"aio", "child", "its thread", "task", "task thread", "thread"}
		if err != nil || res.Stdout() != want+strings.Join(names, ": the run has ended\n")+": the run has ended\n" || len(res.Calls) != 4 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
