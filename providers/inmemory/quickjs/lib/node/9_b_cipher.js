// crypto: AES in the modes ecb, cbc, ctr and gcm.

// A Cipher hands whole blocks to the host, and keeps what chains them.
class Cipher extends Transform {
  #mode; #key; #iv; #encrypt; #rest = Buffer.alloc(0); #done = 0; #texts = []; #more = []; #tag; #tagLength; #pads = true; #decoder; #over = false;
  constructor(encrypt, name, key, iv, options) {
    super(options);
    const m = /^aes-?(128|192|256)-(ecb|cbc|ctr|gcm)$/i.exec(name);
    if (m === null) throw error(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
    this.#mode = m[2].toLowerCase();
    this.#key = bytesOf(key).slice();
    this.#iv = iv === null ? new Uint8Array(0) : bytesOf(iv).slice();
    this.#encrypt = encrypt;
    this.#tagLength = options?.authTagLength ?? 16;
    if (this.#key.length * 8 !== +m[1]) throw error(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
    if (this.#iv.length !== { ecb: 0, gcm: 12 }[this.#mode] && (this.#iv.length !== 16 || this.#mode === "ecb" || this.#mode === "gcm")) {
      throw error(TypeError, "ERR_CRYPTO_INVALID_IV", this.#mode === "gcm" && this.#iv.length > 0 ? "Invalid initialization vector: gcm takes 12 bytes here" : "Invalid initialization vector");
    }
  }
  #text(b, encoding) {
    if (encoding === undefined || encoding === "buffer") return b;
    this.#decoder ??= new StringDecoder(encoding);
    return this.#decoder.write(b);
  }
  #run(part) {
    if (part.length === 0) return Buffer.alloc(0);
    const counts = this.#mode === "ctr" || this.#mode === "gcm", iv = this.#mode === "gcm" ? Buffer.concat([this.#iv, Uint8Array.of(0, 0, 0, 2)]) : this.#iv;
    const out = Buffer.from(host.cipher(counts ? "ctr" : this.#mode, this.#key, iv, part, this.#encrypt, this.#done).buffer);
    this.#done += part.length;
    if (this.#mode === "cbc") this.#iv = Uint8Array.from((this.#encrypt ? out : part).subarray(-16));
    if (this.#mode === "gcm") this.#texts.push(Buffer.from(this.#encrypt ? part : out));
    return out;
  }
  update(data, from, to) {
    if (this.#over) throw new Error("Trying to add data in unsupported state");
    const b = bytesOf(data, from);
    if (this.#mode === "ctr" || this.#mode === "gcm") return this.#text(this.#run(b), to);
    const all = Buffer.concat([this.#rest, b]);
    // The last block of what is decrypted has the padding.
    const keep = all.length % 16 || (this.#encrypt || !this.#pads ? 0 : Math.min(all.length, 16));
    this.#rest = all.subarray(all.length - keep);
    return this.#text(this.#run(all.subarray(0, all.length - keep)), to);
  }
  final(to) {
    if (this.#over) throw error(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state");
    this.#over = true;
    const s = this.#text(this.#last(), to);
    return this.#decoder === undefined ? s : s + this.#decoder.end();
  }
  #last() {
    const n = this.#rest.length;
    if (this.#mode === "ctr") return Buffer.alloc(0);
    if (this.#mode === "gcm") {
      const tag = host.cipher("gcm", this.#key, this.#iv, Buffer.concat(this.#texts), true, 0, Buffer.concat(this.#more));
      if (!this.#encrypt && (this.#tag === undefined || !crypto.timingSafeEqual(this.#tag, tag.subarray(0, this.#tag.length)))) throw new Error("Unsupported state or unable to authenticate data");
      this.#tag = Buffer.from(tag.subarray(0, this.#tagLength));
      return Buffer.alloc(0);
    }
    if (this.#encrypt && this.#pads) return this.#run(Buffer.concat([this.#rest, new Uint8Array(16 - n).fill(16 - n)]));
    if (n % 16 !== 0 || this.#pads && n === 0) throw error(Error, "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH", "error:1C80006B:Provider routines::wrong final block length");
    const out = this.#run(this.#rest);
    if (!this.#pads) return out;
    const pad = out[15];
    if (pad < 1 || pad > 16 || out.subarray(16 - pad).some((x) => x !== pad)) throw error(Error, "ERR_OSSL_BAD_DECRYPT", "error:1C800064:Provider routines::bad decrypt");
    return out.subarray(0, 16 - pad);
  }
  setAutoPadding(on = true) { this.#pads = !!on; return this; }
  setAAD(b) { this.#more.push(Buffer.from(bytesOf(b))); return this; }
  getAuthTag() { return this.#tag; }
  setAuthTag(tag, encoding) { this.#tag = Buffer.from(bytesOf(tag, encoding)); return this; }
  _transform(chunk, encoding, done) { try { done(null, this.update(chunk, encoding)); } catch (e) { done(e); } }
  _flush(done) { try { done(null, this.final()); } catch (e) { done(e); } }
}
Object.assign(crypto, {
  createCipheriv: (...args) => new Cipher(true, ...args), createDecipheriv: (...args) => new Cipher(false, ...args),
  getCiphers: () => [128, 192, 256].flatMap((n) => ["ecb", "cbc", "ctr", "gcm"].map((mode) => `aes-${n}-${mode}`)),
});
