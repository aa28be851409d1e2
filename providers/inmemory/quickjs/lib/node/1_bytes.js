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
      let clean = s.replace(/=[^]*$/, "").replaceAll("-", "+").replaceAll("_", "/").replace(/[^A-Za-z0-9+/]/g, "");
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

