// events, path, url, timers and process.env.
const EventEmitter = require("events"), path = require("path"), url = require("url"), timers = require("timers/promises");
const T = async (f) => { try { console.log(await f()); } catch (e) { console.log(e.name, e.message, e.code); } };
(async () => {
  await T(() => {
    const e = new EventEmitter(), out = [], f = () => {};
    e.on("newListener", (n) => out.push("+", n)).on("removeListener", (n) => out.push("-", n));
    e.on("a", f).once("b", f).prependListener("a", () => out.push("first")).off("a", f).emit("b");
    return [out, e.eventNames(), e.listenerCount("a"), e.setMaxListeners(2).listenerCount("b"), e.removeAllListeners().eventNames()];
  });
  await T(() => new EventEmitter().on("a"));
  await T(() => new EventEmitter().emit("error", "text"));
  await T(() => { const e = new EventEmitter(), out = []; e.on(EventEmitter.errorMonitor, (x) => out.push(x)).on("error", (x) => out.push(x)).emit("error", 1); return out; });
  await T(() => EventEmitter.once(new EventEmitter(), "a", { signal: AbortSignal.abort() }));

  for (const p of ["a.txt", "..", ".", "", "/", "a//b/", "/a", "//a", "a/b.c/", ".x", "x.", "...", "/a/.b.c", "a/../b"]) {
    await T(() => [p, path.basename(p), path.basename(p, ".c"), path.basename(p, ""), path.basename(p, p), path.dirname(p), path.extname(p), path.normalize(p), path.parse(p), path.format(path.parse(p))]);
  }
  await T(() => path.join("a", undefined));
  await T(() => path.basename("a", 5));
  await T(() => path.resolve("/a", 5));
  await T(() => path.format({ dir: "/a", name: "b", ext: "c" }));

  await T(() => [url.pathToFileURL("/a#b?c%20.txt").href, url.pathToFileURL("/d/").href, url.fileURLToPath("file:///a%20b")]);
  await T(() => url.fileURLToPath("http://h/a"));

  await T(() => { process.env.X = false; process.env.Y = 5; process.env.Z = undefined; delete process.env.Y; return [process.env.X, !process.env.X, "Y" in process.env, process.env.Z, { ...process.env }.X]; });
  await T(() => Object.keys(console).includes("log") && Object.keys(console).length > 10);
  await T(() => timers.setTimeout(50, "v", { signal: AbortSignal.abort() }));
  await T(() => { const c = new AbortController(); setTimeout(() => c.abort(), 1); return timers.setTimeout(60000, "v", { signal: c.signal }); });
  await T(() => timers.setImmediate("now", { signal: new AbortController().signal }));
  await T(async () => { const out = []; for await (const x of timers.setInterval(1, "tick")) { out.push(x); if (out.length === 2) break; } return out; });
})();
// What random programs found: StringDecoder, inspect.
{
  const url = require("url"), util = require("util"), path = require("path");
  const show = (f) => { try { console.log(util.inspect(f(), { depth: 4 })); } catch (e) { console.log(e.name, e.code, e.message); } };
  for (const u of ["file://host/a", "file:///a%2fb", "file:///a%20b"]) show(() => url.fileURLToPath(u));
  show(() => [url.pathToFileURL("/a~b[c]|`{}^").href]);
  show(() => [Buffer.from("abc", 5), Buffer.from("abc", ""), Buffer.concat([], -1), Buffer.byteLength("YWI=", "base64"), Buffer.byteLength("abc", "hex"), Buffer.alloc(3).toString("nope", 3), Buffer.alloc(2).readUInt8]);
  for (const f of [() => Buffer.concat([Buffer.alloc(1)], 1.5), () => Buffer.alloc(3).fill(1, 0.5), () => Buffer.alloc(3).fill("a", "hex", 5), () => Buffer.alloc(3).compare(Buffer.alloc(3), NaN)]) show(f);
  console.log(util.inspect("a\nlong text of more than sixteen characters", { breakLength: 20 }), util.inspect("\x80\x9f\ud83d"), new DataView(new ArrayBuffer(2), 1), util.format("%d %d", [], [5]));
  for (const f of [() => util.format("%j", { a: 1n }), () => util.format("%d", Symbol()), () => util.format("%d", Object.create(null))]) { try { console.log(f()); } catch (e) { console.log(e.name); } }
  console.log(util.inspect({ a: new URLSearchParams("a=1") }, { depth: -1 }), util.inspect([new URLSearchParams("a=1")], { depth: 0 }), { p: (class Q extends Map {}).prototype }, (function () {}).prototype, path.basename("a", "a"));
}
