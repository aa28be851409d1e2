// for await loops: what is left is closed before the program goes on, and errors of that are the loop's.
const sleep = (ms) => new Promise((r) => setTimeout(r, ms)), log = console.log;
async function* rows(name) { try { for (let i = 0; ; i++) yield i } finally { await sleep(3); log("closed", name) } }
async function* failing() { try { yield 1 } finally { await null; throw new Error("in finally") } }
function* plain() { try { yield 1; yield 2 } finally { log("closed plain") } }
function* plainFailing() { try { yield 1 } finally { throw new Error("in plain finally") } }
const hand = (n, more = {}) => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: n-- <= 0, value: n }), return: async () => { await sleep(2); log("returned"); return {} }, ...more }) });
const caught = async (f) => { try { log("gave", await f()) } catch (e) { log("caught", e?.name, e?.message ?? e) } };
(async () => {
  for await (const r of rows("break")) if (r === 1) break;
  log("after break");
  await caught(async () => { for await (const r of rows("return")) return r });
  await caught(async () => { for await (const r of rows("throw")) throw new Error("body") });
  await caught(async () => { for await (const r of failing()) break });
  await caught(async () => { for await (const r of failing()) throw new TypeError("the body's") });
  await caught(async () => { for await (const r of plain()) break });
  await caught(async () => { for await (const r of plainFailing()) break });
  await caught(async () => { for await (const r of plainFailing()) throw new Error("the body's") });
  await caught(async () => { for await (const r of hand(2)) log(r); return "end" });
  await caught(async () => { for await (const r of hand(2)) break; return "left" });
  await caught(async () => { for await (const r of hand(2, { return: undefined })) break; return "no return" });
  await caught(async () => { for await (const r of hand(2, { return: () => 5 })) break; return "return gave 5" });
  await caught(async () => { for await (const r of hand(2, { return() { throw 7 } })) break });
  await caught(async () => { for await (const r of hand(2, { next: async () => { throw new Error("next") } })) log(r) });
  try { for await (const { a: { b } } of rows("pattern")) log(b) } catch (e) { log("caught", e.name) }
  outer: for (const x of [1, 2]) { for await (const r of rows("continue" + x)) { if (r === 1) continue outer } }
  inner: for await (const a of rows("a")) for await (const b of rows("b")) { if (b === 1) break inner; if (a === 0) continue inner }
  const out = [];
  for await (const x of [1, Promise.resolve(2), new Promise((r) => setTimeout(r, 1, 3))]) out.push(x);
  for await (const x of new Set(["s"])) out.push(x);
  for await (const x of "ab") out.push(x);
  let y; for await (y of plain()) out.push(y);
  for await ([y] of [[5], [6]]) out.push(y);
  log(out, y);
  for (const v of [undefined, null, 5, {}, { [Symbol.asyncIterator]: 1 }]) await caught(async () => { for await (const x of v); });
  await caught(async () => { for await (const x of [Promise.reject(new Error("element"))]); });
  async function* through() { for await (const x of rows("through")) yield x }
  const g = through(); log(await g.next(), await g.next()); log(await g.return("r"), await g.next());
  const h = through(); await h.next(); await caught(() => h.throw(new Error("thrown in")));
  const order = []; const p = (async () => { for await (const x of [1, 2]) order.push(x); order.push("end") })();
  for (let i = 0; i < 12; i++) { await null; order.push("t" + i) } await p; log(order.join());
  async function* two() { yield 1; yield 2 }
  const o2 = []; const q = (async () => { for await (const x of two()) { o2.push(x); if (x === 2) break } o2.push("end") })();
  for (let i = 0; i < 16; i++) { await null; o2.push("t" + i) } await q; log(o2.join());
  const f = async () => { try { for await (const x of rows("finally")) return x } finally { log("own finally") } }; log(await f());
})();
