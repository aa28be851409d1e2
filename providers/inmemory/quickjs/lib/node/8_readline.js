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
    const parts = [], decoder = new StringDecoder();
    this.#input.on("error", (e) => { this.emit("error", e); });
    this.#input.on("data", (c) => { parts.push(typeof c === "string" ? c : decoder.write(c)); });
    this.#input.on("end", () => {
      parts.push(decoder.end());
      this.#lines = parts.join("").split(/\r\n|\n|\r/);
      if (this.#lines.at(-1) === "") this.#lines.pop();
      this.#lines.reverse(); // taken from the end: from the front costs the length
      this.#ended = true;
      this.#deliver();
    });
  }
  #ended = false;
  #deliver() {
    while (!this.#closed && this.#lines.length > 0 && (this.#waiting.length > 0 || this.listenerCount("line") > 0)) {
      const line = this.#lines.pop();
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
    let wake, at = 0;
    this.on("line", (l) => { lines.push(l); wake?.(); });
    this.on("close", () => { wake?.(); });
    for (;;) {
      if (at < lines.length) yield lines[at++];
      else if (this.#closed) return;
      else await new Promise((r) => { wake = r; });
    }
  }
}
const createInterface = (input, output) => new Interface(input !== null && typeof input === "object" && input.input !== undefined ? input : { input, output });
const readlinePromises = { Interface, createInterface: (o) => Object.assign(createInterface(o), { question(text) { return new Promise((r) => { Interface.prototype.question.call(this, text, r); }); } }) };
const readline = { Interface, createInterface, promises: readlinePromises, clearLine: () => true, cursorTo: () => true, moveCursor: () => true };

// zlib, but for Brotli

const zlib = { constants: { Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1 } };
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
