//go:build real

package inmemory_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// algorithms are programs as models write them, small tasks of the kind that
// benchmarks of generated code have, with no use of node's API but console.
var algorithms = []string{
	`function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } console.log(fib(20))`,
	`const gcd = (a, b) => b ? gcd(b, a % b) : a; console.log([[12, 18], [7, 13], [100, 75]].map(([a, b]) => gcd(a, b)))`,
	`const count = (s) => [...s].reduce((m, c) => m.set(c, (m.get(c) ?? 0) + 1), new Map()); console.log(count("mississippi"))`,
	`class Stack { #items = []; push(x) { this.#items.push(x); return this } pop() { return this.#items.pop() } get size() { return this.#items.length } } const s = new Stack().push(1).push(2); console.log(s.pop(), s.size, s)`,
	`function* take(n, it) { for (const x of it) { if (n-- <= 0) return; yield x } } function* nat() { let i = 0; while (true) yield i++ } console.log([...take(5, nat())])`,
	`const memo = (f, c = {}) => (n) => c[n] ??= f(n); const fact = memo((n) => n <= 1n ? 1n : n * fact(n - 1n)); console.log(fact(30n))`,
	`const merge = (iv) => iv.sort((a, b) => a[0] - b[0]).reduce((r, [s, e]) => { const l = r.at(-1); if (l && s <= l[1]) l[1] = Math.max(l[1], e); else r.push([s, e]); return r }, []); console.log(merge([[1, 3], [2, 6], [8, 10], [15, 18]]))`,
	`const lcs = (a, b) => { const d = Array.from({ length: a.length + 1 }, () => Array(b.length + 1).fill(0)); for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) d[i][j] = a[i - 1] === b[j - 1] ? d[i - 1][j - 1] + 1 : Math.max(d[i - 1][j], d[i][j - 1]); return d[a.length][b.length] }; console.log(lcs("AGGTAB", "GXTXAYB"))`,
	`const matmul = (a, b) => a.map((r) => b[0].map((_, j) => r.reduce((s, x, k) => s + x * b[k][j], 0))); console.log(matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]]))`,
	`const hanoi = (n, a, b, c) => n === 0 ? 0 : hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a); console.log(hanoi(10, "A", "B", "C"))`,
	`const d = new Date(Date.UTC(2024, 1, 29, 12)); console.log(d.toISOString(), d.getUTCDay(), new Date(d.getTime() + 864e5).toISOString())`,
	`try { null.foo } catch (e) { console.log(e instanceof TypeError, e.name) } finally { console.log("done") }`,
	"const tag = (s, ...v) => s.raw.join('|') + v.join(','); console.log(tag`a${1}b${2}c`)",
	`console.log([1, [2, [3, [4]]]].flat(Infinity), Array.from("héllo"), [..."👍a"].length, "abc".padStart(5, "*"), "a-b-c".replaceAll("-", "+"))`,
	`Promise.all([1, Promise.resolve(2), new Promise((r) => setTimeout(r, 5, 3))]).then((v) => console.log(v)); console.log("first")`,
	`(async () => { try { await Promise.any([Promise.reject(1), Promise.reject(2)]) } catch (e) { console.log(e.constructor.name, e.errors) } })()`,
	`const hasClose = (a, t) => a.toSorted((x, y) => x - y).some((x, i, s) => i > 0 && x - s[i - 1] < t); console.log(hasClose([1, 2, 3.9, 4, 5, 2.2], 0.3), hasClose([1, 2, 3.9, 4, 5, 2.2], 0.05))`,
	`const mad = (a) => { const m = a.reduce((x, y) => x + y) / a.length; return a.reduce((s, x) => s + Math.abs(x - m), 0) / a.length }; console.log(mad([1, 2, 3, 4, 5, 6]), mad([1, 2, 3.5]))`,
	`const notes = { o: 4, "o|": 2, ".|": 1 }; console.log("o o| .| o| o| .| .| .| .| o o".split(" ").map((n) => notes[n]).join())`,
	`const decode = (s) => s.replace(/(...)/g, (_, g) => g[2] + g[0] + g[1]); const encode = (s) => s.replace(/(...)/g, (_, g) => g[1] + g[2] + g[0]); console.log(encode("hello world"), decode(encode("hello world")))`,
	`const strange = (a) => { const s = a.toSorted((x, y) => x - y), r = []; while (s.length) r.push(s.shift(), ...(s.length ? [s.pop()] : [])); return r }; console.log(strange([1, 2, 3, 4, 5]), strange([]))`,
	`const change = (n, b) => n < b ? String(n) : change(Math.trunc(n / b), b) + n % b; console.log([change(8, 3), change(1234, 2), (1234).toString(2)])`,
	`const cycle = (a, b) => [...b].some((_, i) => a.includes(b.slice(i) + b.slice(0, i))); console.log([["abcd", "abd"], ["hello", "ell"], ["efef", "eeff"], ["himenss", "simen"]].map(([a, b]) => cycle(a, b)))`,
	`const words = { zero: 0, one: 1, two: 2, three: 3, four: 4, five: 5 }; console.log("three one five zero".split(" ").sort((a, b) => words[a] - words[b]).join(" "))`,
	`const knap = (items, w) => { const best = new Array(w + 1).fill(0); for (const [v, c] of items) for (let i = w; i >= c; i--) best[i] = Math.max(best[i], best[i - c] + v); return best[w] }; console.log(knap([[60, 10], [100, 20], [120, 30]], 50))`,
	`const dijkstra = (g, s) => { const d = new Map([[s, 0]]), q = [[0, s]]; while (q.length) { q.sort((a, b) => b[0] - a[0]); const [c, n] = q.pop(); if (c > d.get(n)) continue; for (const [m, w] of Object.entries(g[n] ?? {})) if (c + w < (d.get(m) ?? Infinity)) { d.set(m, c + w); q.push([c + w, m]) } } return d }; console.log(dijkstra({ a: { b: 7, c: 3 }, c: { b: 1, d: 2 }, b: { d: 2 } }, "a"))`,
}

// values are expressions whose inspected form must be node's.
var values = []string{
	`1`, `-0`, `"it's"`, `'say "hi"'`, "'both \" and \\''", `"line\nbreak"`, `10n`, `Symbol("s")`, `null`, `undefined`, `true`, `NaN`,
	`{}`, `[]`, `{ a: 1, "b-c": 2, 3: 4, [Symbol("k")]: 5 }`, `[1, , 3]`, `[, , 1]`, `new Array(3)`, `[undefined, null]`, `["a", 'b"c']`,
	`{ a: { b: { c: { d: 1 } } } }`, `[[[[1]]]]`, `{ f() {}, g: () => 1, h: class X {}, i: async function j() {}, k: function* () {} }`,
	`class A {}`, `class B extends Array {}`, `(() => 1)`, `function named() {}`, `Object.assign(function f() {}, { x: 1 })`, `Math.max`, `class {}`,
	`new Map([["a", 1], [{ k: 1 }, [2]]])`, `new Set([1, "a", [2]])`, `new Map()`, `new Set()`, `new WeakMap()`, `new WeakSet()`,
	`new Date(0)`, `new Date(NaN)`, `/a+/gi`, `new Error("x").message`, `Object.create(null)`, `Object.assign(Object.create(null), { a: 1 })`,
	`new (class Foo { constructor() { this.a = 1 } })()`, `new (class Foo {})()`, `new (class Foo extends Map {})([[1, 2]])`, `new (class L extends Array {})(1, 2)`,
	`Promise.resolve(5)`, `new Promise(() => {})`, `(() => { const p = Promise.reject(3); p.catch(() => {}); return p })()`,
	`new Uint8Array([1, 2, 3])`, `new Float64Array(2)`, `new ArrayBuffer(4)`, `Buffer.from("hi")`, `new BigInt64Array(1)`,
	`new Number(3)`, `new String("abc")`, `new Boolean(false)`, `Object(Symbol("b"))`, `Object(1n)`,
	`(() => { const o = { n: 1 }; o.self = o; return o })()`, `(() => { const a = []; a.push(a, { a }); return a })()`,
	`{ get a() { return 1 }, set b(v) {}, get c() { return 1 }, set c(v) {} }`, `(function () { return arguments })(1, 2)`,
	`Array.from({ length: 120 }, (_, i) => i)`, `Array.from({ length: 30 }, (_, i) => "item" + i)`, `Array.from({ length: 7 }, (_, i) => i * 1000)`,
	`Array.from({ length: 10 }, (_, i) => ({ i }))`, `"x".repeat(200)`, `["x".repeat(100), "y".repeat(100)]`, `{ text: "a\nb".repeat(60) }`,
	`{ a: "x".repeat(30), b: "y".repeat(30), c: "z".repeat(30) }`, `{ a: 1, b: { c: [1, 2, { d: 3 }], e: new Map([["k", { v: 1 }]]) }, s: new Set([[1, 2]]) }`,
	`[{ id: 1, name: "Ann", tags: ["x", "y"] }, { id: 2, name: "Bob", tags: [] }]`, `Object.fromEntries(Array.from({ length: 30 }, (_, i) => ["key" + i, i]))`,
	`[1.5, -2, 1e21, 1e-7]`, `[true, false, null, undefined, NaN]`, `new Map([[1, new Map([[2, new Map([[3, 4]])]])]])`, `[function () {}, class Q {}]`,
	`new (class { get [Symbol.toStringTag]() { return "T" } })()`, `{ [Symbol.toStringTag]: "Tagged" }`, `[1, 2, 3].values()`, `(function* g() {})()`,
	`Object.assign([1, 2], { extra: "e", "-1": 0 })`, `globalThis.Symbol.iterator`, `JSON`, `Math`, `new Proxy({ a: 1 }, {})`, `new Proxy([1], {})`,
	`{ [Symbol.for("nodejs.util.inspect.custom")]() { return "CUSTOM" } }`, `{ a: { [Symbol.for("nodejs.util.inspect.custom")](d) { return { d } } } }`,
	`{ __proto__: { inherited: 1 }, own: 2 }`, `Object.create({ constructor: undefined })`, `{ constructor: 1 }`, `"\u0000\x1b[31m"`, `["\t", "\\", "\u{1F600}"]`,
	`structuredClone({ a: new Date(0), m: new Map([[1, { b: 2 }]]) })`, `[new Error("e").message, [new RangeError("r").name]]`, `[[1, 2, [3, 4, [5, [6]]]], { a: { b: { c: {} } } }]`,
	`new URLSearchParams("a=1&b=2&a=3").toString()`, `[...new URLSearchParams({ q: "a b&c" })]`, `new URL("../x?y=1#z", "https://user:pw@Example.com:8080/a/b/c").href`,
	`new URL("https://example.com/ä ö?q=ü#ß").href`, `new URL("HTTP://a.b:80/./c/../d").href`, `["mailto:x@y", "data:,a b", "file:///a/../b"].map((u) => new URL(u).href)`,
	`new TextDecoder().decode(new TextEncoder().encode("héllo 👍"))`, `new TextDecoder().decode(Uint8Array.of(0xff, 0x61, 0xf0, 0x9f, 0x62))`, `[atob("aGk="), btoa("hi")]`,
	`Buffer.from("ff00", "hex").toString("base64")`, `Buffer.concat([Buffer.from("a"), Buffer.from("b")]).toString()`, `require("path").join("/a", "../b", "./c.txt")`,
	`require("path").relative("/a/b/c", "/a/d")`, `require("path").parse("/x/y.tar.gz")`, `require("util").format("%s %d %i %f %j %O %%", "a", 1.5, 2.7, "3.1", { a: 1 }, { b: 2 })`,
	`require("util").format("%s %s", "a")`, `require("util").format("a", "b", { c: 1 })`, `require("util").format("%s", { a: { b: 1 } }, null)`, `require("util").format("100%", 1)`,
	`require("util").inspect({ a: { b: { c: { d: 1 } } } }, { depth: 0 })`, `require("util").inspect({ a: { b: { c: { d: 1 } } } }, { depth: null })`, `require("util").isDeepStrictEqual({ a: [1, 2] }, { a: [1, 2] })`,
	`require("crypto").createHash("sha256").update("abc").digest("hex")`, `require("crypto").createHmac("sha1", "k").update("d").digest("base64")`,
	`(() => { try { require("assert").strictEqual(1, 2) } catch (e) { return [e.name, e.code] } })()`, `(() => { const E = require("events"), e = new E(), r = []; e.on("x", (v) => r.push(v)); e.once("x", (v) => r.push(-v)); e.emit("x", 1); e.emit("x", 2); return r })()`,
}

// TestNode compares what programs print with what they print under node.
func TestNode(t *testing.T) {
	programs := append([]string{}, algorithms...)
	for _, v := range values {
		programs = append(programs, "console.log("+v+")")
	}
	for _, v := range values {
		programs = append(programs, "console.log('in:', { v: "+v+" }, ["+v+"])")
	}
	compareWithNode(t, programs)
}

// nodeOutput returns what each program prints under node.
func nodeOutput(t *testing.T, node string, programs []string) []string {
	t.Helper()
	const driver = `
		const programs = JSON.parse(require("fs").readFileSync(0, "utf8")), out = [];
		const { format } = require("util");
		(async () => {
			for (const code of programs) {
				let text = "";
				const log = (...a) => { text += format(...a) + "\n" };
				new Function("require", "console", code)(require, { log });
				await new Promise((r) => setTimeout(r, code.includes("setTimeout") ? 700 : 0));
				out.push(text);
			}
			process.stdout.write(JSON.stringify(out));
		})();`
	in, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", driver)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// lookNode returns where node is.
func lookNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return node
}
