// Buffer.

const bytesArgument = (name, v) => { if (!(v instanceof Uint8Array)) throw badArgument(name, "an instance of Buffer or Uint8Array", v); return v; };
// offset checks an offset of a buffer, as readers and writers do.
function offset(at, most) {
  if (typeof at !== "number") throw badArgument("offset", "of type number", at);
  if (!Number.isInteger(at)) throw outOfRange("offset", "an integer", at);
  if (most < 0) throw error(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  if (at < 0 || at > most) throw outOfRange("offset", `>= 0 and <= ${most}`, at);
  return at;
}
const within0 = (name, v, most) => {
  if (typeof v !== "number") throw badArgument(name, "of type number", v);
  if (!Number.isInteger(v)) throw outOfRange(name, "an integer", v);
  if (!(v >= 0 && v <= most)) throw outOfRange(name, `>= 0 && <= ${most}`, v);
  return v;
};
const clamp = (v, otherwise, most) => { v = v === undefined ? otherwise : Math.trunc(+v) || 0; return Math.min(Math.max(v, 0), most); };
const size = (n) => {
  if (typeof n !== "number") throw badArgument("size", "of type number", n);
  if (!(n >= 0 && n <= 2 ** 32)) throw outOfRange("size", ">= 0 && <= 4294967296", n);
  return n;
};
// whole leaves out the part of a character at the end of UTF-8.
function whole(b, n) {
  if (n >= b.length) return b.length;
  while (n > 0 && (b[n] & 0xc0) === 0x80) n--;
  return n;
}
const needle = (v, encoding) => {
  if (typeof v === "string") return encode(v, encoding);
  if (typeof v === "number") return Uint8Array.of(v & 255);
  if (v instanceof Uint8Array) return v;
  throw badArgument("value", "one of type number or string or an instance of Buffer or Uint8Array", v);
};
const position = (at, otherwise) => { const n = at === undefined ? NaN : +at; return Number.isNaN(n) ? otherwise : Math.trunc(n); };

class Buffer extends Uint8Array {
  static #of(b) { return new Buffer(b.buffer, b.byteOffset, b.byteLength); }
  static from(v, a, n) {
    if (typeof v === "string") return Buffer.#of(encode(v, typeof a === "string" && a !== "" ? a : "utf8"));
    if (v !== null && typeof v === "object") {
      if (v instanceof ArrayBuffer || Object.prototype.toString.call(v) === "[object SharedArrayBuffer]") return new Buffer(v, a, n);
      if (ArrayBuffer.isView(v)) return Buffer.#of(v instanceof DataView ? new Uint8Array(0) : Uint8Array.from(v, (x) => (typeof x === "bigint" ? Number(BigInt.asUintN(8, x)) : x)));
      const p = v.valueOf?.();
      if (p !== v && p !== undefined && p !== null && (typeof p === "string" || typeof p === "object")) return Buffer.from(p, a, n);
      if (v.type === "Buffer" && Array.isArray(v.data)) return Buffer.#of(Uint8Array.from(v.data));
      if (v.length !== undefined) return Buffer.#of(typeof v.length === "number" ? Uint8Array.from({ length: v.length > 0 ? v.length : 0 }, (_, i) => v[i]) : new Uint8Array(0));
      const f = v[Symbol.toPrimitive];
      if (typeof f === "function") { const s = f.call(v, "string"); if (typeof s === "string") return Buffer.from(s, a); }
    }
    throw error(TypeError, "ERR_INVALID_ARG_TYPE", `The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${received(v)}`);
  }
  static of(...items) { return Buffer.#of(Uint8Array.of(...items)); }
  static alloc(n, fill, encoding) {
    const b = new Buffer(size(n));
    return fill === undefined || fill === 0 ? b : b.fill(fill, encoding);
  }
  static allocUnsafe(n) { return new Buffer(size(n)); }
  static allocUnsafeSlow(n) { return new Buffer(size(n)); }
  static byteLength(v, encoding) {
    if (typeof v === "string") {
      switch (encodings[`${encoding}`.toLowerCase()]) {
        case "hex": return v.length >>> 1;
        case "latin1": case "ascii": return v.length;
        case "utf16le": return v.length * 2;
        case "base64": case "base64url": return (v.length - (v.endsWith("==") ? 2 : v.endsWith("=") ? 1 : 0)) * 3 >>> 2;
      }
      return host.encode(v).length;
    }
    if (ArrayBuffer.isView(v) || v instanceof ArrayBuffer) return v.byteLength;
    throw badArgument("string", "of type string or an instance of Buffer or ArrayBuffer", v);
  }
  static isBuffer(v) { return v instanceof Buffer; }
  static isEncoding(name) { return typeof name === "string" && encodings[name.toLowerCase()] !== undefined; }
  static concat(list, total) {
    if (!Array.isArray(list)) throw badArgument("list", "an instance of Array", list);
    if (list.length === 0) return new Buffer(0);
    if (total !== undefined) within0("length", total, 2 ** 32);
    list.forEach((b, i) => bytesArgument(`list[${i}]`, b));
    if (total === undefined) total = list.reduce((n, b) => n + b.length, 0);
    const out = new Buffer(size(total));
    let at = 0;
    for (const b of list) {
      const part = b.subarray(0, Math.max(0, total - at));
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
  static compare(a, b) {
    bytesArgument("buf1", a); bytesArgument("buf2", b);
    for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  toString(encoding, from, to) {
    from = clamp(from, 0, this.length);
    to = clamp(to, this.length, this.length);
    if (from >= to) return "";
    return decode(this.subarray(from, to), encoding);
  }
  toJSON() { return { type: "Buffer", data: Array.from(this) }; }
  equals(b) { return Buffer.compare(this, bytesArgument("otherBuffer", b)) === 0; }
  compare(b, from = 0, to = b?.length, start = 0, end = this.length) {
    bytesArgument("target", b);
    from = within0("targetStart", from, 2 ** 32); to = within0("targetEnd", to, b.length);
    start = within0("sourceStart", start, 2 ** 32); end = within0("sourceEnd", end, this.length);
    if (start >= end) return from >= to ? 0 : -1;
    if (from >= to) return 1;
    return Buffer.compare(this.subarray(start, end), b.subarray(from, to));
  }
  slice(from, to) { return this.subarray(from, to); }
  write(s, at, length, encoding) {
    if (typeof s !== "string") throw error(TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
    if (typeof at === "string") { encoding = at; at = length = undefined; }
    if (typeof length === "string") { encoding = length; length = undefined; }
    at = at === undefined ? 0 : within0("offset", at, this.length);
    const room = this.length - at, name = encodingOf(encoding), b = encode(s, name);
    let n = Math.min(b.length, room, length === undefined ? room : within0("length", length, this.length));
    if (name === "utf8") n = whole(b, n);
    if (name === "utf16le") n -= n % 2;
    this.set(b.subarray(0, n), at);
    return n;
  }
  copy(into, at = 0, from = 0, to = this.length) {
    if (!ArrayBuffer.isView(into)) throw badArgument("target", "an instance of Buffer or Uint8Array", into);
    at = position(at, 0); from = position(from, 0); to = position(to, 0);
    if (at < 0) throw outOfRange("targetStart", ">= 0", at);
    if (from < 0 || from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
    if (to < 0) throw outOfRange("sourceEnd", ">= 0", to);
    const out = viewOf(into);
    if (at >= out.length || from >= to) return 0;
    const part = this.subarray(from, Math.min(to, from + out.length - at));
    out.set(part, at);
    return part.length;
  }
  fill(v, from, to, encoding) {
    if (typeof v === "string") {
      if (typeof from === "string") { encoding = from; from = undefined; } else if (typeof to === "string") { encoding = to; to = undefined; }
    }
    if (from === undefined) to = undefined;
    from = from === undefined ? 0 : within0("offset", from, 2 ** 32);
    to = to === undefined ? this.length : within0("end", to, this.length);
    if (from >= to) return this;
    if (typeof v !== "string" && !ArrayBuffer.isView(v)) return super.fill(v & 255, from, to);
    const b = typeof v === "string" ? encode(v, encoding) : viewOf(v);
    if (b.length === 0) {
      if (v.length > 0) throw badValue("value", v);
      return super.fill(0, from, to);
    }
    for (let i = from; i < to; i++) this[i] = b[(i - from) % b.length];
    return this;
  }
  indexOf(v, at, encoding) {
    if (typeof at === "string") { encoding = at; at = undefined; }
    const b = needle(v, encoding);
    let i = position(at, 0);
    if (i < 0) i = Math.max(0, this.length + i);
    if (b.length === 0) return Math.min(i, this.length);
    for (; (i = super.indexOf(b[0], i)) >= 0 && i + b.length <= this.length; i++) if (this.#has(b, i)) return i;
    return -1;
  }
  lastIndexOf(v, at, encoding) {
    if (typeof at === "string") { encoding = at; at = undefined; }
    const b = needle(v, encoding);
    let i = position(at, this.length);
    if (i < 0) i += this.length;
    if (b.length === 0) return i < 0 ? -1 : Math.min(i, this.length);
    for (i = Math.min(i, this.length - b.length); i >= 0; i--) if (this.#has(b, i)) return i;
    return -1;
  }
  #has(b, at) {
    let j = 0;
    while (j < b.length && this[at + j] === b[j]) j++;
    return j === b.length;
  }
  includes(v, at, encoding) { return this.indexOf(v, at, encoding) >= 0; }
  [CUSTOM]() {
    const most = 50;
    const shown = Array.from(this.subarray(0, most), (x) => x.toString(16).padStart(2, "0")).join(" ");
    const n = this.length - most;
    return `<Buffer ${shown}${n > 0 ? ` ... ${n} more byte${n > 1 ? "s" : ""}` : ""}>`;
  }
}
// integer returns v if it fits in so many bytes, signed or not.
function integer(v, n, signed) {
  const low = signed ? -(2 ** (n * 8 - 1)) : 0, high = 2 ** (n * 8 - (signed ? 1 : 0)) - 1;
  v = +v;
  if (v > high || v < low) {
    const range = n > 4 ? (signed ? `>= -(2 ** ${n * 8 - 1}) and < 2 ** ${n * 8 - 1}` : `>= 0 and < 2 ** ${n * 8}`) : `>= ${low} and <= ${high}`;
    throw outOfRange("value", range, v);
  }
  return v;
}
const bigInteger = (v, signed) => {
  if (typeof v !== "bigint") throw new TypeError(`Cannot mix BigInt and other types, use explicit conversions`);
  if (v < (signed ? -(2n ** 63n) : 0n) || v >= 2n ** (signed ? 63n : 64n)) throw outOfRange("value", signed ? ">= -(2n ** 63n) and < 2n ** 63n" : ">= 0n and < 2n ** 64n", v);
  return v;
};
const method = (name, value) => {
  Object.defineProperty(value, "name", { value: name, configurable: true });
  for (const n of new Set([name, name.replace("UInt", "Uint")])) Object.defineProperty(Buffer.prototype, n, { value, writable: true, configurable: true });
};
for (const [name, type, bytes] of [["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2], ["Int16", "Int16", 2],
  ["UInt32", "Uint32", 4], ["Int32", "Int32", 4], ["Float", "Float32", 4], ["Double", "Float64", 8], ["BigInt64", "BigInt64", 8], ["BigUInt64", "BigUint64", 8]]) {
  for (const end of bytes === 1 ? [""] : ["LE", "BE"]) {
    const view = (b) => new DataView(b.buffer, b.byteOffset, b.byteLength), signed = !type.includes("int");
    const fit = type.startsWith("Float") ? (v) => v : type.startsWith("Big") ? (v) => bigInteger(v, signed) : (v) => integer(v, bytes, signed);
    method(`read${name}${end}`, function (at = 0) { return view(this)[`get${type}`](offset(at, this.length - bytes), end === "LE"); });
    method(`write${name}${end}`, function (v, at = 0) {
      v = fit(v);
      view(this)[`set${type}`](offset(at, this.length - bytes), v, end === "LE");
      return at + bytes;
    });
  }
}
