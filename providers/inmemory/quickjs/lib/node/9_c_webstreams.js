// stream/web, on top of stream: without BYOB readers.

const stateError = (text) => error(TypeError, "ERR_INVALID_STATE", `Invalid state: ${text}`);
const promiseOf = (f) => new Promise((resolve) => { resolve(f()); });

class ReadableStream {
  #stream; #steps; #source; #reader = null; #failed = null; #over;
  constructor(source = {}, { highWaterMark = 1 } = {}) {
    let open = true;
    const live = () => { if (!open) throw stateError("Controller is already closed"); };
    const controller = {
      get desiredSize() { return stream.errored ? null : open ? highWaterMark - stream.readableLength : 0; },
      enqueue: (chunk) => { live(); stream.push({ chunk }); },
      close: () => { live(); open = false; stream.push(null); },
      error: (e) => { if (!stream.destroyed) { open = false; this.#failed = { e }; stream.destroy(e); } },
    };
    const read = () => { started.then(() => (open ? source.pull?.(controller) : undefined)).catch(controller.error); };
    const stream = this.#stream = new Readable({ objectMode: true, highWaterMark, read });
    this.#source = source;
    this.#steps = stream[Symbol.asyncIterator]();
    this.#over = new Promise((resolve, reject) => { finished(stream, (e) => { if (this.#failed) reject(this.#failed.e); else resolve(); }); });
    this.#over.catch(() => {});
    const started = Promise.resolve(source.start?.(controller));
    if (highWaterMark > 0) started.then(() => { stream.read(0); }, controller.error);
  }
  async #read() {
    try {
      const { value, done } = await this.#steps.next();
      if (!done) return { value: value.chunk, done };
    } catch (e) { if (e.code !== "ERR_STREAM_PREMATURE_CLOSE") throw e; }
    if (this.#failed) throw this.#failed.e;
    return { value: undefined, done: true };
  }
  async #cancel(reason) {
    if (this.#failed) throw this.#failed.e;
    if (this.#stream.destroyed) return;
    this.#stream.destroy();
    await this.#source.cancel?.(reason);
  }
  get locked() { return this.#reader !== null; }
  async cancel(reason) { if (this.locked) throw stateError("ReadableStream is locked"); return this.#cancel(reason); }
  getReader(options) {
    if (options?.mode !== undefined) throw stateError("there are no BYOB readers");
    if (this.locked) throw stateError("ReadableStream is locked");
    const own = (f) => async (...args) => { if (this.#reader !== reader) throw stateError("The reader is not attached to a stream"); return f(...args); };
    const over = this.#over, reader = { get closed() { return over; }, read: own(() => this.#read()), cancel: own((reason) => this.#cancel(reason)), releaseLock: () => { if (this.#reader === reader) this.#reader = null; } };
    return this.#reader = reader;
  }
  async *values({ preventCancel = false } = {}) {
    const reader = this.getReader();
    try {
      for (let r; !(r = await reader.read()).done;) yield r.value;
    } finally {
      if (!preventCancel && !this.#failed) await reader.cancel();
      reader.releaseLock();
    }
  }
  [Symbol.asyncIterator](options) { return this.values(options); }
  static from(items) {
    const it = (items[Symbol.asyncIterator] ?? items[Symbol.iterator]).call(items);
    return new ReadableStream({ async pull(c) { const r = await it.next(); if (r.done) c.close(); else c.enqueue(await r.value); }, cancel: (reason) => it.return?.(reason) }, { highWaterMark: 0 });
  }
  async pipeTo(to, { preventClose, preventAbort, preventCancel, signal } = {}) {
    const reader = this.getReader(), writer = to.getWriter();
    try {
      for (let r; signal?.throwIfAborted(), !(r = await reader.read()).done;) await writer.write(r.value);
      if (!preventClose) await writer.close();
    } catch (e) {
      if (!preventAbort) await writer.abort(e);
      if (!preventCancel && !this.#failed) await reader.cancel(e);
      throw e;
    } finally {
      reader.releaseLock();
      writer.releaseLock();
    }
  }
  pipeThrough({ readable, writable }, options) { this.pipeTo(writable, options).catch(() => {}); return readable; }
  tee() {
    const reader = this.getReader(), open = new Set();
    const pull = () => reader.read().then(({ value, done }) => { for (const c of open) if (done) c.close(); else c.enqueue(value); }, (e) => { for (const c of open) c.error(e); });
    const branch = (own) => new ReadableStream({ start(c) { open.add(own = c); }, pull, cancel: (reason) => { open.delete(own); return open.size === 0 ? reader.cancel(reason) : undefined; } });
    return [branch(), branch()];
  }
}

class WritableStream {
  #stream; #sink; #writer = null; #over; #signal = new AbortController();
  constructor(sink = {}, { highWaterMark = 1 } = {}) {
    const controller = { signal: this.#signal.signal, error: (e) => { stream.destroy(e); } }, started = Promise.resolve(sink.start?.(controller));
    const step = (f, done) => { started.then(f).then(() => done(), done); };
    const stream = this.#stream = new Writable({ objectMode: true, highWaterMark,
      write: ({ chunk }, _, done) => step(() => sink.write?.(chunk, controller), done), final: (done) => step(() => sink.close?.(), done) });
    this.#sink = sink;
    this.#over = new Promise((resolve, reject) => { finished(stream, (e) => { if (e) reject(e); else resolve(); }); });
    this.#over.catch(() => {});
  }
  #done(act) {
    const s = this.#stream;
    return new Promise((resolve, reject) => {
      if (s.errored) reject(s.errored);
      else if (s.writableEnded) reject(stateError("WritableStream is closed"));
      else act((e) => { if (e) reject(e); else resolve(); });
    });
  }
  async #abort(reason) {
    if (this.#stream.destroyed || this.#stream.writableFinished) return;
    this.#signal.abort(reason);
    this.#stream.destroy(reason);
    await this.#sink.abort?.(reason);
  }
  get locked() { return this.#writer !== null; }
  async abort(reason) { if (this.locked) throw stateError("WritableStream is locked"); return this.#abort(reason); }
  async close() { if (this.locked) throw stateError("WritableStream is locked"); return this.#done((done) => this.#stream.end(done)); }
  getWriter() {
    if (this.locked) throw stateError("WritableStream is locked");
    const s = this.#stream, over = this.#over;
    return this.#writer = {
      get closed() { return over; }, get ready() { return s.writableNeedDrain && !s.errored ? new Promise((resolve) => { s.once("drain", resolve); s.once("close", resolve); }) : Promise.resolve(); },
      get desiredSize() { return s.errored ? null : s.writableFinished ? 0 : s.writableHighWaterMark - s.writableLength; },
      write: (chunk) => this.#done((done) => s.write({ chunk }, done)), close: () => this.#done((done) => s.end(done)), abort: (reason) => this.#abort(reason),
      releaseLock: () => { this.#writer = null; },
    };
  }
}

class TransformStream {
  constructor(transformer = {}, writes, reads) {
    let out, control;
    const fail = (e) => { out.error(e); control.error(e); };
    this.readable = new ReadableStream({ start(c) { out = c; }, cancel: (reason) => { control.error(reason); } }, reads);
    const controller = { get desiredSize() { return out.desiredSize; }, enqueue: (chunk) => { out.enqueue(chunk); }, error: fail, terminate: () => { out.close(); control.error(stateError("TransformStream is terminated")); } };
    const step = (f) => promiseOf(f).catch((e) => { out.error(e); throw e; });
    this.writable = new WritableStream({
      start(c) { control = c; return transformer.start?.(controller); },
      write: (chunk) => step(() => (transformer.transform ? transformer.transform(chunk, controller) : controller.enqueue(chunk))),
      close: () => step(async () => { await transformer.flush?.(controller); out.close(); }), abort: (e) => { out.error(e); },
    }, writes);
  }
}
class TextEncoderStream extends TransformStream {
  constructor() { super({ transform(s, c) { if (`${s}` !== "") c.enqueue(host.encode(`${s}`)); } }); }
}
class TextDecoderStream extends TransformStream {
  constructor(label, options) {
    const d = new globalThis.TextDecoder(label, options), put = (s, c) => { if (s !== "") c.enqueue(s); };
    super({ transform(b, c) { put(d.decode(b, { stream: true }), c); }, flush(c) { put(d.decode(), c); } });
  }
}
class CountQueuingStrategy { constructor({ highWaterMark }) { this.highWaterMark = highWaterMark; } size() { return 1; } }
const webStreams = { ReadableStream, WritableStream, TransformStream, TextEncoderStream, TextDecoderStream, CountQueuingStrategy };
