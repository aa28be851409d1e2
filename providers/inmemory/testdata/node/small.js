// events, path, url, querystring, timers and process.env.
const EventEmitter = require("events"), path = require("path"), url = require("url"), qs = require("querystring"), timers = require("timers/promises");
const T = async (f) => { try { console.log(await f()); } catch (e) { console.log(e.name, e.message, e.code); } };
(async () => {
  await T(() => {
    const e = new EventEmitter(), out = [], f = () => {};
    e.on("newListener", (n) => out.push("+", n)).on("removeListener", (n) => out.push("-", n));
    e.on("a", f).once("b", f).prependListener("a", () => out.push("first")).off("a", f).emit("b");
    return [out, e.eventNames(), e.listenerCount("a"), e.setMaxListeners(2).getMaxListeners(), e.removeAllListeners().eventNames()];
  });
  await T(() => new EventEmitter().setMaxListeners(-1));
  await T(() => new EventEmitter().on("a"));
  await T(() => new EventEmitter().emit("error", "text"));
  await T(() => { const e = new EventEmitter(), out = []; e.on(EventEmitter.errorMonitor, (x) => out.push(x)).on("error", (x) => out.push(x)).emit("error", 1); return out; });
  await T(() => EventEmitter.once(new EventEmitter(), "a", { signal: AbortSignal.abort() }));
  await T(async () => { const e = new EventEmitter(); setTimeout(() => { e.emit("a", 1); e.emit("a", 2); e.emit("end"); }, 1); const out = []; for await (const x of EventEmitter.on(e, "a", { close: ["end"] })) out.push(x); return out; });

  for (const p of ["a.txt", "..", ".", "", "/", "a//b/", "/a", "//a", "a/b.c/", ".x", "x.", "...", "/a/.b.c", "a/../b"]) {
    await T(() => [p, path.basename(p), path.basename(p, ".c"), path.basename(p, ""), path.basename(p, p), path.dirname(p), path.extname(p), path.normalize(p), path.parse(p), path.format(path.parse(p))]);
  }
  await T(() => path.join("a", undefined));
  await T(() => path.basename("a", 5));
  await T(() => path.resolve("/a", 5));
  await T(() => path.format({ dir: "/a", name: "b", ext: "c" }));

  for (const u of ["http://h/p?x=1&y=2", "/p/q?a=b&a=c#h", "https://u:p%40@Host:8080/a b?c='d'#e f", "//h/p", "mailto", "?x", "#y", "http://h", "HTTP://H?q"]) {
    await T(() => { const { ...r } = url.parse(u, true); return [r, url.parse(u).query, url.parse(u, false, true).host, url.format(url.parse(u))]; });
  }
  for (const o of [{ protocol: "http", host: "h", pathname: "/p", query: { a: 1, b: [2, 3] } }, { protocol: "https:", hostname: "h", port: 8080, pathname: "p", search: "x", hash: "y", auth: "u:p@" }, { pathname: "/a?b#c" }, {}, "http://h/a b"]) await T(() => url.format(o));
  await T(() => [url.format(new URL("http://u:p@h/?a#b"), { auth: false, fragment: false, search: false }), url.resolve("/one/two/three", "four"), url.resolve("http://a.com/x", "/y"), url.resolve("http://a.com/", "http://b.com/z")]);
  await T(() => [url.pathToFileURL("/a#b?c%20.txt").href, url.pathToFileURL("/d/").href, url.fileURLToPath("file:///a%20b")]);
  await T(() => url.fileURLToPath("http://h/a"));
  await T(() => [qs.stringify({ a: 1, b: [true, null], c: {}, d: NaN, e: "é &", f: undefined }), qs.stringify({ a: 1, b: 2 }, ";", ":"), { ...qs.parse("a=1&a=2&b=%zz%20+c&d&=e") }, { ...qs.parse("a=1&b=2&c=3", null, null, { maxKeys: 2 }) }, { ...qs.parse("a:1;b:2", ";", ":") }]);

  await T(() => { process.env.X = false; process.env.Y = 5; process.env.Z = undefined; delete process.env.Y; return [process.env.X, !process.env.X, "Y" in process.env, process.env.Z, { ...process.env }.X]; });
  await T(() => Object.keys(console).includes("log") && Object.keys(console).length > 10);
  await T(() => timers.setTimeout(50, "v", { signal: AbortSignal.abort() }));
  await T(() => { const c = new AbortController(); setTimeout(() => c.abort(), 1); return timers.setTimeout(60000, "v", { signal: c.signal }); });
  await T(() => timers.setImmediate("now", { signal: new AbortController().signal }));
  await T(async () => { const out = []; for await (const x of timers.setInterval(1, "tick")) { out.push(x); if (out.length === 2) break; } return out; });
})();
