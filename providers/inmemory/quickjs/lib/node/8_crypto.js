// crypto: hashes, HMACs and random values.

// A Hash keeps what it is given, and hashes all of it in the end.
class Hash {
  #name; #key; #data = new Uint8Array(64); #length = 0;
  constructor(name, key) { this.#name = name; this.#key = key?.slice(); host.hash(name); }
  #live() { if (this.#data === undefined) throw error(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called"); }
  update(data, encoding) {
    this.#live();
    const b = bytesOf(data, encoding), end = this.#length + b.length;
    if (end > this.#data.length) {
      const more = new Uint8Array(Math.max(end, 2 * this.#length));
      more.set(this.#data.subarray(0, this.#length));
      this.#data = more;
    }
    this.#data.set(b, this.#length);
    this.#length = end;
    return this;
  }
  digest(encoding) {
    this.#live();
    const b = host.hash(this.#name, this.#data.subarray(0, this.#length), this.#key);
    this.#data = undefined;
    return encoding === undefined || encoding === "buffer" ? Buffer.from(b.buffer) : decode(b, encoding);
  }
}
const randomBytes = (n) => { const b = Buffer.alloc(n); host.random(b); return b; };
const crypto = {
  createHash: (name) => new Hash(`${name}`), createHmac: (name, key) => new Hash(`${name}`, bytesOf(key)),
  hash: (name, data, encoding = "hex") => new Hash(name).update(data).digest(encoding),
  randomBytes(n, done) { const b = randomBytes(n); if (done === undefined) return b; setImmediate(() => done(null, b)); },
  randomInt(a, b) {
    if (b === undefined) { b = a; a = 0; }
    const span = b - a, limit = 2 ** 48 - 2 ** 48 % span;
    for (;;) { const x = randomBytes(6).reduce((n, v) => n * 256 + v, 0); if (x < limit) return a + x % span; }
  },
  randomFillSync(b) { host.random(b); return b; },
  randomUUID: () => globalThis.crypto.randomUUID(), getRandomValues: (a) => globalThis.crypto.getRandomValues(a),
  timingSafeEqual(a, b) { if (a.length !== b.length) throw error(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length"); let d = 0; for (let i = 0; i < a.length; i++) d |= a[i] ^ b[i]; return d === 0; },
  getHashes: () => ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"],
  get webcrypto() { return globalThis.crypto; }, get subtle() { return globalThis.crypto.subtle; },
};
