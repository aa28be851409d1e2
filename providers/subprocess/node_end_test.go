//go:build unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// nodeBeats are programs that add to beats and end by an error or by process.exit
// while something of them is under way. Where only the process's end ends that, the
// run itself tells that the state is lost.
var nodeBeats = []struct {
	name, code, want string
	lost             bool
}{
	{"requests", "(function on() { beat(); fs.stat('/', on) })(); throw new RangeError('x')", "error error=RangeError: x", false},
	{"promises of requests", "(async () => { for (;;) { await fs.promises.stat('/'); beat() } })(); throw new RangeError('x')", "error error=RangeError: x", false},
	{"requests, and an await", "(function on() { beat(); fs.stat('/', on) })(); await Promise.reject(new RangeError('x'))", "error error=RangeError: x", false},
	{"requests, and an error of a timer", "(function on() { beat(); fs.stat('/', on) })(); setTimeout(() => { throw new RangeError('x') }, 5); 1", "error value=1 error=RangeError: x", false},
	{"requests, and a rejection", "(function on() { beat(); fs.stat('/', on) })(); void Promise.reject(5)", "error error=Uncaught: 5", false},
	{"requests, and an exit", "(function on() { beat(); fs.stat('/', on) })(); process.exit(0)", "ok", false},
	{"requests, and an exit by a code", "(function on() { beat(); fs.stat('/', on) })(); process.exit(3)", "error", false},
	{"work of threads", "(function on() { beat(); require('crypto').pbkdf2('a', 'b', 9, 8, 'sha1', on) })(); throw 5", "error error=Uncaught: 5", false},
	{"a worker", "const w = new (require('worker_threads').Worker)(`const fs = require('fs'); setInterval(() => fs.appendFileSync('beats', 'x'), 5)`, { eval: true }); await new Promise((r) => w.on('online', r)); throw 5", "error error=Uncaught: 5", true},
	{"a child", "require('child_process').spawn('sh', ['-c', 'while :; do printf x >> beats; sleep 0.01; done']); throw 5", "error error=Uncaught: 5", true},
	{"what ends soon", "fs.stat('/', beat); throw 5", "error error=Uncaught: 5", false},
	{"immediates", "(function on() { beat(); setImmediate(on) })(); throw 5", "error error=Uncaught: 5", false},
	{"immediates, and an await", "(function on() { beat(); setImmediate(on) })(); await null; throw 5", "error error=Uncaught: 5", false},
	{"intervals", "setInterval(beat, 1); await new Promise((r) => setTimeout(r, 5)); throw 5", "error error=Uncaught: 5", false},
	{"microtasks", "(async () => { for (;;) await beat() })(); throw 5", "error error=Uncaught: 5", false},
	{"microtasks, and an await", "(async () => { for (;;) await beat() })(); await null; throw 5", "error error=Uncaught: 5", false},
	{"microtasks, and an exit", "(async () => { for (;;) await beat() })(); process.exit(3)", "error", false},
	{"ticks", "(function on() { beat(); process.nextTick(on) })(); throw 5", "error error=Uncaught: 5", false},
	{"the module's intervals", "require('timers').setInterval(beat, 1); throw 5", "error error=Uncaught: 5", false},
	{"the module's intervals, and an await", "(await import('node:timers')).setInterval(beat, 1); await null; throw 5", "error error=Uncaught: 5", false},
	{"the module's intervals that hold nothing", "require('timers').setInterval(beat, 1).unref(); 1", "ok value=1", false},
	{"the module's immediates", "(function on() { beat(); require('timers').setImmediate(on) })(); throw 5", "error error=Uncaught: 5", false},
	{"intervals that a function of node's makes", "for (const f of [function onTick() { beat() }, function noop() { beat() }, function onParserTimeout() { beat() }]) require('util').deprecate(setInterval, 'no')(f, 1).unref(); 1", "ok value=1", false},
	{"a timer that is started again", "var again = setTimeout(() => { beat(); again.refresh().unref() }, 1); await new Promise((r) => setTimeout(r, 20)); 1", "ok value=1", false},
	{"a timer that is started again by a later run", "again.refresh(); throw 5", "error error=Uncaught: 5", false},
	{"promises of timers", "(async () => { for (;;) { await require('timers/promises').setTimeout(1); beat() } })(); throw 5", "error error=Uncaught: 5", false},
	{"promises of timers that hold nothing", "(async () => { for (;;) { await require('timers/promises').setTimeout(1, 0, { ref: false }); beat() } })(); 1", "ok value=1", false},
	{"promises of immediates", "(async () => { for (;;) { await require('timers/promises').setImmediate(); beat() } })(); throw 5", "error error=Uncaught: 5", false},
	{"timers made promises", "(async () => { for (;;) { await require('util').promisify(setTimeout)(1); beat() } })(); throw 5", "error error=Uncaught: 5", false},
	{"promises of an interval", "(async () => { for await (const _ of require('timers/promises').setInterval(1, 0, { ref: false })) beat() })(); await new Promise((r) => setTimeout(r, 5)); 1", "ok value=1", false},
	{"a scheduler", "(async () => { for (;;) { await require('timers/promises').scheduler.wait(1); await require('timers/promises').scheduler.yield(); beat() } })(); throw 5", "error error=Uncaught: 5", false},
	{"node's constructor of timers", "var { constructor: Timeout } = setTimeout(() => {}); new Timeout(beat, 1, undefined, true, false).refresh(); 1", "ok value=1", false},
	{"objects that time out", "process.noDeprecation = true; var { enroll, _unrefActive } = require('timers'), o = { _onTimeout() { beat(); enroll(o, 1); _unrefActive(o) } }; if (enroll) o._onTimeout(); 1", "ok value=1", false},
	{"signals of aborts", "(function on() { beat(); AbortSignal.timeout(1).onabort = on })(); 1", "ok value=1", false},
	{"ports", "var c = new MessageChannel(); c.port1.onmessage = c.port2.onmessage = (e) => { beat(); e.target.postMessage(1) }; c.port1.unref(); c.port2.unref(); c.port1.postMessage(1); 1", "ok value=1", false},
	{"ports, and an error", "var d = new MessageChannel(); d.port1.on('message', () => { beat(); d.port2.postMessage(1) }); d.port1.unref(); d.port2.postMessage(1); await null; throw 5", "error error=Uncaught: 5", false},
	{"channels", "var [p, q] = [new BroadcastChannel('b'), new BroadcastChannel('b')]; p.onmessage = q.onmessage = (e) => { beat(); e.target.postMessage(1) }; p.unref(); q.unref(); p.postMessage(1); 1", "ok value=1", false},
	{"waits", "(function on() { beat(); Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1).value.then(on) })(); await null; 1", "ok value=1", false},
	{"waits, and an error", "(function on() { beat(); Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1).value.then(on) })(); throw 5", "error error=Uncaught: 5", false},
}

// testNodeEnds: a program that has ended, by an error or process.exit too, does not go
// on, neither between runs nor in the next ones.
func testNodeEnds(t *testing.T, l subprocess.Language) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{l}})
	const begin = "var fs = require('fs'), beat = () => fs.appendFileSync('beats', 'x'); beat()"
	const count = "require('fs').statSync('beats').size"
	n := newNotebook(t, ci, l.Name)
	n.run(begin, nil)
	for _, tt := range nodeBeats {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if tt.lost {
				want += " lost"
			}
			if res := n.run(tt.code, nil); summary(res) != want {
				t.Errorf("got %s, want %s", summary(res), want)
			}
			first := n.run(count, nil)
			if !first.OK() || first.StateLost {
				t.Errorf("the next run: %s, state lost: %v", summary(first), first.StateLost)
			}
			if res := n.run("await new Promise((r) => setTimeout(r, 50)); "+count, nil); summary(res) != summary(first) {
				t.Errorf("the program has written on: %s, then %s", summary(first), summary(res))
			}
			if res := n.run("typeof beat", nil); (res.Text() == "function") == tt.lost {
				t.Errorf("a function of before is %s", summary(res))
			}
			if tt.lost {
				n.run(begin, nil)
			}
		})
	}
}

func TestNodeEnds(t *testing.T) {
	testNodeEnds(t, subprocess.JavaScript())
	if !testing.Short() {
		testNodeEnds(t, newerNode(t))
	}
}

// nodeFirstErrors are programs that leave something to be called, and what node says
// of them.
var nodeFirstErrors = []struct{ code, want string }{
	{later + "f(); throw new RangeError('x')", "error error=RangeError: x"},
	{later + "f(); process.exit(3)", "error"},
	{"setTimeout(() => console.log(1)); setImmediate(() => console.log(2)); process.nextTick(() => console.log(3)); queueMicrotask(() => console.log(4)); process.exit(3)", "error"},
	{"Promise.reject(new Error('a')); throw new RangeError('b')", "error error=RangeError: b"},
	{"void (async () => { throw new Error('a') })(); await null; throw new RangeError('b')", "error error=RangeError: b"},
	{"queueMicrotask(() => { throw new TypeError('second') }); throw new RangeError('first')", "error error=RangeError: first"},
	{"process.nextTick(() => { throw new TypeError('second') }); throw new RangeError('first')", "error error=RangeError: first"},
	{"setTimeout(() => { void Promise.reject(5); throw new RangeError('first') }); 1", "error value=1 error=RangeError: first"},
	{"var failing = true; process.on('beforeExit', () => failing && console.log('no')); throw 5", "error error=Uncaught: 5"},
	{"process.removeAllListeners('beforeExit'); Promise.reject(5); throw { get stack() { console.log('looked at') } }", "error error=Uncaught: { stack: [Getter] }"},
	{"const { AsyncLocalStorage } = require('async_hooks'); const s = new AsyncLocalStorage(); s.run(1, () => { Promise.resolve().then(() => console.log('no')) }); throw 5", "error error=Uncaught: 5"},
	{"require('async_hooks').createHook({ before() {}, after() {} }).enable(); Promise.resolve().then(() => console.log('no')); process.exit(4)", "error"},
	{"await null; Promise.resolve().then(() => setTimeout(() => console.log('no'))); throw 5", "error error=Uncaught: 5"},
	{"require('timers').setImmediate(() => console.log('no')); require('timers').setTimeout(() => console.log('no'), 20); throw 5", "error error=Uncaught: 5"},
	{"require('timers/promises').setTimeout(400).then(() => console.log('no')); require('util').promisify(setTimeout)(1).then(() => console.log('no')); throw 5", "error error=Uncaught: 5"},
	{"AbortSignal.timeout(1).onabort = () => console.log('no'); require('timers/promises').scheduler.wait(400).then(() => console.log('no')); process.exit(3)", "error"},
	{"const { port1, port2 } = new MessageChannel(); port1.on('message', () => console.log('no')).unref(); port2.postMessage(1); throw 5", "error error=Uncaught: 5"},
}

const later = "async function f() { await null; console.log('one'); await null; console.log('two') }; "

// testNodeFirstError: nothing that a program has left to be called comes after its
// error, as under node, nor does another error take its place.
func testNodeFirstError(t *testing.T, ci *subprocess.Stateful, language string) {
	n := newNotebook(t, ci, language)
	n.run("let kept = 1", nil)
	for _, tt := range nodeFirstErrors {
		res := n.run(tt.code, nil)
		if summary(res) != tt.want || res.Stderr() != "" {
			t.Errorf("%s\ngot  %s %s\nwant %s", tt.code, summary(res), res.Stderr(), tt.want)
		}
		if res := n.run("failing = false; await null; kept", nil); summary(res) != "ok value=1" || len(res.Outputs) != 1 {
			t.Errorf("after %s: %s %s", tt.code, summary(res), res.Stderr())
		}
	}
	for _, code := range []string{later + "f(); throw new RangeError('x')", later + "f(); process.exit(1)", "process.nextTick(() => { console.log(1); throw 5 }); throw new RangeError('x')"} {
		res := run(t, ci, language, code, nil)
		if got := summary(res); !strings.HasPrefix(got, "error") || res.Error != nil && res.Error.Name != "RangeError" || len(res.Outputs) > 0 {
			t.Errorf("%s: %s", code, got)
		}
	}
}

func TestNodeFirstError(t *testing.T) {
	testNodeFirstError(t, open(t, subprocess.Options{Languages: []subprocess.Language{newerNode(t)}}), "typescript")
}

// TestNodeStopsMicrotasks: those that never end go with a program that is stopped.
func TestNodeStopsMicrotasks(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript()}}), "javascript")
	n.run("let kept = 1", nil)
	res := n.run("(async () => { for (;;) await null })(); console.log('on'); for (;;);", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
		return n.ci.InterruptContext(t.Context(), n.id)
	}})
	if res.Cause != codeinterp.CauseInterrupt || res.StateLost {
		t.Errorf("%s, cause %q, state lost: %v", summary(res), res.Cause, res.StateLost)
	}
	if res := n.run("kept", nil); summary(res) != "ok value=1" {
		t.Errorf("after it: %s", summary(res))
	}
}
