// Streams of files.

const fileOptions = (o) => {
  const options = typeof o === "string" ? { encoding: o } : { ...o };
  encodingIn(options);
  if (typeof options.fs === "object") throw badValue("options.fs", options.fs, "cannot be served in memory.");
  if (options.fd !== null && typeof options.fd === "object") options.fd = options.fd.fd;
  return options;
};

class ReadStream extends Readable {
  #at; #end; #waiting = 0; #close;
  fd = null; bytesRead = 0; pending = true;
  constructor(p, o) {
    const options = fileOptions(o), { start, end } = options;
    if (start !== undefined && end !== undefined && start > end) throw outOfRange("start", `<= "end" (here: ${end})`, start);
    super({ highWaterMark: 65536, ...options, objectMode: false, read: undefined, destroy: undefined });
    this.#at = start;
    this.#end = end ?? Infinity;
    this.#close = options.autoClose !== false;
    this.path = typeof options.fd === "number" ? undefined : typeof p === "string" ? p : pathOf(p);
    this.flags = options.flags ?? "r";
    setImmediate(() => { this.#open(options); });
  }
  #open(options) {
    if (this.destroyed) return;
    try {
      this.fd = options.fd ?? sync.open(this.path, this.flags, options.mode);
    } catch (e) { this.destroy(e); return; }
    this.pending = false;
    this.emit("open", this.fd);
    this.emit("ready");
    if (this.#waiting > 0) this.#load(this.#waiting);
  }
  _read(n) {
    if (this.fd === null) this.#waiting = n; else setImmediate(() => { this.#load(n); });
  }
  #load(n) {
    if (this.fd === null) return;
    try {
      const left = this.#at === undefined ? this.#end + 1 - this.bytesRead : this.#end + 1 - this.#at;
      const b = Buffer.alloc(Math.max(0, Math.min(n, left)));
      const k = b.length === 0 ? 0 : sync.read(this.fd, b, 0, b.length, this.#at ?? null);
      if (this.#at !== undefined) this.#at += k;
      this.bytesRead += k;
      this.push(k === 0 ? null : b.subarray(0, k));
    } catch (e) { this.destroy(e); }
  }
  _destroy(e, done) {
    if (this.#close && this.fd !== null && this.fd > 2) open.delete(this.fd);
    this.fd = null;
    done(e);
  }
  close(done) { if (done) this.once("close", done); this.destroy(); }
}

class WriteStream extends Writable {
  #at; #close; #final;
  fd = null; bytesWritten = 0; pending = true;
  constructor(p, o) {
    const options = fileOptions(o), { start } = options;
    super({ ...options, objectMode: false, write: undefined, writev: undefined, final: undefined, destroy: undefined, defaultEncoding: options.encoding });
    this.#at = start;
    this.#close = options.autoClose !== false;
    this.path = typeof options.fd === "number" ? undefined : typeof p === "string" ? p : pathOf(p);
    this.flags = options.flags ?? "w";
    try {
      this.fd = options.fd ?? sync.open(this.path, this.flags, options.mode);
      setImmediate(() => { if (!this.destroyed) { this.pending = false; this.emit("open", this.fd); this.emit("ready"); this.#final?.(); } });
    } catch (e) { this.destroy(e); }
  }
  _write(chunk, _, done) {
    try {
      const n = sync.write(this.fd, chunk, 0, chunk.length, this.#at ?? null);
      if (this.#at !== undefined) this.#at += n;
      this.bytesWritten += n;
    } catch (e) { done(e); return; }
    done();
  }
  // What is written is there at once, and the events come in node's order.
  _final(done) { if (this.pending) this.#final = done; else done(); }
  _destroy(e, done) {
    if (this.#close && this.fd !== null && this.fd > 2) open.delete(this.fd);
    this.fd = null;
    done(e);
  }
  close(done) { if (done) this.once("close", done); this.end(); }
}
Object.assign(fs, { ReadStream, WriteStream, createReadStream: (p, o) => new ReadStream(p, o), createWriteStream: (p, o) => new WriteStream(p, o) });
