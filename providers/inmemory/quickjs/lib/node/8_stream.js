// stream and readline. Streams here have everything in memory, so that write()
// always takes what it is given; the order of events is node's.

class Stream extends EventEmitter {
  destroyed = false;
  constructor(options = {}) {
    super();
    for (const name of ["read", "write", "final", "transform", "flush", "destroy"]) {
      if (typeof options[name] === "function") Object.defineProperty(this, `_${name}`, { value: options[name], configurable: true, writable: true });
    }
    this.objectMode = !!(options.objectMode || options.readableObjectMode || options.writableObjectMode);
  }
  destroy(e) {
    if (this.destroyed) return this;
    this.destroyed = true;
    const done = (f = e) => { setImmediate(() => { if (f) this.emit("error", f); this.emit("close"); }); };
    if (typeof this._destroy === "function") this._destroy(e ?? null, done); else done();
    return this;
  }
  pipe(to) {
    this.on("data", (chunk) => { to.write(chunk); });
    if (to !== process.stdout && to !== process.stderr) this.on("end", () => { to.end(); });
    return to;
  }
}

class Readable extends Stream {
  #queue = []; #ended = false; #flowing = false; #encoding; #done = false; #reading = false; #scheduled = false;
  readable = true; readableEnded = false;
  static from(items, options) {
    const it = (typeof items === "string" || items instanceof Uint8Array ? [items] : items);
    const iterator = it[Symbol.asyncIterator]?.() ?? it[Symbol.iterator]();
    let busy = false;
    return new Readable({ objectMode: true, ...options, async read() {
      if (busy) return;
      busy = true;
      try {
        const { done, value } = await iterator.next();
        busy = false;
        this.push(done ? null : await value);
      } catch (e) { this.destroy(e); }
    } });
  }
  push(chunk) {
    this.#reading = false;
    if (chunk === null) this.#ended = true;
    else this.#queue.push(this.objectMode ? chunk : this.#encoding !== undefined ? decode(bytesOf(chunk), this.#encoding) : typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    this.#schedule();
    return true;
  }
  setEncoding(encoding) {
    this.#encoding = encodingOf(encoding);
    if (!this.objectMode && this.#queue.length > 0) this.#queue = [decode(Buffer.concat(this.#queue.map((c) => bytesOf(c))), this.#encoding)];
    return this;
  }
  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => { this.#scheduled = false; this.#flow(); });
  }
  #more() {
    if (this.#reading || this.#ended || this.destroyed) return;
    this.#reading = true;
    if (typeof this._read === "function") this._read(65536); else this.#reading = false;
  }
  #flow() {
    if (this.destroyed) return;
    if (this.listenerCount("readable") > 0 && !this.#done) {
      if (this.#queue.length > 0 || this.#ended) this.emit("readable");
      if (this.#queue.length === 0 && !this.#ended) this.#more();
    } else if (this.#flowing) {
      while (this.#queue.length > 0 && this.#flowing && !this.destroyed) this.emit("data", this.#queue.shift());
      if (this.#flowing) this.#more();
    }
    if (this.#ended && this.#queue.length === 0 && !this.#done && (this.#flowing || this.listenerCount("readable") > 0)) {
      this.#done = this.readableEnded = true;
      process.nextTick(() => { this.emit("end"); this.destroy(); });
    }
  }
  read() {
    if (this.#queue.length === 0) { this.#more(); this.#schedule(); return null; }
    if (this.objectMode) return this.#queue.shift();
    const all = this.#queue.splice(0);
    return typeof all[0] === "string" ? all.join("") : Buffer.concat(all);
  }
  resume() { this.#flowing = true; this.#schedule(); return this; }
  pause() { this.#flowing = false; return this; }
  isPaused() { return !this.#flowing; }
  addListener(name, f) {
    super.addListener(name, f);
    if (name === "data") this.resume();
    if (name === "readable") this.#schedule();
    return this;
  }
  async *[Symbol.asyncIterator]() {
    let wake, failed;
    const ring = () => { wake?.(); };
    this.on("error", (e) => { failed = { e }; ring(); });
    this.on("readable", ring);
    this.on("end", ring);
    for (;;) {
      if (this.#queue.length > 0) { yield this.objectMode ? this.#queue.shift() : this.read(); continue; }
      if (failed !== undefined) throw failed.e;
      if (this.#ended) return;
      const next = new Promise((r) => { wake = r; });
      this.#more();
      if (this.#queue.length === 0 && !this.#ended && failed === undefined) await next;
    }
  }
  async toArray() { const out = []; for await (const x of this) out.push(x); return out; }
}

// writing is what Writable and Duplex share.
const writing = (Base) => class extends Base {
  #queue = []; #busy = false; #ending = false; #finished = false;
  writable = true; writableEnded = false; writableFinished = false;
  write(chunk, encoding, done) {
    if (typeof encoding === "function") { done = encoding; encoding = undefined; }
    if (this.#ending) { const e = error(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end"); process.nextTick(() => { done?.(e); this.emit("error", e); }); return false; }
    this.#queue.push([this.objectMode || typeof chunk !== "string" ? chunk : Buffer.from(chunk, encoding), encoding ?? "buffer", done]);
    this.#next();
    return true;
  }
  #next() {
    if (this.#busy || this.destroyed) return;
    const job = this.#queue.shift();
    if (job === undefined) { if (this.#ending) this.#finish(); return; }
    this.#busy = true;
    const after = (e) => {
      this.#busy = false;
      if (e) { job[2]?.(e); this.destroy(e); return; }
      if (job[2]) process.nextTick(job[2]);
      this.#next();
    };
    try { this._write(job[0], job[1], after); } catch (e) { this.#busy = false; throw e; }
  }
  #finish() {
    if (this.#finished) return;
    this.#finished = true;
    const end = (e) => {
      if (e) { this.destroy(e); return; }
      process.nextTick(() => { this.writableFinished = true; this.emit("finish"); if (!(this instanceof Readable)) this.destroy(); });
    };
    if (typeof this._final === "function") this._final(end); else end();
  }
  end(chunk, encoding, done) {
    const f = [chunk, encoding, done].find((x) => typeof x === "function");
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk, encoding);
    if (f) this.once("finish", f);
    this.#ending = this.writableEnded = true;
    this.#next();
    return this;
  }
  cork() {} uncork() {}
};
class Writable extends writing(Stream) {}
class Duplex extends writing(Readable) {}
class Transform extends Duplex {
  _write(chunk, encoding, done) {
    this._transform(chunk, encoding, (e, out) => { if (!e && out !== undefined && out !== null) this.push(out); done(e); });
  }
  _final(done) {
    const last = (e, out) => { if (!e && out !== undefined && out !== null) this.push(out); if (!e) this.push(null); done(e); };
    if (typeof this._flush === "function") this._flush(last); else last();
  }
}
class PassThrough extends Transform { _transform(chunk, _, done) { done(null, chunk); } }

function finished(s, done) {
  let over = false;
  const once = (e) => { if (!over) { over = true; done(e); } };
  s.on("error", once);
  s.on(s instanceof Readable && !(s instanceof Transform) ? "end" : "finish", () => once());
  return () => { over = true; };
}
function pipeline(...streams) {
  const done = typeof streams.at(-1) === "function" ? streams.pop() : () => {};
  const list = streams.flat().map((s) => (s instanceof Stream || typeof s.write === "function" ? s : Readable.from(s)));
  let over = false;
  const end = (e) => { if (over) return; over = true; if (e) for (const s of list) s.destroy?.(); done(e); };
  for (const s of list) s.on("error", end);
  list.at(-1).on("finish", () => end());
  list.reduce((a, b) => a.pipe(b));
  return list.at(-1);
}
const streamPromises = {
  pipeline: (...s) => new Promise((resolve, reject) => { pipeline(...s, (e) => (e ? reject(e) : resolve())); }),
  finished: (s) => new Promise((resolve, reject) => { finished(s, (e) => (e ? reject(e) : resolve())); }),
};
const streams = Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises: streamPromises });

// readline

class Interface extends EventEmitter {
  #input; #output; #lines = null; #waiting = []; #closed = false; #prompt;
  constructor({ input = process.stdin, output, prompt = "> " } = {}) {
    super();
    this.#input = input;
    this.#output = output;
    this.#prompt = prompt;
  }
  // #start reads all there is: input has ended when a program begins.
  #start() {
    if (this.#lines !== null) return;
    this.#lines = [];
    const parts = [];
    this.#input.on("error", (e) => { this.emit("error", e); });
    this.#input.on("data", (c) => { parts.push(typeof c === "string" ? c : host.decode(c, false)); });
    this.#input.on("end", () => {
      this.#lines = parts.join("").split(/\r\n|\n|\r/);
      if (this.#lines.at(-1) === "") this.#lines.pop();
      this.#ended = true;
      this.#deliver();
    });
  }
  #ended = false;
  #deliver() {
    while (!this.#closed && this.#lines.length > 0 && (this.#waiting.length > 0 || this.listenerCount("line") > 0)) {
      const line = this.#lines.shift();
      const next = this.#waiting.shift();
      if (next !== undefined) next(line); else this.emit("line", line);
    }
    if (this.#ended && this.#lines.length === 0) this.close();
  }
  addListener(name, f) { super.addListener(name, f); if (name === "line") { this.#start(); if (this.#ended) process.nextTick(() => this.#deliver()); } return this; }
  setPrompt(p) { this.#prompt = p; }
  prompt() { this.#output?.write(this.#prompt); this.#start(); }
  write() {}
  pause() { return this; }
  resume() { return this; }
  question(text, options, done) {
    if (typeof options === "function") done = options;
    this.#output?.write(text);
    if (this.#closed) throw error(Error, "ERR_USE_AFTER_CLOSE", "readline was closed");
    this.#waiting.push((line) => { done(line); setImmediate(() => { if (this.#lines !== null && !this.#closed) this.#deliver(); }); });
    this.#start();
    if (this.#ended) process.nextTick(() => this.#deliver());
  }
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.emit("close");
  }
  async *[Symbol.asyncIterator]() {
    const lines = [];
    let wake;
    this.on("line", (l) => { lines.push(l); wake?.(); });
    this.on("close", () => { wake?.(); });
    for (;;) {
      if (lines.length > 0) yield lines.shift();
      else if (this.#closed) return;
      else await new Promise((r) => { wake = r; });
    }
  }
}
const createInterface = (input, output) => new Interface(input !== null && typeof input === "object" && input.input !== undefined ? input : { input, output });
const readlinePromises = { Interface, createInterface: (o) => Object.assign(createInterface(o), { question(text) { return new Promise((r) => { Interface.prototype.question.call(this, text, r); }); } }) };
const readline = { Interface, createInterface, promises: readlinePromises, clearLine: () => true, cursorTo: () => true, moveCursor: () => true };

// zlib, but for Brotli

const zlib = { constants: { Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1 }, crc32: (data, start = 0) => host.crc32(bytesOf(data), start) };
for (const op of ["gzip", "gunzip", "deflate", "inflate", "deflateRaw", "inflateRaw", "unzip"]) {
  const name = op[0].toUpperCase() + op.slice(1);
  const sync = (data, o) => {
    const b = data instanceof ArrayBuffer ? new Uint8Array(data) : bytesOf(data);
    const out = host.zip(op !== "unzip" ? op : b[0] === 0x1f && b[1] === 0x8b ? "gunzip" : "inflate", b, o?.level);
    return Buffer.from(out.buffer, out.byteOffset, out.byteLength);
  };
  zlib[`${op}Sync`] = sync;
  zlib[op] = (data, o, done) => {
    if (typeof o === "function") { done = o; o = undefined; }
    let out, e = null;
    try { out = sync(data, o); } catch (x) { e = x; }
    setImmediate(() => { if (e !== null) done(e); else done(null, out); });
  };
  zlib[`create${name}`] = (o) => {
    const parts = [];
    return new Transform({ transform(chunk, _, done) { parts.push(bytesOf(chunk)); done(); },
      flush(done) { try { done(null, sync(Buffer.concat(parts), o)); } catch (e) { done(e); } } });
  };
}
