// stream. What is written is never refused; the order of events is node's.

const aborted = (signal) => Object.assign(error(Error, "ABORT_ERR", "The operation was aborted"), { name: "AbortError", cause: signal.reason });
const whenAborted = (signal, f) => { if (signal.aborted) process.nextTick(f); else signal.addEventListener("abort", f, { once: true }); };
const early = () => error(Error, "ERR_STREAM_PREMATURE_CLOSE", "Premature close");
const limitOf = (options, side, object) => {
  const n = options[`${side}HighWaterMark`] ?? options.highWaterMark ?? (object ? 16 : 16384);
  if (!Number.isInteger(n) || n < 0) throw badValue("options.highWaterMark", n);
  return n;
};

const Stream = callableClass(class Stream extends EventEmitter {
  #auto; #emits;
  destroyed = false; closed = false; errored = null;
  constructor(options) {
    super();
    options ??= {};
    for (const name of ["read", "write", "final", "transform", "flush", "destroy"]) {
      if (typeof options[name] === "function") Object.defineProperty(this, `_${name}`, { value: options[name], configurable: true, writable: true });
    }
    if (options.construct !== undefined) throw badValue("options.construct", options.construct, "cannot be served");
    if (options.allowHalfOpen === false) throw badValue("options.allowHalfOpen", false, "cannot be served");
    this.readableObjectMode = !!(options.objectMode || options.readableObjectMode);
    this.writableObjectMode = !!(options.objectMode || options.writableObjectMode);
    this.#auto = options.autoDestroy !== false;
    this.#emits = options.emitClose !== false;
    if (options.signal) whenAborted(options.signal, () => { this.destroy(aborted(options.signal)); });
  }
  destroy(e) {
    if (this.destroyed) return this;
    this.destroyed = true;
    if (e) this.errored = e;
    const done = (f = e) => {
      if (this.closed) return;
      if (f) this.errored = f;
      this.closed = true;
      process.nextTick(() => { if (f) this.emit("error", f); if (this.#emits) this.emit("close"); });
    };
    if (typeof this._destroy === "function") this._destroy(e ?? null, done); else done();
    return this;
  }
  // _closes tells whether close will be emitted once all is over.
  get _closes() { return this.#auto && this.#emits && !this.closed; }
  // _over is called at the end of either side.
  _over() { if (this.#auto && this.readableEnded !== false && this.writableFinished !== false) this.destroy(); }
  pipe(to, options) {
    this.on("data", (chunk) => { to.write(chunk); });
    if (options?.end !== false && to !== process.stdout && to !== process.stderr) this.on("end", () => { to.end(); });
    to.emit?.("pipe", this);
    return to;
  }
  [Symbol.for("nodejs.rejection")](e) { this.destroy(e); }
});

const Readable = callableClass(class Readable extends Stream {
  #queue = []; #length = 0; #ended = false; #flowing = null; #decoder; #done = false; #reading = false; #scheduled = false; #limit;
  readableEnded = false;
  get readable() { return !this.destroyed && !this.readableEnded && this.errored === null; }
  constructor(options) {
    super(options);
    this.#limit = limitOf(options ?? {}, "readable", this.readableObjectMode);
    if (options?.encoding) this.setEncoding(options.encoding);
  }
  static from(items, options) {
    const it = (typeof items === "string" || items instanceof Uint8Array ? [items] : items);
    const iterator = it?.[Symbol.asyncIterator]?.() ?? it?.[Symbol.iterator]?.();
    if (iterator === undefined) throw badArgument("iterable", "an instance of Iterable", items);
    let busy = false;
    return new Readable({ objectMode: true, highWaterMark: 1, ...options, async read() {
      if (busy) return;
      busy = true;
      try {
        const { done, value } = await iterator.next();
        busy = false;
        this.push(done ? null : await value);
      } catch (e) { this.destroy(e); }
    }, async destroy(e, done) {
      try { if (!this.readableEnded) await iterator.return?.(); } catch (x) { e ??= x; }
      done(e);
    } });
  }
  get readableFlowing() { return this.#flowing; }
  get readableLength() { return this.#length; }
  get readableHighWaterMark() { return this.#limit; }
  get readableEncoding() { return this.#decoder?.encoding ?? null; }
  push(chunk, encoding) {
    this.#reading = false;
    if (chunk === null) {
      const rest = this.#decoder?.end() ?? "";
      if (rest !== "") this.#add(rest);
      this.#ended = true;
    } else if (this.#ended) {
      this.destroy(error(Error, "ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
      return false;
    } else if (this.readableObjectMode) this.#add(chunk);
    else if (chunk !== undefined) {
      if (typeof chunk !== "string" && !ArrayBuffer.isView(chunk)) {
        this.destroy(badArgument("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk));
        return false;
      }
      const part = this.#part(chunk, encoding);
      if (part.length > 0) this.#add(part);
    }
    this.#schedule();
    return !this.#ended && this.#length < this.#limit;
  }
  #part(chunk, encoding) {
    const b = typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#decoder === undefined ? b : this.#decoder.write(b);
  }
  #add(chunk) { this.#queue.push(chunk); this.#length += this.readableObjectMode ? 1 : chunk.length; }
  setEncoding(encoding) {
    this.#decoder = new StringDecoder(encoding);
    if (this.readableObjectMode) return this;
    const old = this.#queue.splice(0);
    this.#length = 0;
    const text = old.map((c) => this.#decoder.write(bytesOf(c))).join("");
    if (text !== "") this.#add(text);
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
    if (typeof this._read === "function") this._read(this.#limit);
    else this.destroy(error(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _read() method is not implemented"));
  }
  #flow() {
    if (this.destroyed) return;
    if (this.listenerCount("readable") > 0 && !this.#done) {
      if (this.#queue.length > 0 || this.#ended) this.emit("readable");
      if (this.#length === 0 || this.#length < this.#limit) this.#more();
    } else if (this.#flowing) {
      while (this.#queue.length > 0 && this.#flowing && !this.destroyed) this.emit("data", this.#next());
      if (this.#flowing) this.#more();
    }
    if (this.#ended && this.#queue.length === 0 && !this.#done && (this.#flowing || this.listenerCount("readable") > 0)) {
      this.#done = this.readableEnded = true;
      process.nextTick(() => { this.emit("end"); this._over(); });
    }
  }
  #next() {
    const chunk = this.#queue.shift();
    this.#length -= this.readableObjectMode ? 1 : chunk.length;
    return chunk;
  }
  read(n) {
    if (n !== undefined && !Number.isNaN(+n) && (n === 0 || !this.readableObjectMode)) {
      n = Math.trunc(+n);
      if (n <= 0 || n > this.#length && !this.#ended) {
        if (n > this.#limit) this.#limit = n;
        this.#more(); // what comes schedules itself; here that would emit readable for ever
        if (this.#ended) this.#schedule();
        return null;
      }
    } else n = undefined;
    if (this.#queue.length === 0) { this.#more(); this.#schedule(); return null; }
    if (this.readableObjectMode) return this.#next();
    const all = this.#queue.splice(0), whole = typeof all[0] === "string" ? all.join("") : all.length === 1 ? all[0] : Buffer.concat(all);
    this.#length = 0;
    if (n === undefined || n >= whole.length) return whole;
    this.#add(whole.slice(n));
    return whole.slice(0, n);
  }
  resume() { this.#flowing = true; this.#schedule(); return this; }
  pause() { this.#flowing = false; return this; }
  isPaused() { return this.#flowing === false; }
  addListener(name, f) {
    super.addListener(name, f);
    if (name === "data" && this.#flowing !== false) this.resume();
    if (name === "readable") this.#schedule();
    return this;
  }
  [Symbol.asyncIterator]() {
    const it = this.#chunks(), end = it.return;
    // The engine does not wait for return(), so that this has to be done at once.
    it.return = (v) => { if (!this.#ended || this.#queue.length > 0) this.destroy(); return end.call(it, v); };
    return it;
  }
  async *#chunks() {
    let wake, failed;
    const ring = () => { wake?.(); };
    const fail = (e) => { failed = { e }; ring(); };
    this.on("error", fail);
    for (const name of ["readable", "end", "close"]) this.on(name, ring);
    try {
      for (;;) {
        if (failed !== undefined) throw failed.e;
        if (this.#queue.length > 0 && !this.destroyed) { yield this.read(); continue; }
        if (this.readableEnded && (this.writableFinished !== undefined || !this._closes)) return;
        if (this.closed) throw this.errored ?? early();
        const next = new Promise((r) => { wake = r; });
        if (this.#ended) this.#schedule(); else this.#more();
        if (this.#queue.length === 0 || this.destroyed) await next;
      }
    } finally {
      this.off("error", fail);
      if (!this.#ended || this.#queue.length > 0) this.destroy();
      else this.#schedule();
    }
  }
  async toArray() { const out = []; for await (const x of this) out.push(x); return out; }
});

// writing is what Writable and Duplex share.
const writing = (Base) => class extends Base {
  #queue = []; #busy = false; #ending = false; #finished = false; #length = 0; #dry = false; #waiting = []; #limit; #encoding; #decodes;
  writableEnded = false; writableFinished = false;
  get writable() { return !this.destroyed && !this.#ending && this.errored === null; }
  constructor(options) {
    super(options);
    this.#limit = limitOf(options ?? {}, "writable", this.writableObjectMode);
    this.#encoding = options?.defaultEncoding ?? "utf8";
    this.#decodes = options?.decodeStrings !== false;
  }
  get writableLength() { return this.#length; }
  get writableHighWaterMark() { return this.#limit; }
  get writableNeedDrain() { return this.#dry; }
  write(chunk, encoding, done) {
    if (typeof encoding === "function") { done = encoding; encoding = undefined; }
    if (chunk === null) throw error(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    const late = this.#ending ? error(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end") : this.destroyed ? error(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed") : undefined;
    if (late !== undefined) { if (done) process.nextTick(done, late); if (this.#ending) this.destroy(late); return false; }
    let size = 1;
    if (!this.writableObjectMode) {
      encoding ??= this.#encoding;
      if (typeof chunk !== "string" && !ArrayBuffer.isView(chunk)) throw badArgument("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
      if (typeof chunk === "string") { if (this.#decodes) { chunk = Buffer.from(chunk, encoding); encoding = "buffer"; } else encodingOf(encoding); }
      else { if (!Buffer.isBuffer(chunk)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength); encoding = "buffer"; }
      size = chunk.length;
    }
    this.#length += size;
    const room = this.#length < this.#limit;
    if (!room) this.#dry = true;
    this.#queue.push([chunk, encoding, done, size]);
    this.#next();
    return room;
  }
  #next() {
    if (this.#busy || this.destroyed) return;
    if (this.#queue.length === 0) { if (this.#ending) this.#finish(); return; }
    const [chunk, encoding, written, size] = this.#queue.shift();
    this.#busy = true;
    const after = (e) => {
      this.#busy = false;
      if (e) { written?.(e); this.destroy(e); return; }
      this.#length -= size;
      process.nextTick(() => {
        if (this.#dry && this.#length === 0 && !this.#ending && !this.destroyed) { this.#dry = false; this.emit("drain"); }
        written?.(null);
      });
      this.#next();
    };
    try {
      if (typeof this._write === "function") this._write(chunk, encoding, after);
      else throw error(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _write() method is not implemented");
    } catch (e) { this.#busy = false; throw e; }
  }
  #finish() {
    if (this.#finished) return;
    this.#finished = true;
    const end = (e) => {
      if (e) { this.destroy(e); return; }
      process.nextTick(() => {
        if (this.destroyed) return;
        this.writableFinished = true;
        for (const f of this.#waiting.splice(0)) f();
        this.emit("finish");
        this._over();
      });
    };
    if (typeof this._final === "function") this._final(end); else end();
  }
  end(chunk, encoding, done) {
    const f = [chunk, encoding, done].find((x) => typeof x === "function");
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk, typeof encoding === "string" ? encoding : undefined);
    if (f) { if (this.writableFinished) process.nextTick(f, error(Error, "ERR_STREAM_ALREADY_FINISHED", "Cannot call end after a stream was finished")); else this.#waiting.push(f); }
    this.#ending = this.writableEnded = true;
    this.#next();
    return this;
  }
  destroy(e) {
    if (!this.destroyed && (this.#queue.length > 0 || this.#waiting.length > 0)) {
      process.nextTick(() => {
        const lost = (what) => this.errored ?? error(Error, "ERR_STREAM_DESTROYED", `Cannot call ${what} after a stream was destroyed`);
        for (const j of this.#queue.splice(0)) { this.#length -= j[3]; j[2]?.(lost("write")); }
        for (const f of this.#waiting.splice(0)) f(lost("end"));
      });
    }
    return super.destroy(e);
  }
};
const Writable = callableClass(class Writable extends writing(Stream) {});
const Duplex = callableClass(class Duplex extends writing(Readable) {});
const Transform = callableClass(class Transform extends Duplex {
  _read() {}
  _write(chunk, encoding, done) {
    this._transform(chunk, encoding, (e, out) => { if (!e && out !== undefined && out !== null) this.push(out); done(e); });
  }
  _final(done) {
    const last = (e, out) => { if (!e && out !== undefined && out !== null) this.push(out); if (!e) this.push(null); done(e); };
    if (typeof this._flush === "function") this._flush(last); else last();
  }
});
const PassThrough = callableClass(class PassThrough extends Transform { _transform(chunk, _, done) { done(null, chunk); } });

function finished(s, options, done) {
  if (typeof options === "function") { done = options; options = undefined; }
  let over = false;
  const once = (e) => { if (!over) { over = true; done(e); } };
  if (options?.signal) whenAborted(options.signal, () => once(aborted(options.signal)));
  const canRead = s instanceof Readable, canWrite = s.writableFinished !== undefined;
  const reads = canRead && options?.readable !== false, writes = canWrite && options?.writable !== false;
  const ended = () => (!reads || s.readableEnded) && (!writes || s.writableFinished);
  const closes = () => s._closes && canRead === reads && canWrite === writes;
  const settle = () => { if (ended() && !closes()) once(); }, close = () => once(s.errored ?? (ended() ? undefined : early()));
  if (s.closed) process.nextTick(close); else if (ended()) process.nextTick(settle);
  s.on("error", once);
  s.on("end", settle);
  s.on("finish", settle);
  s.on("close", close);
  return () => { over = true; };
}
const stage = (f, from, signal) => {
  const out = f(from, { signal });
  return out !== null && typeof out === "object" && (Symbol.asyncIterator in out || Symbol.iterator in out) ? Readable.from(out) : out;
};
const flat = (list) => (list.length === 1 && Array.isArray(list[0]) ? list[0] : list);
function pipeline(...streams) {
  const done = typeof streams.at(-1) === "function" ? streams.pop() : () => {};
  return connect(flat(streams), {}, done);
}
function connect(parts, options, done) {
  const list = [];
  let left = 1, failed, value;
  // settle takes that one of what is waited for is over. Where that is an error, the others end.
  const settle = (e) => {
    if (e && (failed === undefined || failed.code === "ERR_STREAM_PREMATURE_CLOSE")) failed = e;
    left--;
    if (failed !== undefined) for (const w of list) if (!w.over) { w.over = true; w.s.destroy(failed); }
    if (left === 0) process.nextTick(done, failed, value);
  };
  const watch = (s, o) => {
    const w = { s, over: false };
    left++;
    list.push(w);
    s.on("error", () => {});
    finished(s, o, (e) => { w.over ||= !e; settle(e); });
  };
  if (options.signal) whenAborted(options.signal, () => { left++; settle(aborted(options.signal)); });
  let from;
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1;
    const to = typeof part === "function" ? stage(part, from, options.signal) : part instanceof EventEmitter || typeof part?.write === "function" ? part : Readable.from(part);
    if (typeof to?.then === "function" && !(to instanceof EventEmitter)) {
      left++;
      to.then((v) => { value = v; settle(); }, settle);
      from = to;
      break;
    }
    const piped = from !== undefined && typeof part !== "function";
    if (to instanceof Stream && !(last && options.end === false)) watch(to, { readable: !last || !piped, writable: piped });
    if (piped) from.pipe(to, { end: options.end !== false || !last });
    from = to;
  }
  settle();
  return from;
}
const streamPromises = {
  pipeline: (...s) => new Promise((resolve, reject) => {
    const last = s.at(-1), plain = last !== null && typeof last === "object" && !(last instanceof EventEmitter) && last.write === undefined && last[Symbol.iterator] === undefined && last[Symbol.asyncIterator] === undefined;
    connect(flat(plain ? s.slice(0, -1) : s), plain ? last : {}, (e, v) => (e ? reject(e) : resolve(v)));
  }),
  finished: (s, options) => new Promise((resolve, reject) => { finished(s, options, (e) => (e ? reject(e) : resolve())); }),
};
const streams = Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises: streamPromises });
