//go:build real

package inmemory_test

import (
	"fmt"
	"strings"
	"testing"
)

// twenty are what programs of models are most likely to meet where engines like
// this one differ from node. A row without here must print what node prints. One with it
// prints that, and not what node prints; alone marks what node 20 cannot say. TestNodeScripts has number 7.
var twenty = []struct {
	n          int
	code, here string
	alone      bool
}{
	{1, `console.log((1234567.891).toLocaleString(), (0.256).toLocaleString("en-US", { style: "percent" }), (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }), 123456789n.toLocaleString())`, "", false},
	{1, `try { console.log((1.5).toLocaleString("de-DE")) } catch (e) { console.log(e.name, e.message) }`, "RangeError locale de-DE is not available in this engine: only en-US is", false},
	{1, `try { console.log("I".toLocaleLowerCase("tr")) } catch (e) { console.log(e.name, e.message) }`, "RangeError locale tr is not available in this engine", false},
	{1, `console.log("I".toLocaleLowerCase(), "I".toLocaleLowerCase("de"), "ß".toLocaleUpperCase(["en-US"]), "".toLocaleLowerCase.length, "".toLocaleUpperCase.name)`, "", false},
	{1, `const f = [].toLocaleString; try { console.log(f()) } catch (e) { console.log(e.name, e.message) }`, "", false},
	{2, `const d = new Date(0); console.log(d.toLocaleDateString("en-US", { timeZone: "UTC" }), d.toLocaleString("en-US", { timeZone: "America/New_York" }), d.toLocaleDateString("en-US", { weekday: "long", month: "long", day: "numeric", timeZone: "UTC" }))`, "", false},
	{2, `const d = new Date(NaN); console.log(String(d), d.toTimeString(), Date.prototype.toString.length, Date.prototype.toTimeString.name); try { Date.prototype.toString.call(1) } catch (e) { console.log(e.name) }`, "", false},
	{3, `console.log(["a", "C", "b", "ä"].sort((x, y) => x.localeCompare(y)).join(), "item10".localeCompare("item9", undefined, { numeric: true }), "a".localeCompare("A", undefined, { sensitivity: "base" }), "a".localeCompare("z"))`, "", false},
	{4, `const f = []; for (let i = 0; i < 3; i++) { if (i === 1) { f.push(() => i); continue } f.push(() => i) } console.log(f.map((g) => g()).join())`, "", false},
	{4, `const f = []; for (let i = 0; i < 3; i++) { const k = i; f.push(() => k); if (i === 1) continue; f.push(() => k) } console.log(f.map((g) => g()).join())`, "", false},
	{5, `const f = []; for (const s of ["1", "x", "3"]) try { const n = s; f.push(() => n); if (isNaN(n)) throw 1 } catch {} console.log(f.map((g) => g()).join())`, "", false},
	{5, `const f = []; for (const s of ["1", "x", "3"]) { const n = s; try { f.push(() => n); if (isNaN(n)) throw 1 } catch {} } console.log(f.map((g) => g()).join())`, "", false},
	{6, `(async () => { let n = 0; const it = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: n++ > 1, value: n }), return: async () => { console.log("returned"); return {} } }) }; for await (const x of it); console.log("end") })()`, "", false},
	{6, `(async () => { async function* rows() { try { yield 1 } finally { await null; await null; console.log("closed") } } for await (const r of rows()) break; console.log("behind") })()`, "", false},
	{6, `(async () => { async function* rows() { try { yield 1 } finally { await null; await null; console.log("closed") } } await eval("(async () => { for await (const r of rows()) break })()"); console.log("behind") })()`, "behind\nclosed", false},
	{9, `try { null.x } catch (e) { console.log(e.stack.split("\n")[0]) } console.log(Object.keys(new Error("x")))`, "", false},
	{9, `const e = new Error("first"); e.message = "second"; console.log(e.stack.split("\n")[0])`, "Error: first", false},
	{10, `console.log(new Intl.NumberFormat("en-US").format(1234.5), new Intl.PluralRules("en-US").select(1), new Intl.ListFormat("en").format(["a", "b", "c"]), ["b", "a"].sort(new Intl.Collator("en").compare), Intl.DateTimeFormat().resolvedOptions().locale)`, "", false},
	{10, `console.log(typeof Intl.Segmenter, typeof Intl.DisplayNames)`, "undefined undefined", false},
	{11, `let d = 0; function f() { d++; f() } try { f() } catch (e) { console.log(e instanceof RangeError, e.name, e.message) } const g = (n) => n ? 1 + g(n - 1) : 0; console.log(g(3500))`, "", false},
	{11, `const g = (n) => n ? 1 + g(n - 1) : 0; try { console.log(g(7000)) } catch (e) { console.log(e.name) }`, "RangeError", false},
	{12, `class A extends Error { constructor(m) { super(m); this.name = this.constructor.name; Error.captureStackTrace(this, this.constructor) } } try { throw new A("m") } catch (e) { console.log(e.name, e.message, e instanceof A, e.stack.split("\n")[0], Error.stackTraceLimit) }`, "", false},
	{12, `Error.prepareStackTrace = (e, s) => "prepared"; const e = new Error("x"); console.log(e.stack.split("\n")[0]); Error.prepareStackTrace = undefined`, "Error: x", false},
	{13, `console.log([1, 2, 3, 4].values().map((x) => x * 2).take(2).toArray().join())`, "2,4", true},
	{14, `for (const m of ["stream", "readline", "zlib", "stream/promises", "timers/promises", "perf_hooks"]) console.log(typeof require(m))`, "", false},
	{14, `console.log(["worker_threads", "async_hooks", "child_process", "http", "vm"].map((m) => { try { return typeof require(m) } catch (e) { return e.code } }).join())`, strings.TrimSuffix(strings.Repeat("MODULE_NOT_FOUND,", 5), ","), false},
	{15, `console.log(["fetch", "Blob", "FormData", "ReadableStream", "MessageChannel", "WebAssembly"].filter((n) => typeof globalThis[n] !== "undefined").length)`, "0", false},
	{16, `const fs = require("fs"), os = require("os"), path = require("path"); const d = fs.mkdtempSync(path.join(os.tmpdir(), "toolcell-")); fs.writeFileSync(d + "/x", "1"); console.log(fs.readFileSync(d + "/x", "utf8"), os.tmpdir()); fs.rmSync(d, { recursive: true }); console.log(fs.existsSync(d))`, "", false},
	{17, `console.log(typeof Array.fromAsync, typeof Temporal)`, "function undefined", true},
	{18, `console.log(typeof exports, exports === module.exports, typeof __filename, typeof __dirname, require.main === module)`, "object true string string true", true},
	{19, `for (const f of [() => { const o = {}; o.f() }, () => { undefined.x }, () => { foo }, () => { return [].foo(1) }, () => { new (class A { constructor() { this.m() } })() }, () => { const a = {}; a.b.c = 1 }]) try { f() } catch (e) { console.log(e.name) }`, "", false},
	{20, `for (const s of ["{a:1}", "[1,]", "", "{", "\n{\n \"a\": x\n}"]) try { JSON.parse(s) } catch (e) { console.log(e.name) } try { [].reduce((a, b) => a) } catch (e) { console.log(e.message) }`, "", false},
	{21, `console.log({ ...'abc', x: 1 })`, "", false},
	{21, `console.log(Object.assign({ x: 1 }, 'abc'))`, "", false},
}

// TestTwenty checks what the Limits of package quickjs say.
func TestTwenty(t *testing.T) {
	var programs []string
	for _, row := range twenty {
		if row.alone {
			programs = append(programs, "")
			continue
		}
		programs = append(programs, row.code)
	}
	node := nodeOutput(t, lookNode(t), programs)
	s := open(t, nil)
	for i, row := range twenty {
		t.Run(fmt.Sprint(row.n), func(t *testing.T) {
			res, err := s.RunCode(t.Context(), "javascript", row.code, nil)
			if err != nil || !res.OK() {
				t.Fatalf("%s: %v, %v", row.code, res.Error, err)
			}
			switch got := strings.TrimSuffix(res.Stdout(), "\n"); {
			case row.here == "" && res.Stdout() != node[i]:
				t.Errorf("%s\n%s", row.code, firstDifferent(res.Stdout(), node[i]))
			case row.here != "" && got != row.here:
				t.Errorf("%s\ngot %q, want %q", row.code, got, row.here)
			case row.here != "" && !row.alone && res.Stdout() == node[i]:
				t.Errorf("%s\nprints what node prints", row.code)
			}
		})
	}
}
