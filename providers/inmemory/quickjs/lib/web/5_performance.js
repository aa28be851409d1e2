// performance and crypto, and what the library exports.

const performance = {
  now: () => host.now(),
  get timeOrigin() { return host.timeOrigin(); },
  toJSON: () => ({ timeOrigin: host.timeOrigin() }),
};
const crypto = {
  getRandomValues(a) {
    if (!ArrayBuffer.isView(a) || a instanceof DataView || a instanceof Float32Array || a instanceof Float64Array) {
      throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
    }
    if (a.byteLength > 65536) throw new DOMException(`The requested length exceeds 65,536 bytes`, "QuotaExceededError");
    host.random(a);
    return a;
  },
  randomUUID() {
    const b = new Uint8Array(16);
    host.random(b);
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    const h = Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
  },
  subtle: {
    async digest(algorithm, data) {
      const name = typeof algorithm === "string" ? algorithm : algorithm.name;
      return host.hash(name, data).buffer;
    },
  },
};

const throwDOM = (...args) => { throw new DOMException(...args); };
return { throwDOM, URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, Event, EventTarget, CustomEvent,
  AbortController, AbortSignal, DOMException, performance, crypto, Headers, Request, Response, fetch: host.networked() ? fetch : undefined };
