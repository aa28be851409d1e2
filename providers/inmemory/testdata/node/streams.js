// Options and methods of streams.
const { Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished } = require("stream");
const promises = require("stream/promises");
const ended = (s) => new Promise((done) => { s.on("close", done); });
const T = async (f) => { try { console.log(await f()); } catch (e) { console.log(e.name, e.message, e.code); } };
(async () => {
  await T(() => new Promise((done) => { const p = new PassThrough(), out = []; p.on("readable", () => { let c; while ((c = p.read(2)) !== null) out.push(c.toString()); }).on("end", () => done(out)); p.write("abcde"); p.end(); }));
  await T(async () => { const r = new Readable({ encoding: "utf8", read() {} }), b = Buffer.from("é€"); for (const x of b) r.push(Buffer.of(x)); r.push(null); return r.toArray(); });
  await T(async () => { let n = 0; const r = new Readable({ highWaterMark: 4, read() { while (this.push(`${n++}`.repeat(2)) && n < 9); if (n >= 9) this.push(null); } }); let s = ""; for await (const c of r) s += c; return s; });
  await T(async () => { const w = new Writable({ highWaterMark: 3, write(c, e, done) { setTimeout(done, 1); } }); const out = [w.write("a"), w.write("bcd"), w.writableLength, w.writableNeedDrain]; w.on("drain", () => { out.push("drain"); w.end(); }); await ended(w); return out; });
  await T(async () => { const out = [], w = new Writable({ decodeStrings: false, defaultEncoding: "latin1", write(c, e, done) { out.push(c, e); done(); } }); w.write("x"); w.write(Buffer.from("y")); w.end("z", "hex"); await ended(w); return out; });
  await T(() => new Writable({ write() {} }).write(5));
  await T(() => new Writable({ write() {} }).write(null));
  await T(() => new Promise((_, no) => { const w = new Writable({ write(c, e, d) { d(); } }); w.on("error", no); w.end(); w.write("late"); }));
  await T(() => new Promise((_, no) => { const r = new Readable({ read() {} }); r.on("error", no).resume(); r.push(5); }));
  await T(async () => { const t = new Transform({ readableObjectMode: true, transform(c, e, done) { done(null, { text: c.toString(), buffer: Buffer.isBuffer(c) }); } }); t.end("a"); return t.toArray(); });
  await T(async () => { const to = new PassThrough(), from = Readable.from(["a", "b"]); from.pipe(to, { end: false }); await ended(from); to.end("c"); return (await to.toArray()).join(""); });
  await T(async () => { const out = [], r = Readable.from([1, 2, 3]); for await (const x of r) { out.push(x); if (x === 2) break; } return [out, r.destroyed]; });
  await T(async () => { const r = new Readable({ read() {} }); setTimeout(() => r.destroy(), 1); for await (const x of r); });
  await T(async () => { const r = new Readable({ read() {}, signal: AbortSignal.abort() }); for await (const x of r); });
  await T(async () => { const out = []; await promises.pipeline(["a", "b"], async function* (from) { for await (const x of from) yield x.toUpperCase(); }, async function (from) { for await (const x of from) out.push(x); }); return out; });
  await T(() => promises.pipeline(Readable.from(["a"]), new Transform({ transform(c, e, done) { done(new Error("no")); } }), new PassThrough()));
  await T(async () => { const r = new Readable({ autoDestroy: false, read() { this.push(null); } }).resume(); await new Promise((d) => r.on("end", d)); return r.destroyed; });
  await T(() => new Promise((done) => finished(Readable.from(["a"]).resume(), { readable: true }, (e) => done(e))));
  await T(() => { const r = new Readable({ highWaterMark: 7, read() {} }); return [r.readableHighWaterMark, r.readableFlowing, r.isPaused(), r.pause().readableFlowing, new Readable().readableObjectMode, new Writable({ objectMode: true }).writableHighWaterMark]; });
})();
