//go:build full

package inmemory_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// The engine's memory can be taken away while the host is filling it: that ends
// the program, never the host.
func TestFillingRevokedMemory(t *testing.T) {
	s := open(t, nil)
	for range 12 {
		id := create(t, s, "javascript")
		res := run(t, s, id, `for (;;) require("crypto").randomBytes(3e7)`, &codeinterp.RunOptions{Timeout: 200 * time.Millisecond})
		if res.Status != codeinterp.StatusTimeout {
			t.Errorf("got %v, want a timeout", res.Status)
		}
		if res := run(t, s, id, "1 + 1", nil); res.Text() != "2" {
			t.Errorf("afterwards: got %v %q", res.Status, res.Text())
		}
		if err := s.DeleteContext(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// fakeView is a DataView of sixteen zeros whose properties run a function, and
// say what they should.
const fakeView = `
const fakeView = (buffer, byteOffset, byteLength, onRead = () => {}) => {
	const view = new DataView(new ArrayBuffer(16));
	for (const [k, v] of Object.entries({ buffer, byteOffset, byteLength }))
		Object.defineProperty(view, k, { get() { onRead(k); return v; } });
	return view;
};
`

// What a view has is what the engine knows of it, not what its properties say.
func TestFakedViews(t *testing.T) {
	s := open(t, nil)
	for _, c := range []struct{ name, view, want string }{
		{"as it is", `new DataView(new Uint8Array([65, 66, 67, 68]).buffer, 1, 2)`, "BC"},
		{"far offset", `fakeView(new Uint8Array([65]).buffer, 2 ** 40, 1)`, zeros(16)},
		{"far end", `fakeView(new Uint8Array([65]).buffer, 0, 2 ** 53)`, zeros(16)},
		{"not whole", `fakeView(new Uint8Array([65, 66]).buffer, 0.5, NaN)`, zeros(16)},
		{"beyond what int has", `fakeView(new Uint8Array([65]).buffer, 2 ** 63, 2 ** 63)`, zeros(16)},
		{"no buffer", `fakeView({}, 0, 1)`, zeros(16)},
		{"throwing", `fakeView(0, 0, 0, () => { throw 1 })`, zeros(16)},
		{"view that grows", `(() => { const b = new ArrayBuffer(1, { maxByteLength: 4 }), v = new DataView(b); b.resize(3); return v })()`, zeros(3)},
		{"pairs that grow", `(() => { const b = new ArrayBuffer(2, { maxByteLength: 8 }), v = new Uint16Array(b); b.resize(5); return v })()`, zeros(4)},
		{"part of an array", `new Uint32Array([0x41414141, 0x42424242]).subarray(1)`, "BBBB"},
		{"shared", `new Uint8Array(new SharedArrayBuffer(2)).fill(65)`, "AA"},
		{"empty", `new Float64Array(0)`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := create(t, s, "javascript")
			res := run(t, s, id, fakeView+`display("application/octet-stream", `+c.view+`)`, nil)
			if !res.OK() || res.StateLost || len(res.Outputs) != 1 || string(res.Outputs[0].Bundle[0].Data) != c.want {
				t.Errorf("got %v, state lost %v, %+v %v, want %q", res.Status, res.StateLost, res.Outputs, res.Error, c.want)
			}
		})
	}
	for _, gone := range []string{
		`(() => { const v = new DataView(new ArrayBuffer(8)); v.buffer.transfer(); return v })()`,
		`(() => { const v = new Uint8Array(8); v.buffer.transfer(); return v })()`,
		`(() => { const b = new ArrayBuffer(8, { maxByteLength: 8 }), v = new Uint8Array(b, 4, 4); b.resize(6); return v })()`,
		`(() => { const b = new ArrayBuffer(8, { maxByteLength: 8 }), v = new DataView(b, 4); b.resize(2); return v })()`,
	} {
		res := run(t, s, create(t, s, "javascript"), `display("application/octet-stream", `+gone+`)`, nil)
		if res.Status != codeinterp.StatusError || res.StateLost || res.Error == nil || res.Error.Name != "TypeError" {
			t.Errorf("%s: got %v, state lost %v, %v; want a TypeError", gone, res.Status, res.StateLost, res.Error)
		}
	}
}

func zeros(n int) string { return strings.Repeat("\x00", n) }

// Jobs that a program leaves behind run neither at its end nor in the next
// run, however many there are.
func TestJobsLeftBehind(t *testing.T) {
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: 192 << 20}})
	const count = `globalThis.n = 0; const f = () => { n++; console.log("left behind") };`
	for _, c := range []struct{ name, code string }{
		{"microtasks", `for (let i = 0; i < 1200000; i++) queueMicrotask(f)`},
		{"promises", `for (let i = 0; i < 1000; i++) Promise.resolve().then(f).then(f)`},
		{"host functions", `Promise.resolve("left behind").then(console.log); queueMicrotask(process.stdout.write.bind(process.stdout, "left behind"))`},
		{"await", `(async () => { try { await 1; f() } finally { f() } })()`},
		{"thenables", `Promise.resolve({ then: f }); Promise.reject({ then: f })`},
		{"thenables in reactions", `Promise.resolve().then(() => ({ get then() { f() } })); Promise.resolve(1).then(() => { throw { get then() { f() } } })`},
		{"finalizers", `const r = new FinalizationRegistry(f); setTimeout((x) => {}, 1e6, (() => { const o = {}; r.register(o); return o })())`},
		{"async generators", `const g = (async function* () { try { yield 1 } finally { f() } })(); g.next().then(f); g.return().then(f)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := create(t, s, "javascript")
			res := run(t, s, id, count+c.code+"; process.exit(3)", nil)
			if res.ExitCode != 3 || res.StateLost || strings.Contains(res.Stdout(), "left") {
				t.Errorf("got %v %d, state lost %v, %.100q %v", res.Status, res.ExitCode, res.StateLost, res.Stdout(), res.Error)
			}
			res = run(t, s, id, `await 1; await new Promise((r) => setTimeout(r, 1)); n`, nil)
			if res.Text() != "0" || res.Stdout() != "" {
				t.Errorf("the next run: %s jobs ran, %.100q %v", res.Text(), res.Stdout(), res.Error)
			}
			if err := s.DeleteContext(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
}

// What the host makes of a program's values, or keeps of them, is bounded as they
// are: one string can be many arguments, lines or representations.
func TestHostTakesNoMore(t *testing.T) {
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: 16 << 20}})
	const large = `const s = "x".repeat(4e6); `
	for _, c := range []struct{ name, code, want string }{
		{"arguments", large + `console.log(...Array(300).fill(s))`, "RangeError"},
		{"formatted arguments", large + `require("util").format(...Array(300).fill(s))`, "RangeError"},
		{"lines in a group", `for (let i = 0; i < 100; i++) console.group(); console.log("\n".repeat(4e6))`, "RangeError"},
		{"representations", large + `const b = {}; for (let i = 0; i < 60; i++) b["text/x" + i] = s; display(b)`, "RangeError"},
		{"many representations", `const b = {}; for (let i = 0; i < 65; i++) b["text/x" + i] = ""; display(b)`, "RangeError"},
		{"arguments of timers", `const a = [() => {}, 1e6, ...Array(60000).fill(1)]; for (let n = 0; n < 1000; n++) setTimeout(...a)`, "InternalError"},
		{"arguments of immediates", `const a = [() => {}, ...Array(60000).fill(1)]; for (let n = 0; n < 1000; n++) setImmediate(...a)`, "InternalError"},
		{"timers", `const f = () => {}; for (let n = 0; n < 99000; n++) setTimeout(f, 1e6)`, "InternalError"},
		{"rejections", `const r = Promise.reject.bind(Promise, 1); for (let n = 0; n < 200000; n++) r()`, "InternalError"},
		{"arguments of ticks", `const a = [() => {}, ...Array(60000).fill(1)]; for (let n = 0; n < 1000; n++) process.nextTick(...a)`, "InternalError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := create(t, s, "javascript")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res := run(t, s, id, c.code, nil)
			runtime.ReadMemStats(&after)
			if res.Error == nil || res.Error.Name != c.want || res.StateLost {
				t.Errorf("got %v, %v, state lost %v; want a %s", res.Status, res.Error, res.StateLost, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 300<<20 {
				t.Errorf("the host took %d MiB", n>>20)
			}
			if res := run(t, s, id, `setTimeout((a, b) => console.log(a + b), 1, 1, 1); process.nextTick((a) => console.log(a), 3)`, nil); strings.Join(strings.Fields(res.Stdout()), " ") != "3 2" {
				t.Errorf("afterwards: got %v %q %v", res.Status, res.Stdout(), res.Error)
			}
		})
	}
}
