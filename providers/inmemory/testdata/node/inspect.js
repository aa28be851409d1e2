// Programs' own inspect methods.
const util = require("util");
class Box {
  constructor(v) { this.value = v; }
  [util.inspect.custom](depth, options, inspect) { return `${options.stylize("Box", "special")}<${depth},${options.depth},${inspect(this.value, options)}>`; }
}
console.log(new Box(1), { a: new Box({ b: [1, { c: 2 }] }) });
console.log(util.inspect(new Box({ a: 1 }), { depth: null, breakLength: 20, compact: false }));
console.log({ [util.inspect.custom]: (d, o) => Object.keys(o).sort().join() });
console.log({ [util.inspect.custom](depth, options, inspect) { return inspect({ own: 1 }, { ...options, depth: options.depth === null ? null : options.depth - 1 }); } });
class Money { #n = 5; [util.inspect.custom](depth, options) { return depth < 0 ? options.stylize("[Money]", "special") : `Money ${options.stylize(this.#n, "number")}`; } }
console.log(new Money(), { a: { b: { c: new Money() } } });
for (const f of [() => { throw new TypeError("mine"); }, () => { null.x; }, () => { throw 5; }]) {
  for (const show of [console.log, util.inspect, (v) => util.format("%o", v), (v) => [v].map((x) => util.inspect({ a: x }))]) {
    try { show({ [util.inspect.custom]: f }); } catch (e) { console.log("caught", e?.name, e?.message, e instanceof TypeError, typeof e); }
  }
}
class E extends Error {}
class MyErrors extends Error {}
for (const C of [E, MyErrors]) console.log(util.inspect(new C("m")).split("\n")[0]);
