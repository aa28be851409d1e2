// TextEncoder and TextDecoder. The files of this folder are one function, in the
// order of their names: what browsers and node have in common beside the
// language. It runs in the program's realm when one of its names is first used.

const CUSTOM = Symbol.for("nodejs.util.inspect.custom");

class DOMException extends Error {
  #name;
  constructor(message = "", name = "Error") {
    super(message);
    this.#name = typeof name === "string" ? name : name?.name ?? "Error";
    // A getter would not be called when the host reads the error.
    Object.defineProperty(this, "name", { value: this.#name, configurable: true });
    if (name?.cause !== undefined) this.cause = name.cause;
  }
  get code() { return { InvalidCharacterError: 5, NotSupportedError: 9, TypeMismatchError: 17, AbortError: 20, QuotaExceededError: 22, TimeoutError: 23, DataCloneError: 25 }[this.#name] ?? 0; }
}

class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(s = "") { return host.encode(`${s}`); }
}

class TextDecoder {
  #fatal; #ignoreBOM; #encoding; #rest = new Uint8Array(0); #started = false;
  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    const known = { "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8", "utf-16le": "utf-16le", "utf-16": "utf-16le",
      latin1: "windows-1252", "iso-8859-1": "windows-1252", ascii: "windows-1252", "us-ascii": "windows-1252", "windows-1252": "windows-1252" };
    this.#encoding = known[`${label}`.trim().toLowerCase()];
    if (this.#encoding === undefined) throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: "ERR_ENCODING_NOT_SUPPORTED" });
    this.#fatal = !!fatal;
    this.#ignoreBOM = !!ignoreBOM;
  }
  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBOM; }
  decode(input, { stream = false } = {}) {
    let b = input === undefined ? new Uint8Array(0)
      : ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
    if (this.#rest.length > 0) {
      const joined = new Uint8Array(this.#rest.length + b.length);
      joined.set(this.#rest);
      joined.set(b, this.#rest.length);
      b = joined;
      this.#rest = new Uint8Array(0);
    }
    let s;
    if (this.#encoding === "utf-8") {
      if (stream) {
        const n = incomplete(b);
        this.#rest = b.slice(b.length - n);
        b = b.subarray(0, b.length - n);
      }
      s = host.decode(b, this.#fatal);
    } else {
      const step = this.#encoding === "utf-16le" ? 2 : 1;
      if (stream && b.length % step) { this.#rest = b.slice(-1); b = b.subarray(0, -1); }
      s = "";
      for (let i = 0; i + step <= b.length; i += step) s += String.fromCharCode(step === 2 ? b[i] | b[i + 1] << 8 : b[i]);
      if (b.length % step) s += "\ufffd";
    }
    if (!this.#started && !this.#ignoreBOM && s.startsWith("\ufeff")) s = s.slice(1);
    this.#started = stream && (this.#started || s !== "");
    return s;
  }
}

// incomplete returns how many bytes at the end begin a UTF-8 sequence.
function incomplete(b) {
  for (let n = 1; n <= 3 && n <= b.length; n++) {
    const c = b[b.length - n];
    if (c < 0x80) return 0;
    if (c >= 0xc0) return (c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2) > n ? n : 0;
  }
  return 0;
}
