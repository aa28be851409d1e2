// Streams of files: what is read and written where.
const fs = require("fs");
const closed = (s) => new Promise((done) => { s.on("close", done).on("error", (e) => console.log(e.name, e.message, e.code)); });
const read = async (o, p = "a") => { const out = []; for await (const c of fs.createReadStream(p, o)) out.push(c.toString()); return out; };
const write = async (o, ...parts) => { const s = fs.createWriteStream("a", o), end = closed(s); for (const p of parts) s.write(p); s.end(); await end; console.log(fs.readFileSync("a", "latin1"), s.bytesWritten); };
(async () => {
  fs.writeFileSync("a", "0123456789");
  for (const o of [undefined, { start: 2, end: 4 }, { end: 0 }, { start: 8 }, { start: 20 }, { highWaterMark: 3 }, { highWaterMark: 2, start: 1, end: 5, encoding: "hex" }]) console.log(await read(o));
  for (const o of [{ start: 4, end: 2 }, { encoding: "zz" }]) try { fs.createReadStream("a", o); } catch (e) { console.log(e.name, e.message, e.code); }
  await write({ flags: "a" }, "END");
  await write({ flags: "r+", start: 2 }, "XX", "Y");
  await write({ start: 5 }, "Z");
  await write({ encoding: "hex" }, "4142");
  await write("latin1", "\xe9");
  await write({ flags: "wx" }, "lost");
  await closed(fs.createReadStream("none"));
  await closed(fs.createReadStream("a", { flags: "zz" }));
  await closed(fs.createWriteStream("none/a"));
  fs.writeFileSync("u", "aé€😀".repeat(3));
  console.log(await read({ encoding: "utf8", highWaterMark: 4 }, "u"));
  const events = [], s = fs.createReadStream("u");
  for (const e of ["open", "ready", "data", "end", "close"]) s.on(e, () => events.push(e));
  await closed(s);
  const w = fs.createWriteStream("v");
  for (const e of ["open", "ready", "finish", "close"]) w.on(e, () => events.push(e));
  w.end("v", () => events.push("ended"));
  await closed(w);
  console.log(events.join(), s.bytesRead, s.path, w.path);
  await require("stream/promises").pipeline(fs.createReadStream("u", { start: 1 }), require("zlib").createGzip(), fs.createWriteStream("u.gz"));
  console.log(require("zlib").gunzipSync(fs.readFileSync("u.gz")).toString());
  try { await require("stream/promises").pipeline(fs.createReadStream("none"), fs.createWriteStream("out")); } catch (e) { console.log(e.code); }
})();
