// Bytes: encodings and Buffer. The files of this folder are one function, in
// the order of their names: what programs expect of node. It runs in the
// program's realm when one of its names is first used.

const CUSTOM = Symbol.for("nodejs.util.inspect.custom");
const error = (type, code, message) => Object.assign(new type(message), { code });
const received = (v) => {
  if (v === null || v === undefined) return `${v}`;
  if (typeof v === "function") return `function ${v.name}`;
  if (typeof v === "object") return v.constructor?.name ? `an instance of ${v.constructor.name}` : host.inspect(v, { depth: -1 });
  const s = host.inspect(v);
  return `type ${typeof v} (${s.length > 28 ? `${s.slice(0, 25)}...` : s})`;
};
const badArgument = (name, expected, v) => error(TypeError, "ERR_INVALID_ARG_TYPE",
  `The "${name}" ${name.includes(".") ? "property" : "argument"} must be ${expected}. Received ${received(v)}`);
const badValue = (name, v, reason = "is invalid") => error(TypeError, "ERR_INVALID_ARG_VALUE", `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${host.inspect(v)}`);
const outOfRange = (name, range, v) => {
  let s = host.inspect(v);
  if (Number.isInteger(v) && Math.abs(v) > 2 ** 32 || typeof v === "bigint" && (v > 2n ** 32n || v < -(2n ** 32n))) s = s.replace(/\d(?=(\d{3})+(?!\d))/g, "$&_");
  return error(RangeError, "ERR_OUT_OF_RANGE", `The value of "${name}" is out of range. It must be ${range}. Received ${s}`);
};

const toHex = (b) => { let s = ""; for (const x of b) s += x.toString(16).padStart(2, "0"); return s; };
const latin1 = (b, mask = 0xff) => { let s = ""; for (const x of b) s += String.fromCharCode(x & mask); return s; };
const encodings = { utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", ascii: "ascii",
  latin1: "latin1", binary: "latin1", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le" };
function encodingOf(name) {
  const e = encodings[`${name ?? "utf8"}`.toLowerCase()];
  if (e === undefined) throw error(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${name}`);
  return e;
}
function encode(s, name) {
  switch (encodingOf(name)) {
    case "utf8": return host.encode(s);
    case "hex": {
      const out = [];
      for (let i = 0; i + 1 < s.length; i += 2) {
        const n = parseInt(s.slice(i, i + 2), 16);
        if (!/^[0-9a-fA-F]{2}$/.test(s.slice(i, i + 2))) break;
        out.push(n);
      }
      return Uint8Array.from(out);
    }
    case "base64": case "base64url": {
      let clean = s.replaceAll("-", "+").replaceAll("_", "/").replace(/[^A-Za-z0-9+/]/g, "");
      if (clean.length % 4 === 1) clean = clean.slice(0, -1);
      const raw = host.atob(clean);
      return Uint8Array.from({ length: raw.length }, (_, i) => raw.charCodeAt(i));
    }
    case "utf16le": {
      const b = new Uint8Array(s.length * 2);
      for (let i = 0; i < s.length; i++) { b[2 * i] = s.charCodeAt(i); b[2 * i + 1] = s.charCodeAt(i) >> 8; }
      return b;
    }
    default: return Uint8Array.from({ length: s.length }, (_, i) => s.charCodeAt(i));
  }
}
function decode(b, name) {
  switch (encodingOf(name)) {
    case "utf8": return host.decode(b, false);
    case "hex": return toHex(b);
    case "base64": return host.btoa(latin1(b));
    case "base64url": return host.btoa(latin1(b)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    case "utf16le": { let s = ""; for (let i = 0; i + 1 < b.length; i += 2) s += String.fromCharCode(b[i] | b[i + 1] << 8); return s; }
    case "ascii": return latin1(b, 0x7f);
    default: return latin1(b);
  }
}

class Buffer extends Uint8Array {
  static #of(b) { return new Buffer(b.buffer, b.byteOffset, b.byteLength); }
  static from(v, a, n) {
    if (typeof v === "string") return Buffer.#of(encode(v, a));
    if (v instanceof ArrayBuffer || Object.prototype.toString.call(v) === "[object SharedArrayBuffer]") return new Buffer(v, a, n);
    if (ArrayBuffer.isView(v)) return Buffer.#of(Uint8Array.from(v));
    if (v !== null && typeof v === "object") {
      if (v.type === "Buffer" && Array.isArray(v.data)) return Buffer.#of(Uint8Array.from(v.data));
      if (typeof v.length === "number" || typeof v[Symbol.iterator] === "function") return Buffer.#of(Uint8Array.from(v));
      const p = v.valueOf?.();
      if (p !== v && p !== undefined && p !== null) return Buffer.from(p, a, n);
    }
    throw badArgument("value", "of type string or an instance of Buffer, ArrayBuffer, or Array", v);
  }
  static alloc(n, fill, encoding) {
    const b = new Buffer(n);
    return fill === undefined || fill === 0 ? b : b.fill(fill, 0, n, encoding);
  }
  static allocUnsafe(n) { return new Buffer(n); }
  static byteLength(v, encoding) { return typeof v === "string" ? encode(v, encoding).length : v.byteLength; }
  static isBuffer(v) { return v instanceof Buffer; }
  static isEncoding(name) { return encodings[`${name}`.toLowerCase()] !== undefined; }
  static concat(list, total = list.reduce((n, b) => n + b.length, 0)) {
    const out = new Buffer(total);
    let at = 0;
    for (const b of list) {
      const part = b.subarray(0, Math.max(0, total - at));
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
  static compare(a, b) {
    for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  get parent() { return this.buffer; }
  toString(encoding, from = 0, to = this.length) { return decode(this.subarray(from, to), encoding); }
  toLocaleString(...a) { return this.toString(...a); }
  toJSON() { return { type: "Buffer", data: Array.from(this) }; }
  equals(b) { return Buffer.compare(this, b) === 0; }
  compare(b) { return Buffer.compare(this, b); }
  slice(from, to) { return this.subarray(from, to); }
  write(s, at = 0, length = this.length - at, encoding = "utf8") {
    if (typeof at === "string") { encoding = at; at = 0; length = this.length; }
    if (typeof length === "string") { encoding = length; length = this.length - at; }
    const b = encode(s, encoding).subarray(0, Math.min(length, this.length - at));
    this.set(b, at);
    return b.length;
  }
  copy(into, at = 0, from = 0, to = this.length) {
    const part = this.subarray(from, Math.min(to, from + into.length - at));
    into.set(part, at);
    return part.length;
  }
  fill(v, from = 0, to = this.length, encoding) {
    if (typeof from === "string") { encoding = from; from = 0; to = this.length; }
    if (typeof v === "number") return super.fill(v, from, to);
    const b = typeof v === "string" ? encode(v, encoding) : v;
    if (b.length === 0) return super.fill(0, from, to);
    for (let i = from; i < to; i++) this[i] = b[(i - from) % b.length];
    return this;
  }
  indexOf(v, at = 0, encoding) {
    if (typeof v === "number") return super.indexOf(v & 255, at);
    const b = typeof v === "string" ? encode(v, encoding) : v;
    for (let i = at < 0 ? Math.max(0, this.length + at) : at; i + b.length <= this.length; i++) {
      let j = 0;
      while (j < b.length && this[i + j] === b[j]) j++;
      if (j === b.length) return i;
    }
    return -1;
  }
  includes(v, at, encoding) { return this.indexOf(v, at, encoding) >= 0; }
  swap16() { for (let i = 0; i + 1 < this.length; i += 2) [this[i], this[i + 1]] = [this[i + 1], this[i]]; return this; }
  [CUSTOM]() {
    const shown = Array.from(this.subarray(0, 50), (x) => x.toString(16).padStart(2, "0")).join(" ");
    const n = this.length - 50;
    return `<Buffer${shown === "" ? "" : " " + shown}${n > 0 ? ` ... ${n} more byte${n > 1 ? "s" : ""}` : ""}>`;
  }
}
for (const [name, method, size] of [["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2], ["Int16", "Int16", 2],
  ["UInt32", "Uint32", 4], ["Int32", "Int32", 4], ["Float", "Float32", 4], ["Double", "Float64", 8], ["BigInt64", "BigInt64", 8], ["BigUInt64", "BigUint64", 8]]) {
  for (const end of size === 1 ? [""] : ["LE", "BE"]) {
    const view = (b) => new DataView(b.buffer, b.byteOffset, b.byteLength);
    const read = function (at = 0) { return view(this)[`get${method}`](at, end === "LE"); };
    const write = function (v, at = 0) { view(this)[`set${method}`](at, v, end === "LE"); return at + size; };
    for (const n of [name, name.replace("UInt", "Uint")]) {
      Object.defineProperty(Buffer.prototype, `read${n}${end}`, { value: read, writable: true, configurable: true });
      Object.defineProperty(Buffer.prototype, `write${n}${end}`, { value: write, writable: true, configurable: true });
    }
  }
}
