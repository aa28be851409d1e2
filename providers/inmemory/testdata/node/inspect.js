// Programs' own inspect methods.
const util = require("util");
class Box {
  constructor(v) { this.value = v; }
  [util.inspect.custom](depth, options, inspect) { return `${options.stylize("Box", "special")}<${depth},${options.depth},${inspect(this.value, options)}>`; }
}
console.log(new Box(1), { a: new Box({ b: [1, { c: 2 }] }) });
console.log(util.inspect(new Box({ a: 1 }), { depth: null, breakLength: 20, compact: false }));
console.log({ [util.inspect.custom](depth, options, inspect) { return inspect({ own: 1 }, { ...options, depth: options.depth === null ? null : options.depth - 1 }); } });
class Money { #n = 5; [util.inspect.custom](depth, options) { return depth < 0 ? options.stylize("[Money]", "special") : `Money ${options.stylize(this.#n, "number")}`; } }
console.log(new Money(), { a: { b: { c: new Money() } } });
for (const f of [() => { throw new TypeError("mine"); }, () => { throw new TypeError(); }, () => { throw 5; }]) {
  for (const show of [console.log, util.inspect, (v) => util.format("%O", v), (v) => [v].map((x) => util.inspect({ a: x }))]) {
    try { show({ [util.inspect.custom]: f }); } catch (e) { console.log("caught", e?.name, e?.message, e instanceof TypeError, typeof e); }
  }
}
class E extends Error {}
class MyErrors extends Error {}
for (const C of [E, MyErrors]) console.log(util.inspect(new C("m")).split("\n")[0]);
// Iterators of Maps and Sets, which stay where they are.
const m = new Map([["a", 1], ["b", { c: [{ d: {} }] }]]), s = new Set(["a", [2]]);
console.log(m.keys(), m.values(), m.entries(), s.values(), s.entries(), s.keys(), m[Symbol.iterator](), [m.keys()], { a: { b: { c: m.keys() } } });
const it = m.entries(), ended = s.values();
it.next(); [...ended]; m.delete("a"); m.set("e", "f");
console.log(it, ended, [...it], it, util.inspect(m.values(), { depth: 0 }), new Map().keys(), Object.assign(m.keys(), { own: 1 }));
console.log(new Set(Array.from({ length: 120 }, (_, i) => i)).values(), util.inspect(new Map([[1, 2], [3, 4]]).entries(), { maxArrayLength: 1 }));
// The options.
const value = { b: [1, 2, 3, 1234567.8912, -12345, 1e21, NaN, -0], a: { get g() { return "G"; }, set s(v) {}, get q() { throw new Error("no"); }, get o() { return { z: 1 }; }, set o(v) {}, get n() { return null; } },
  p: new Proxy({ t: 1 }, { get: () => 5 }), q: new Proxy(function f() {}, {}), s: "a\nb longer string than sixteen", n: 123456n, f() {}, d: new Date(0), u: undefined, nu: null, y: Symbol("y"), r: /x/g, e: { e: { e: { e: 1 } } }, t: true,
  w: [, 1, , ,], x: new String("s"), m: new Map([[1, { a: "b" }]]), "a-b": 1, [Symbol("k")]: 2, h: Promise.resolve(4), i: new Uint8Array(3), j: new Uint8Array([1, 2]).buffer, k: class A {}, l: new WeakSet(), v: "it's" };
value.z = value;
for (const o of [{ compact: false }, { compact: true }, { compact: true, breakLength: 30 }, { compact: 1 }, { compact: 0 }, { breakLength: 20 }, { breakLength: Infinity }, { maxArrayLength: 2 },
  { maxArrayLength: 0 }, { maxStringLength: 3 }, { depth: 0 }, { depth: Infinity }, { depth: -1 }]) console.log(o, util.inspect(value, o));
const many = Array.from({ length: 40 }, (_, i) => (i % 3 ? `item ${i}` : i * 1000));
console.log(util.inspect(many, { compact: true }), util.inspect({ a: { b: 1 } }, false, 0));
class E2 extends TypeError {}
class Q extends E {}
for (const e of [new E2("m"), new Q(), Object.assign(new Error("a"), { name: "X" })]) console.log(util.inspect(e).split("\n")[0]);
const own = new Error("x"), bare = new Error("y");
own.stack = "own stack";
delete bare.stack;
console.log(own, bare, Object.keys(console).filter((k) => !["Console", "context", "createTask"].includes(k)).join());
