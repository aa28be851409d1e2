package inmemory_test

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// hostile are programs that never end, or that want everything there is.
// revoked marks those that may sit in one built-in, or take to clean up, for so
// long that only taking their memory away ends them; the context then starts
// anew.
var hostile = []struct {
	name, code string
	revoked    bool
}{
	{"while", `while (true) {}`, false},
	{"for with a body", `let n = 0; for (;;) n++`, false},
	{"do", `do {} while (1)`, false},
	{"labels", `a: for (;;) { for (;;) continue a }`, false},
	{"catching all", `for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }`, false},
	{"finally", `try { for (;;) {} } finally { for (;;) {} }`, false},
	{"promises", `(function f() { Promise.resolve().then(f) })()`, false},
	{"microtasks", `(function f() { queueMicrotask(f) })()`, false},
	{"async", `(async () => { for (;;) await 1 })()`, false},
	{"await", `for (;;) await null`, false},
	{"unsettled interval", `setInterval(() => {}, 1); await new Promise(() => {})`, false},
	{"timers for ever", `setInterval(() => {}, 1)`, false},
	{"immediates", `(function f() { setImmediate(f) })()`, false},
	{"timer storm", `for (;;) setTimeout(() => {}, 1e6)`, false},
	{"generator", `[...function* () { for (;;) yield 1 }()]`, false},
	{"getter", `const o = { get x() { for (;;) {} } }; o.x`, false},
	{"toString", `const o = { toString() { for (;;) {} } }; "" + o`, false},
	{"inspected getter", `({ [Symbol.for("nodejs.util.inspect.custom")]() { for (;;) {} } })`, false},
	{"toJSON", `JSON.stringify({ toJSON() { for (;;) {} } })`, false},
	{"proxy", `const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x`, false},
	{"sort", `[3, 1, 2].sort(() => { for (;;) {} })`, false},
	{"large sorts", `const a = Array.from({ length: 1e5 }, (_, i) => i * 7919 % 100003); for (;;) a.slice().sort()`, false},
	{"regexp", `/^(a+)+$/.test("a".repeat(40) + "b")`, false},
	{"quadratic regexp", `/(x*)*y/.test("x".repeat(30000))`, false},
	{"indexOf", `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`, true},
	{"includes", `Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)`, true},
	{"lastIndexOf", `Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)`, true},
	{"fill", `Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1)`, true},
	{"reverse", `Array.prototype.reverse.call({ length: 2 ** 53 - 1 })`, true},
	{"join", `new Array(2 ** 28).join("abcdefgh").length`, true},
	{"JSON", `const o = { a: Array.from({ length: 20000 }, (_, i) => ({ i })) }; for (;;) JSON.parse(JSON.stringify(o))`, false},
	{"bigint power", `(3n ** (2n ** 22n)).toString().length`, true},
	{"bigint squares", `let a = 3n; for (;;) a = a * a`, true},
	{"repeat", `"x".repeat(2 ** 29).length`, false},
	{"repeats", `const s = "x".repeat(2 ** 24), a = []; for (;;) a.push(s.toUpperCase() + a.length)`, false},
	{"doubled string", `let s = "xy"; for (;;) s += s`, false},
	{"array", `const a = []; for (;;) a.push({ x: a.length, y: [1, 2, 3] })`, false},
	{"sparse fill", `new Array(2 ** 32 - 2).fill(7).length`, true},
	{"typed arrays", `const k = []; for (;;) k.push(new Uint8Array(2 ** 30).fill(1))`, false},
	{"map", `const m = new Map(); for (let i = 0; ; i++) m.set("k" + i, [i])`, false},
	{"padEnd", `const a = []; for (;;) a.push("a".padEnd(2 ** 28, "b").split(""))`, false},
	{"catching out of memory", `const a = []; for (;;) try { a.push(new Array(1e5).fill(0)) } catch {}`, false},
	{"recursion", `function f() { return f() + 1 } f()`, false},
	{"catching recursion", `function f() { try { f() } finally { f() } } f()`, false},
	{"large frames", `const names = Array.from({ length: 5000 }, (_, i) => "a" + i).join(); const f = new Function("g", "var " + names + "; g(g)"); f(f)`, false},
	{"long parse", `new Function("var " + Array.from({ length: 60000 }, (_, i) => "a" + i).join())`, true},
	{"many arguments", `function f(...a) { return f(...a, 1) } f(...new Array(60000).fill(0))`, false},
	{"deep JSON text", `JSON.parse("[".repeat(500000)).length`, false},
	{"deep object", `let o = {}, p = o; for (let i = 0; i < 200000; i++) p = p.a = {}; JSON.stringify(o).length`, false},
	{"deep inspection", `let d = {}; for (let i = 0; i < 100000; i++) d = { d }; require("util").inspect(d, { depth: Infinity })`, false},
	{"deep source", `eval("[".repeat(200000) + "]".repeat(200000)).length`, false},
	{"deep parentheses", `eval("(".repeat(200000) + "1" + ")".repeat(200000))`, false},
	{"deep regexp", `new RegExp("(".repeat(200000) + ")".repeat(200000)).test("")`, false},
	{"deep array to string", `let a = []; for (let i = 0; i < 200000; i++) a = [a]; String(a).length`, false},
	{"flat", `let a = [1, 2, 3]; for (let i = 0; i < 40; i++) a = [a, a]; a.flat(Infinity).length`, true},
	{"spread", `Math.max(...new Array(5e6).fill(1))`, false},
	{"output", `for (;;) console.log("x".repeat(1000))`, false},
	{"output in small pieces", `for (;;) process.stdout.write(".")`, false},
	{"output without an end", `for (;;) process.stdout.write("x".repeat(1e6))`, false},
	{"displays", `for (;;) display("text/plain", "x")`, false},
	{"alternating output", `for (;;) { console.log(1); console.error(2) }`, false},
	{"file", `const fs = require("fs"); for (;;) fs.appendFileSync("f", "x".repeat(1e6))`, false},
	{"files", `const fs = require("fs"); for (let i = 0; ; i++) fs.writeFileSync("f" + i, "")`, false},
	{"rejections", `for (;;) Promise.reject(1)`, true},
	{"symbols", `for (let i = 0; ; i++) Symbol.for("s" + i)`, false},
	{"properties", `for (let i = 0; ; i++) globalThis["p" + i] = i`, false},
	{"code", `for (let i = 0; ; i++) new Function("return " + i)()`, false},
	{"weak references", `const r = []; for (;;) r.push(new WeakRef({}))`, false},
	{"resizable buffer", `const b = new ArrayBuffer(1, { maxByteLength: 2 ** 40 }); for (let i = 1; ; i *= 2) b.resize(i)`, false},
	{"shared buffer", `const k = []; for (;;) k.push(new SharedArrayBuffer(2 ** 24))`, false},
	{"waiting", `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`, false},
	{"normalize", `"\u1100".repeat(1e7).normalize("NFD").normalize("NFC").length`, false},
	{"replace", `"a".repeat(1e5).replace(/a/g, () => "b".repeat(1e5)).length`, false},
	{"class chain", `let c = class {}; for (;;) c = class extends c {}`, false},
	{"exit in a loop", `process.on("exit", () => { for (;;) {} }); process.exit(0)`, false},
	{"setter", `const o = { set x(v) { this.x = v } }; o.x = 1`, false},
	{"concat", `let s = ""; for (let i = 0; i < 200000; i++) s += i; s.length`, false},
}

const (
	memoryLimit = 64 << 20

	// margin is what a run may take beside its limited memory: the stack of
	// its goroutine, frames of the C library, output and files, all limited.
	margin = 192 << 20
)

func TestHostile(t *testing.T) {
	const timeout = 200 * time.Millisecond
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: memoryLimit}})
	slowest := watchHeart(t)
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			// A machine that is busy elsewhere can make a program look as if
			// it could not be stopped.
			lost := true
			for try := 0; try < 3 && lost; try++ {
				lost = endure(t, s, c.code, timeout) && !c.revoked
			}
			if lost && !raceEnabled { // the race detector makes every operation a long one
				t.Error("lost its state three times")
			}
		})
	}
	if d := slowest(); d > 2*time.Second {
		t.Errorf("the host stood still for %v", d)
	}
	if n := s.Abandoned(); n != 0 {
		t.Errorf("%d engines were abandoned", n)
	}
}

// endure runs a hostile program and reports whether it took its context's
// state along.
func endure(t *testing.T, s *inmemory.Stateful, code string, timeout time.Duration) (lost bool) {
	debug.FreeOSMemory()
	before := residentBytes(t)
	peak := watchMemory(t)
	id := create(t, s, "javascript")
	run(t, s, id, "globalThis.kept = 1", nil)
	start := time.Now()
	res := run(t, s, id, code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
	took := time.Since(start)
	if late := took - timeout; late > 2*time.Second {
		t.Errorf("ended %v after its timeout", late)
	}
	if used := peak() - before; used > memoryLimit+margin && !raceEnabled { // it has memory of its own
		t.Errorf("took %d MiB of memory", used>>20)
	}
	after := run(t, s, id, "typeof kept", nil)
	if kept := after.Text() == "number"; kept == res.StateLost {
		t.Errorf("StateLost is %v, but the variable was kept: %v", res.StateLost, kept)
	}
	if err := s.DeleteContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	t.Logf("%-7s %3d in %v, peak %+d MiB, lost %v, %v", res.Status, res.ExitCode, took.Round(time.Millisecond),
		(peak()-before)>>20, res.StateLost, res.Error)
	return res.StateLost
}

// watchHeart measures the longest time that another goroutine had to wait.
func watchHeart(t *testing.T) func() time.Duration {
	var worst atomic.Int64
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		last := time.Now()
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				worst.Store(max(worst.Load(), int64(time.Since(last))))
				last = time.Now()
			}
		}
	}()
	return func() time.Duration { return time.Duration(worst.Load()) }
}

// watchMemory samples the process's resident memory.
func watchMemory(t *testing.T) func() int64 {
	var peak atomic.Int64
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				peak.Store(max(peak.Load(), residentBytes(t)))
			}
		}
	}()
	runtime.Gosched()
	return peak.Load
}
