//go:build unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestNodeTimersBetweenRuns: the timers of what is called between two runs are no run's:
// they come whatever ends meanwhile, and hold nothing.
func TestNodeTimersBetweenRuns(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		n.run("var fired = 0, ticks = 0, interval, c = require('child_process').spawn('sleep', ['0.1'], { stdio: 'ignore' }); c.unref(); c.on('exit', () => {"+
			"setTimeout(() => { fired++ }, 1000); interval = setInterval(() => { ticks++ }, 20); require('timers/promises').setTimeout(1000).then(() => { fired++ }) }); 0", nil)
		time.Sleep(600 * time.Millisecond)
		for _, code := range []string{"1", "throw 1", "setTimeout(() => { fired = 1e9 }, 1e6).unref(); 0"} {
			n.run(code, nil)
		}
		const wait = "for (let i = 0, before = ticks; i < 200 && (fired < 2 || ticks < before + 3); i++) await new Promise((r) => setTimeout(r, 20)); [fired, ticks > 3].join()"
		for range 2 {
			if res := n.run(wait, nil); summary(res) != "ok value=2,true" {
				t.Errorf("%s %s", summary(res), res.Stderr())
			}
		}
		if res := n.run("clearInterval(interval); ticks = 0; await new Promise((r) => setTimeout(r, 100)); ticks", nil); summary(res) != "ok value=0" {
			t.Errorf("an interval that is cleared: %s", summary(res))
		}
	}
}

// TestNodeWaitsBetweenRuns: who waits for memory without a timeout is told of what comes
// between two runs by the next one.
func TestNodeWaitsBetweenRuns(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		if res := n.run("typeof Atomics.waitAsync", nil); res.Text() != "function" {
			continue
		}
		for _, end := range []string{"throw 5", "1"} {
			n.run("var told = 0, ia = new Int32Array(new SharedArrayBuffer(8)), c = require('child_process').spawn('sleep', ['0.1'], { stdio: 'ignore' }), waiting = Atomics.waitAsync(ia, 0, 0).value; waiting.then(() => { told++ });"+
				"void Atomics.waitAsync(ia, 1, 0, 1e6).value.then(() => { told += 10 }); c.unref(); c.on('exit', () => { for (const i of [0, 1]) Atomics.store(ia, i, 1), Atomics.notify(ia, i) }); 0", nil)
			time.Sleep(400 * time.Millisecond)
			n.run(end, nil)
			if res := n.run("[ia[0], await waiting, told].join()", nil); summary(res) != "ok value=1,ok,1" {
				t.Errorf("after %s: %s %s", end, summary(res), res.Stderr())
			}
		}
	}
}
