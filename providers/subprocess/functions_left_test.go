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

// TestFunctionsOfWhatNodeHasLeft: the same for what awaits, listens and was bound.
func TestFunctionsOfWhatNodeHasLeft(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript()}})
	for _, early := range []bool{true, false} {
		n := newNotebook(t, ci, "javascript")
		o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: functions(t)}
		first := o
		if !early {
			first = &codeinterp.RunOptions{Timeout: time.Minute}
		}
		n.run(`
const told = {};
const attempt = (k) => tools.echo({ v: 1 }).then((v) => { told[k] = v; }, (e) => { told[k] = e.message; });
let wake;
const woken = new Promise((resolve) => { wake = resolve; });
const task = (async () => { await woken; await attempt('task'); await child(); })();
const child = async () => { await null; await attempt('child'); };
const after = woken.then(() => attempt('then'));
const { AsyncResource } = require('async_hooks');
const bound = AsyncResource.bind(() => attempt('bound'));
0`, first)
		res := n.run(`
wake();
await Promise.all([task, after, bound()]);
await attempt('own');
await new Promise((resolve) => setTimeout(() => attempt('own timer').then(resolve), 1));
await new Promise((resolve) => require('fs').stat('/', () => attempt('own callback').then(resolve)));
Object.entries(told).map(([k, v]) => k + '=' + v).sort().join()`, o)
		want := "ok value=bound=echo: the run has ended,child=echo: the run has ended,own callback=1,own timer=1,own=1,task=echo: the run has ended,then=echo: the run has ended"
		if summary(res) != want || len(res.Calls) != 3 {
			t.Errorf("functions from the first run on %t: %s, %d calls", early, summary(res), len(res.Calls))
		}
	}
}
