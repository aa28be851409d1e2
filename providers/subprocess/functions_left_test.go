//go:build unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestFunctionsOfWhatIsLeft: tasks, callbacks and threads that a run left behind,
// and what those start, call nothing in the next run, which calls itself.
func TestFunctionsOfWhatIsLeft(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	n := newNotebook(t, ci, "python")
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: callstest.Functions(t)}
	first, second, calls := callstest.Left()
	if res := n.run(first.Code, o); !first.Ended(res) {
		t.Fatal(summary(res))
	}
	if res := n.run(second.Code, o); !second.Ended(res) || len(res.Calls) != calls {
		t.Errorf("%s, %d calls", summary(res), len(res.Calls))
	}
}

// TestFunctionsOfWhatNodeHasLeft: the same for what awaits, listens and was bound.
func TestFunctionsOfWhatNodeHasLeft(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript()}})
	for _, early := range []bool{true, false} {
		n := newNotebook(t, ci, "javascript")
		o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: callstest.Functions(t)}
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

// TestRunsOfThreads: what threads call and print, raw ones and those of pools too, is
// the run's that started them, or that gave them what they do.
func TestRunsOfThreads(t *testing.T) {
	o := inMode(t, subprocess.Bwrap)
	for _, c := range []struct {
		o      subprocess.Options
		scenes []callstest.Scenes
	}{{subprocess.Options{}, callstest.Runs()}, {o, callstest.RunsOfPools()}} { // which landlock mode has no semaphores for
		c.o.Languages = []subprocess.Language{subprocess.Python()}
		ci := open(t, c.o)
		n := newNotebook(t, ci, "python")
		callstest.RunScenes(t, c.scenes, func(code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
			return ci.RunInContext(t.Context(), n.id, code, o)
		})
	}
}
