package inmemory_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// A hostileProgram never ends, or wants everything there is. revoked marks those
// that may sit in one built-in, or take to clean up, for so long that only
// taking their memory away ends them; the context then starts anew.
type hostileProgram struct {
	name, code string
	revoked    bool
}

var hostile = []hostileProgram{
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
	{"large sorts", `const a = Array.from({ length: 1e5 }, (_, i) => i * 7919 % 100003); for (;;) a.slice().sort()`, true},
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
	{"repeats", `const s = "x".repeat(2 ** 24), a = []; for (;;) a.push(s.toUpperCase() + a.length)`, true},
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
	{"deep object", `let o = {}, p = o; for (let i = 0; i < 200000; i++) p = p.a = {}; JSON.stringify(o).length`, true},
	{"deep inspection", `let d = {}; for (let i = 0; i < 100000; i++) d = { d }; require("util").inspect(d, { depth: Infinity })`, false},
	{"deep source", `eval("[".repeat(200000) + "]".repeat(200000)).length`, false},
	{"deep parentheses", `eval("(".repeat(200000) + "1" + ")".repeat(200000))`, false},
	{"deep regexp", `new RegExp("(".repeat(200000) + ")".repeat(200000)).test("")`, false},
	{"deep array to string", `let a = []; for (let i = 0; i < 200000; i++) a = [a]; String(a).length`, false},
	{"flat", `let a = [1, 2, 3]; for (let i = 0; i < 40; i++) a = [a, a]; a.flat(Infinity).length`, true},
	{"spread", `Math.max(...new Array(5e6).fill(1))`, true},
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
	{"normalize", `"\u1100".repeat(1e7).normalize("NFD").normalize("NFC").length`, true},
	{"replace", `"a".repeat(1e5).replace(/a/g, () => "b".repeat(1e5)).length`, false},
	{"class chain", `let c = class {}; for (;;) c = class extends c {}`, false},
	{"exit in a loop", `process.on("exit", () => { for (;;) {} }); process.exit(0)`, false},
	{"setter", `const o = { set x(v) { this.x = v } }; o.x = 1`, false},
	{"concat", `let s = ""; for (let i = 0; i < 200000; i++) s += i; s.length`, false},
	{"regexp alternatives", `/^(a|a)*$/.test("a".repeat(40) + "b")`, false},
	{"regexp references", `/(a+)\1+(a+)\2+$/.test("a".repeat(5000) + "b")`, false},
	{"regexp counts", `new RegExp("(?:a{0,1000}){0,1000}".repeat(50) + "b").test("a".repeat(10000))`, false},
	{"regexp lookahead", `/(?=(a+)+$)((a+)+)+$/.exec("a".repeat(60) + "!")`, false},
	{"regexp classes", `new RegExp("[" + "\\p{L}\\p{N}".repeat(20000) + "]", "u").test("x")`, true},
	{"matchAll", `for (const m of "a".repeat(1e7).matchAll(/(?:)/g));`, true},
	{"split", `"a".repeat(3e7).split("").length`, true},
	{"sort of a proxy", `Array.prototype.sort.call(new Proxy([], { get: (t, k) => k === "length" ? 2 ** 32 : t[k] }))`, true},
	{"sort of an array-like", `Array.prototype.sort.call({ length: 2 ** 40 })`, true},
	{"splice", `Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1)`, true},
	{"unshift", `Array.prototype.unshift.call({ length: 2 ** 53 - 10 }, 0)`, true},
	{"copyWithin", `Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)`, true},
	{"forEach", `Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => {})`, true},
	{"every of a proxy", `Array.prototype.every.call(new Proxy({ length: 2 ** 53 - 1 }, { has: () => false }), () => {})`, true},
	{"concat of array-likes", `[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })`, true},
	{"from an array-like", `Array.from({ length: 2 ** 32 - 1 })`, true},
	{"reduce of holes", `new Array(2 ** 32 - 1).reduce((a) => a, 0)`, true},
	{"join of holes", `new Array(2 ** 32 - 1).join()`, true},
	{"JSON of holes", `JSON.stringify(new Array(2 ** 32 - 1))`, true},
	{"sparse array cut off", `const a = []; for (let i = 0; i < 3e5; i++) a[i * 10000] = 1; a.length = 0`, true},
	{"keys of a proxy", `const keys = Array.from({ length: 3e5 }, (_, i) => "k" + i); for (;;) Reflect.ownKeys(new Proxy({}, { ownKeys: () => keys }))`, true},
	{"prototypes", `let p = {}; for (let i = 0; i < 3e5; i++) p = Object.create(p); for (;;) p.x`, true},
	{"bound functions", `let f = () => 1; for (let i = 0; i < 2e5; i++) f = f.bind(null); f()`, false},
	{"bigint text", `BigInt("0x" + "f".repeat(2e5)).toString(3).length; BigInt("9".repeat(1e6))`, true},
	{"large JSON text", `JSON.parse("[" + "1,".repeat(3e6) + "1]").length`, true},
	{"JSON of control characters", `JSON.stringify("\u0001".repeat(1e7)).length`, true},
	{"JSON reviver", `JSON.parse("[1]", () => { for (;;); })`, false},
	{"localeCompare", `"\u1100".repeat(1e6).localeCompare("\u1100".repeat(1e6) + "a")`, true},
	{"normalize combining marks", `("a" + "\u0300\u0323".repeat(1e6)).normalize("NFC").length`, true},
	{"toUpperCase", `"\u0390".repeat(5e6).toUpperCase().length`, true},
	{"string search", `("a".repeat(5e6) + "b").indexOf("a".repeat(2e6) + "c")`, true},
	{"encodeURIComponent", `encodeURIComponent("\u20ac".repeat(5e6)).length`, true},
	{"prepended string", `let s = ""; for (;;) s = "a" + s`, true},
	{"clone of a cycle", `const a = {}; a.a = a; a.b = Array.from({ length: 1e6 }, () => a); structuredClone(a).b.length`, true},
	{"clone of a getter", `structuredClone({ get x() { for (;;); } })`, false},
	{"generators", `function* g() { try { for (;;) yield* g() } finally { for (;;); } } for (const x of g());`, false},
	{"async iterator", `async function* g() { try { for (;;) yield 1 } finally { for (;;) await 1 } } for await (const x of g()) break`, false},
	{"thenable", `await { then(r) { r(this) } }`, false},
	{"a million timers", `await Promise.all(Array.from({ length: 1e6 }, () => new Promise((r) => setTimeout(r, 0))))`, true},
	{"promise chain", `let p = Promise.resolve(); for (;;) p = p.then(() => {})`, true},
	{"finalizers", `const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; ; i++) r.register({}, i)`, true},
	{"eval", `(0, eval)("for (;;) try { for (;;); } catch {}")`, false},
	{"large source", `eval("x=1;".repeat(2e6))`, true},
	{"large template", "eval('`' + '${1}'.repeat(1e6) + '`').length", true},
	{"large switch", `eval("switch (1) {" + Array.from({ length: 1e5 }, (_, i) => "case " + i + ": break;").join("") + "}")`, true},
	{"large display", `for (;;) display("text/plain", "x".repeat(2e7))`, true},
	{"display of bytes", `display("image/png", new Uint8Array(5e7))`, true},
	{"large value", `"x".repeat(2e7)`, true},
	{"value of a map", `new Map(Array.from({ length: 2e5 }, (_, i) => ["k" + i, { i }]))`, true},
	{"console of a large array", `for (;;) console.log(new Array(1e6).fill("abc"))`, true},
	{"console of a tree", `let m = {}; for (let i = 0; i < 100; i++) m = { a: m, b: m }; require("util").inspect(m, { depth: Infinity })`, true},
	{"error with getters", `const e = new Error("x"); for (const k of ["name", "message", "stack", "cause"]) Object.defineProperty(e, k, { get() { for (;;); } }); throw e`, false},
	{"proxy thrown", `throw new Proxy(new Error("x"), { get() { for (;;); }, getPrototypeOf() { for (;;); }, ownKeys() { for (;;); } })`, false},
	{"exit in a try", `try { process.exit(3) } finally { for (;;); }`, false},
	{"exit in a getter", `({ [Symbol.for("nodejs.util.inspect.custom")]() { try { process.exit(6) } finally { for (;;); } } })`, false},
	{"timers that start timers", `(function f() { setTimeout(f, 0); setTimeout(f, 0) })()`, false},
	{"ticks", `(function f() { process.nextTick(f) })()`, false},
	{"import loop", `const fs = require("fs"); fs.writeFileSync("a.js", "require('./b.js')"); fs.writeFileSync("b.js", "require('./a.js'); for (;;);"); require("./a.js")`, false},
	{"imports", `const fs = require("fs"); for (let i = 0; ; i++) { fs.writeFileSync("m.mjs", "export default " + i); await import("./m.mjs?" + i).catch(() => {}) }`, true},
	{"file read", `const fs = require("fs"); fs.writeFileSync("f", "x".repeat(1e7)); const a = []; for (;;) a.push(fs.readFileSync("f"))`, true},
	{"digest", `const b = new Uint8Array(3e7); for (;;) require("crypto").createHash("sha512").update(b).digest()`, true},
	{"atob", `const s = "a".repeat(1e7); for (;;) atob(s)`, true},
	{"btoa", `const s = "a".repeat(1e7); for (;;) btoa(s)`, true},
	{"decoder", `const b = new Uint8Array(2e7); for (;;) new TextDecoder().decode(b)`, true},
	{"query", `new URLSearchParams("a=1&".repeat(1e6)).toString().length`, true},
	{"listeners", `const c = new AbortController(); c.signal.addEventListener("abort", () => { for (;;); }); c.abort()`, false},
	{"changed prototype", `Object.prototype.then = function () { for (;;); }; await 1`, false},
	{"weak map", `const w = new WeakMap(); let k = {}; for (;;) { const n = {}; w.set(n, k); k = n }`, true},
	{"typed array from another", `const a = new Uint8Array(2e7), b = new Float32Array(2e6); for (;;) a.set(b)`, true},
	{"typed array join", `new Uint8Array(5e6).join().length`, true},
	{"typed array from an array-like", `Uint8Array.from({ length: 5e7 })`, true},
}

const (
	memoryLimit = 64 << 20

	// margin is what a run may take beside its limited memory: the stack of
	// its goroutine, frames of the C library, output and files, all limited.
	margin = 192 << 20
)

const (
	// atOnce is how long after its timeout a run may end.
	atOnce = 100 * time.Millisecond

	// graceful is how long a program has to end by itself, less than what the
	// engine gives it.
	graceful = 30 * time.Millisecond
)

func TestHostile(t *testing.T) {
	const timeout = 100 * time.Millisecond
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: memoryLimit}})
	slowest := watchHeart(t)
	for i, c := range slices.Concat(hostile, hostileMore) {
		if race.Enabled && i%10 > 0 { // it checks nothing but memory access then
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			// A machine that is busy elsewhere can make a program look as if
			// it could not be stopped.
			lost, late := true, true
			for try := 0; try < 3 && (lost || late); try++ {
				lost, late = endure(t, s, c.code, timeout)
				lost = lost && !c.revoked
			}
			if race.Enabled { // every operation takes long
				return
			}
			if lost {
				t.Error("lost its state three times, having had time to end")
			}
			if late {
				t.Error("ended too late three times")
			}
		})
	}
	if d := slowest(); d > 2*time.Second && !race.Enabled {
		t.Errorf("the host stood still for %v of its own computing", d)
	}
	if n := s.Abandoned(); n != 0 {
		t.Errorf("%d engines were abandoned", n)
	}
}

// endure runs a hostile program and reports whether it took its context's
// state along though it had time to end, and whether it went on computing for
// too long after its timeout. What the machine spent on other processes does
// not count, so that what a busy machine shows is never wrong, if less.
func endure(t *testing.T, s *inmemory.Stateful, code string, timeout time.Duration) (lost, late bool) {
	debug.FreeOSMemory()
	before := residentBytes(t)
	peak := watchMemory(t)
	id := create(t, s, "javascript")
	run(t, s, id, "globalThis.kept = 1", nil)
	atTimeout := make(chan time.Duration, 1)
	start := time.Now()
	mark := time.AfterFunc(timeout, func() { atTimeout <- cpuTime(t) })
	res := run(t, s, id, code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
	took := time.Since(start)
	lost = res.StateLost
	if !mark.Stop() {
		computed := cpuTime(t) - <-atTimeout
		late = took-timeout > atOnce && computed > atOnce
		lost = lost && computed >= graceful
	}
	if took-timeout > time.Minute {
		t.Errorf("ended %v after its timeout", took-timeout)
	}
	if used := peak() - before; used > memoryLimit+margin && !race.Enabled { // it has memory of its own
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
	return lost, late
}

// watchHeart measures the longest time that another goroutine had to wait while
// the process computed.
func watchHeart(t *testing.T) func() time.Duration {
	var worst atomic.Int64
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		last, computed := time.Now(), cpuTime(t)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				now := cpuTime(t)
				worst.Store(max(worst.Load(), int64(min(time.Since(last), now-computed))))
				last, computed = time.Now(), now
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
