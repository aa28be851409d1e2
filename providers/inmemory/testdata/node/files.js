// What fs does with files, and how its calls fail.
const fs = require("fs");
const T = (f) => {
  try { console.log(f()); } catch (e) { console.log(e.name, e.message, e.code, e.syscall, e.path, e.dest, e.errno); }
};
const text = (p) => fs.readFileSync(p, "utf8");
fs.mkdirSync("d");
for (const op of ["appendFileSync", "writeFileSync"]) T(() => fs[op]("no/x", "a"));
for (const op of ["readFileSync", "openSync", "accessSync", "unlinkSync", "rmdirSync", "readdirSync", "statSync", "lstatSync", "rmSync", "truncateSync"]) T(() => fs[op]("no"));
T(() => fs.readFileSync("d"));
T(() => fs.writeFileSync("d", "a"));
T(() => fs.openSync("d", "w"));
T(() => fs.closeSync(99));
T(() => fs.ftruncateSync(99));
T(() => fs.copyFileSync("no", "b"));
T(() => fs.mkdirSync("d"));
T(() => fs.mkdirSync("no/e"));
T(() => fs.renameSync("no", "x"));
T(() => fs.chmodSync("no", 1));
T(() => fs.utimesSync("no", 1, 1));
T(() => fs.mkdtempSync("no/x"));
T(() => fs.rmSync("d"));
T(() => fs.cpSync("no", "x"));

// Options.
T(() => fs.writeFileSync("a", "x", { encoding: "zz" }));
T(() => fs.readFileSync({}));
T(() => fs.writeFileSync("a", {}));
T(() => fs.openSync("a", "zz"));
fs.writeFileSync("a", "0123456789");
fs.writeFileSync("b", "precious");
T(() => fs.copyFileSync("a", "b", fs.constants.COPYFILE_EXCL));
T(() => text("b"));
T(() => fs.writeFileSync("b", "x", { flag: "wx" }));
T(() => fs.writeFileSync("b", "x", { flag: "ax" }));
T(() => { fs.writeFileSync("b", "XX", { flag: "r+" }); return text("b"); });
T(() => { fs.writeFileSync("b", "!", { flag: "a" }); return text("b"); });
T(() => { fs.writeFileSync("run", "", { mode: 0o755 }); return fs.statSync("run").mode.toString(8); });
T(() => fs.accessSync("b", fs.constants.X_OK));
T(() => { fs.chmodSync("b", "600"); fs.utimesSync("b", 1, 2); return [fs.statSync("b").mode.toString(8), fs.statSync("b").mtimeMs, fs.statSync("b", { bigint: true }).mtimeNs]; });
T(() => fs.mkdirSync("p/q/r", { recursive: true }) === require("path").resolve("p"));
T(() => fs.mkdirSync("p/q", { recursive: true }));
T(() => { fs.writeFileSync("p/q/f", ""); fs.writeFileSync("p/z", ""); return [fs.readdirSync("p", { recursive: true }), fs.readdirSync("p", "buffer")]; });
T(() => fs.statSync("none", { throwIfNoEntry: false }));
T(() => fs.cpSync("p", "e"));
T(() => fs.cpSync("p", "p/z2", { recursive: true }));
T(() => fs.cpSync("a", "b", { errorOnExist: true, force: false }));
T(() => { fs.cpSync("p", "e", { recursive: true, filter: (f) => !f.endsWith("z") }); return fs.readdirSync("e"); });

// Descriptors.
T(() => fs.readSync(fs.openSync("b", "w"), Buffer.alloc(3)));
T(() => fs.writeSync(fs.openSync("a", "r"), "a"));
T(() => fs.readSync(fs.openSync("a"), Buffer.alloc(3), 0, 5));
T(() => fs.writeSync(fs.openSync("a", "r+"), Buffer.from("abc"), 1, 5));
T(() => { const fd = fs.openSync("a", "r+"); fs.writeSync(fd, "ZZ", 4); fs.writeSync(fd, "Y"); fs.writeSync(fd, Buffer.from("abc"), 1, 1, 20); fs.closeSync(fd); return JSON.stringify(text("a")); });
T(() => { const fd = fs.openSync("a", "a+"); fs.writeSync(fd, "END", 0); const b = Buffer.alloc(4); fs.readSync(fd, b, { position: 2 }); fs.closeSync(fd); return [b, text("a").length]; });
T(() => { const fd = fs.openSync("w", "w+"); fs.writeSync(fd, new Uint16Array([1, 2])); const b = new Uint16Array(2); fs.readSync(fd, b, 0, 4, 0); fs.ftruncateSync(fd, 1); return [b, fs.fstatSync(fd).size]; });
fs.renameSync("b", "a");
T(() => fs.renameSync("a", "d"));
T(() => fs.renameSync("p", "p/q/x"));

fs.writeFileSync("at", "hello world");
for (const p of [NaN, Infinity, 1.5, 1e300, -1e300, 2 ** 63, -0, 3, -1, null]) {
  const fd = fs.openSync("at", "r+");
  try { console.log(fs.readSync(fd, Buffer.alloc(10), 0, 5, p)); } catch (e) { console.log(e.code); }
  fs.closeSync(fd);
}

(async () => {
  for (const f of [() => fs.promises.copyFile("w", "a", 1), () => fs.promises.readFile("no"), () => fs.promises.readFile("a", { signal: AbortSignal.abort() }), () => fs.promises.writeFile("it", "ab")]) {
    try { console.log(await f()); } catch (e) { console.log(e.name, e.message, e.code); }
  }
  console.log(text("it"));
  const h = await fs.promises.open("it", "r+");
  await h.write("Z", 1);
  console.log((await h.read({ buffer: Buffer.alloc(4) })).bytesRead, (await h.stat()).size);
  await h.close();
  console.log(text("it"));
})();
