//go:build unix

package subprocess_test

import (
	"os/exec"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// asNodePrograms print what they print under node. alone tells to try them as programs
// of their own too: contexts alone have the driver's timers and ports.
var asNodePrograms = []struct {
	name, code string
	alone      bool
}{
	{"names", "const t = require('timers'), p = require('timers/promises'), u = require('util'); console.log(t.setTimeout === setTimeout, t.setInterval === setInterval, t.setImmediate === setImmediate, u.promisify(setTimeout) === p.setTimeout, u.promisify(setImmediate) === p.setImmediate, t.promises === p); console.log([setTimeout, setInterval, setImmediate, p.setTimeout, p.setImmediate, p.setInterval, p.scheduler.wait, AbortSignal.timeout, Atomics.waitAsync].map((f) => f.name + f.length).join())", false},
	{"promises", "(async () => { const p = require('timers/promises'), u = require('util'); let n = 0; for await (const x of p.setInterval(1, 'i')) { console.log(x); if (++n > 2) break } console.log(await p.setTimeout(1, 'v'), await p.setImmediate('w'), await p.scheduler.wait(1), await p.scheduler.yield(), await u.promisify(setTimeout)(1, 'x'), await u.promisify(setImmediate)('y')) })(); void 0", false},
	{"steps by hand", "(async () => { const i = require('node:timers/promises').setInterval(1, 7); console.log(Object.getOwnPropertyNames(i), i[Symbol.toStringTag], await i.next(), await i.return(8), await i.next()) })(); void 0", false},
	{"modules", "(async () => { const t = await import('node:timers'), p = await import('timers/promises'); console.log(t.setTimeout === setTimeout, p.setTimeout === require('timers/promises').setTimeout, t.default === require('timers')); t.setInterval(function f() { console.log('once'); t.clearInterval(this) }, 1) })(); void 0", false},
	{"methods", "const t = setTimeout(() => console.log('never'), 20); console.log(t.hasRef(), t.unref() === t, t.hasRef(), t.ref().hasRef(), t.refresh() === t, t.close() === t, t._destroyed); const i = setInterval((x) => { console.log(x); clearInterval(i) }, 1, 'i'); " +
		"clearTimeout(+setTimeout(() => console.log('never'), 5)); clearTimeout(String(+setTimeout(() => console.log('never'), 5))); setTimeout(() => console.log('never'), 5)[Symbol.dispose](); const m = setImmediate(() => {}); console.log(m.hasRef(), m.unref().hasRef(), m.ref().hasRef(), m._destroyed); clearImmediate(setImmediate(() => console.log('never'))); void 0", false},
	{"started again", "let n = 0; const t = setTimeout(() => { if (++n < 3) t.refresh(); console.log(n, t._destroyed) }, 1); void 0", false},
	{"inspected", "const { inspect } = require('util'); console.log([setTimeout(function named() {}, 7), setImmediate(function other() {})].map((t) => inspect(t).replace(/\\d+/g, 'N')).join('\\n')); void 0", false},
	{"errors", "const p = require('timers/promises'); for (const f of [() => setTimeout('x'), () => setImmediate(), () => p.setTimeout('x'), () => p.setTimeout(1, 1, { ref: 1 }), () => AbortSignal.timeout('x'), () => p.scheduler.wait('x'), () => Atomics.waitAsync(1)]) { try { Promise.resolve(f()).catch((e) => console.log(e.code)) } catch (e) { console.log(e.code, e.message) } }", false},
	{"aborted", "const c = new AbortController(); require('timers/promises').setTimeout(1e6, 0, { signal: c.signal }).catch((e) => console.log(e.name, e.code)); c.abort(); const s = AbortSignal.timeout(5); s.addEventListener('abort', () => console.log(s.reason.name)); setTimeout(() => console.log(s.aborted), 50); void 0", false},
	{"what holds nothing", "const p = require('timers/promises'); setTimeout(() => console.log('never'), 1e6).unref(); p.setTimeout(1e6, 0, { ref: false }).then(console.log); AbortSignal.timeout(1e6); setInterval(() => console.log('never'), 1e6).unref(); void 0", false},
	{"order", "require('fs').stat('/', () => { setTimeout(() => console.log('timeout')); setImmediate(() => console.log('immediate')); process.nextTick(() => console.log('tick')); queueMicrotask(() => console.log('microtask')); console.log('first') }); void 0", false},
	{"ports", "const { port1, port2 } = new MessageChannel(); port1.on('message', (n) => { console.log(n); if (n < 3) port2.postMessage(n + 1); else port1.close() }); port2.postMessage(1); port2.onmessage = (e) => console.log(e.data); port1.postMessage('a'); console.log(structuredClone({ a: [1] })); void 0", false},
	{"channels", "const a = new BroadcastChannel('q'), b = new BroadcastChannel('q'); b.onmessage = (e) => { console.log(e.data); a.close(); b.close() }; a.postMessage('hi'); void 0", false},
	{"waits", "const a = new Int32Array(new SharedArrayBuffer(8)), w = Atomics.waitAsync(a, 0, 0), u = Atomics.waitAsync(a, 1, 0, 5); w.value.then(console.log); const i = setInterval(() => {}, 5); u.value.then((v) => { console.log(v); clearInterval(i) }); console.log(w.async, u.async, Atomics.waitAsync(a, 0, 1), Atomics.notify(a, 0)); void 0", false},
	{"exit that is emitted", "process.emit('exit', 0); process.emit('beforeExit', 0); console.log('after'); (async () => { await null; process.emit('beforeExit', 0); await null; setTimeout(() => { process.emit('exit', 0); console.log('later') }, 5) })(); void 0", true},
	{"exit that a timer emits", "setTimeout(process.emit.bind(process), 1, 'beforeExit'); setTimeout(async () => { await null; process.emit('beforeExit'); process.emit('exit'); setTimeout(() => console.log('after'), 5) }, 5); void 0", true},
	{"an emit of one's own", "const { emit } = process; process.emit = function (...a) { return emit.apply(this, a) }; process.once('beforeExit', () => setTimeout(() => console.log('b'), 5)); setTimeout(() => console.log('a'), 5); void 0", true},
}

func testAsNode(t *testing.T, l subprocess.Language, command string) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{l}})
	n := newNotebook(t, ci, l.Name)
	for i, tt := range asNodePrograms {
		if !race.Takes(i, 2) {
			continue
		}
		out, err := exec.Command(command, "-e", tt.code).Output()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		// Twice: what one leaves is not the next one's.
		for range 2 {
			if res := n.run("{"+tt.code+"}", nil); !res.OK() || res.StateLost || res.Stdout() != string(out) || res.Stderr() != "" {
				t.Errorf("%s: %s %s\nnode prints %s", tt.name, summary(res), res.Stderr(), out)
			}
		}
		if !tt.alone {
			continue
		}
		if res := run(t, ci, l.Name, tt.code, nil); !res.OK() || res.Stdout() != string(out) || res.Stderr() != "" {
			t.Errorf("%s, alone: %s %s\nnode prints %s", tt.name, summary(res), res.Stderr(), out)
		}
	}
}

// TestAsNode: timers, ports and events are what they are under node.
func TestAsNode(t *testing.T) {
	command, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	testAsNode(t, subprocess.JavaScript(), command)
	if !testing.Short() {
		l := newerNode(t)
		testAsNode(t, l, l.Commands[0])
	}
}

// TestNodeTimersOfNode: what node times for itself goes on in later runs: the looks of an
// http server at its connections, and fetch's deadlines.
func TestNodeTimersOfNode(t *testing.T) {
	l := subprocess.JavaScript()
	n := newNotebook(t, open(t, subprocess.Options{Network: true, Languages: []subprocess.Language{l}}), l.Name)
	for _, tt := range []struct{ code, want string }{
		{"var http = require('http'), listening = async (s) => { s.listen(0, '127.0.0.1'); await new Promise((r) => s.on('listening', r)); return s.address().port }; var hurried = await listening(http.createServer({ connectionsCheckingInterval: 20, headersTimeout: 50, requestTimeout: 60 })); " +
			"var url = `http://127.0.0.1:${await listening(http.createServer((q, r) => { if (q.url === '/') r.end('hi') }))}/`; await (await fetch(url)).text()", "ok value=hi"},
		{"let got = ''; const s = require('net').connect(hurried, '127.0.0.1').on('data', (b) => got += b); s.write('GET / HTTP/1.1\\r\\n'); await new Promise((r) => s.on('close', r)); got.split('\\r')[0]", "ok value=HTTP/1.1 408 Request Timeout"},
		{"const { constructor: Agent } = globalThis[Symbol.for('undici.globalDispatcher.1')]; await fetch(url + 'never', { dispatcher: new Agent({ headersTimeout: 1100 }) }).catch((e) => e.cause.code)", "ok value=UND_ERR_HEADERS_TIMEOUT"},
	} {
		if res := n.run(tt.code, nil); summary(res) != tt.want {
			t.Errorf("%s\ngot  %s %s\nwant %s", tt.code, summary(res), res.Stderr(), tt.want)
		}
	}
}

// TestNodeClosesDescriptors: a program that closes its output loses the state with it, so
// that later ones print; one that closes its input does not.
func TestNodeClosesDescriptors(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		for _, code := range []string{"require('fs').closeSync(1); console.log('not printed'); 1", "require('fs').closeSync(2); require('fs').openSync('file', 'w'); 1", "await new Promise((r) => require('fs').close(1, r)); 1"} {
			if res := n.run(code, nil); summary(res) != "ok value=1 lost" {
				t.Errorf("%s: %s", code, summary(res))
			}
			if res := n.run("console.log('hello'); console.error('there'); 2", nil); summary(res) != "ok out=hello\n value=2" || res.Stderr() != "there\n" {
				t.Errorf("after %s: %s %s", code, summary(res), res.Stderr())
			}
		}
		n.run("var kept = 1; require('fs').closeSync(0)", nil)
		if res := n.run("require('fs').readFileSync(0, 'utf8') + kept", &codeinterp.RunOptions{Stdin: []byte("input")}); summary(res) != "ok value=input1" {
			t.Errorf("after the input was closed: %s", summary(res))
		}
	}
}

// TestNodeDebugSignal: node begins to debug by SIGUSR1, with which the state would go.
func TestNodeDebugSignal(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		ci := open(t, subprocess.Options{Languages: []subprocess.Language{l}})
		const code = "process.kill(process.pid, 'SIGUSR1'); await new Promise((r) => setTimeout(r, 300)); console.log('alive')"
		if res := run(t, ci, l.Name, code, nil); summary(res) != "ok out=alive\n" || res.Stderr() != "" {
			t.Errorf("%s %s", summary(res), res.Stderr())
		}
		n := newNotebook(t, ci, l.Name)
		n.run("var kept = 1", nil)
		if res := n.run(code+"; kept", nil); summary(res) != "ok out=alive\n value=1" || res.Stderr() != "" {
			t.Errorf("%s %s", summary(res), res.Stderr())
		}
	}
}
