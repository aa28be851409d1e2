// What browsers and node have in common beside the language. It runs in the
// program's realm when one of its names is first used.
(function (host) {
  "use strict";
  const CUSTOM = Symbol.for("nodejs.util.inspect.custom");

  class DOMException extends Error {
    #name;
    constructor(message = "", name = "Error") {
      super(message);
      this.#name = typeof name === "string" ? name : name?.name ?? "Error";
      if (name?.cause !== undefined) this.cause = name.cause;
    }
    get name() { return this.#name; }
    get code() { return { InvalidCharacterError: 5, NotSupportedError: 9, AbortError: 20, TimeoutError: 23, DataCloneError: 25 }[this.#name] ?? 0; }
  }

  // Text.

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(s = "") { return host.encode(`${s}`); }
    encodeInto(s, into) {
      let read = 0, written = 0;
      for (const c of `${s}`) {
        const b = host.encode(c);
        if (written + b.length > into.length) break;
        into.set(b, written);
        written += b.length;
        read += c.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    #fatal; #ignoreBOM; #encoding; #rest = new Uint8Array(0); #started = false;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      const known = { "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8", "utf-16le": "utf-16le", "utf-16": "utf-16le",
        latin1: "windows-1252", "iso-8859-1": "windows-1252", ascii: "windows-1252", "us-ascii": "windows-1252", "windows-1252": "windows-1252" };
      this.#encoding = known[`${label}`.trim().toLowerCase()];
      if (this.#encoding === undefined) throw new RangeError(`The "${label}" encoding is not supported`);
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

  // URLs.

  const ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
  const encode = (s, keep) => s.replace(/[^]/gu, (c) => keep.test(c) ? c
    : Array.from(host.encode(c), (b) => "%" + b.toString(16).toUpperCase().padStart(2, "0")).join(""));
  const inPath = /[\x21\x24-\x3b\x3d\x40-\x5f\x61-\x7a\x7c\x7e%&'()*+,\-.\/]/;
  const inQuery = /[\x21\x24-\x3b\x3d\x3f-\x7e%&()*+,\-.\/]/;
  const inHash = /[\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e%]/;
  const inUser = /[A-Za-z0-9\-._~!$&'()*+,%]/;

  class URLSearchParams {
    #list = []; #changed = null;
    constructor(init = "") {
      if (init !== null && typeof init === "object") {
        if (typeof init[Symbol.iterator] === "function") {
          for (const pair of init) {
            const [k, v, ...rest] = pair;
            if (v === undefined || rest.length > 0) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
            this.#list.push([`${k}`, `${v}`]);
          }
        } else for (const k of Object.keys(init)) this.#list.push([k, `${init[k]}`]);
      } else this.#parse(`${init}`);
    }
    #parse(s) {
      if (s.startsWith("?")) s = s.slice(1);
      const text = (p) => {
        const raw = host.encode(p.replaceAll("+", " "));
        const out = new Uint8Array(raw.length);
        let n = 0;
        for (let i = 0; i < raw.length; i++) {
          const hex = raw[i] === 0x25 && i + 2 < raw.length + 0 ? String.fromCharCode(raw[i + 1], raw[i + 2]) : "";
          if (/^[0-9a-fA-F]{2}$/.test(hex)) { out[n++] = parseInt(hex, 16); i += 2; } else out[n++] = raw[i];
        }
        return host.decode(out.subarray(0, n), false);
      };
      for (const part of s.split("&")) {
        if (part === "") continue;
        const i = part.indexOf("=");
        this.#list.push(i < 0 ? [text(part), ""] : [text(part.slice(0, i)), text(part.slice(i + 1))]);
      }
    }
    static from(query, changed) {
      const p = new URLSearchParams(query);
      p.#changed = changed;
      return p;
    }
    static reset(p, query) { p.#list = []; p.#parse(query); }
    #notify() { this.#changed?.(); }
    get size() { return this.#list.length; }
    append(k, v) { this.#list.push([`${k}`, `${v}`]); this.#notify(); }
    delete(k, v) { this.#list = this.#list.filter((e) => e[0] !== `${k}` || v !== undefined && e[1] !== `${v}`); this.#notify(); }
    get(k) { return this.#list.find((e) => e[0] === `${k}`)?.[1] ?? null; }
    getAll(k) { return this.#list.filter((e) => e[0] === `${k}`).map((e) => e[1]); }
    has(k, v) { return this.#list.some((e) => e[0] === `${k}` && (v === undefined || e[1] === `${v}`)); }
    set(k, v) {
      const i = this.#list.findIndex((e) => e[0] === `${k}`);
      if (i < 0) this.#list.push([`${k}`, `${v}`]);
      else {
        this.#list[i][1] = `${v}`;
        this.#list = this.#list.filter((e, j) => j <= i || e[0] !== `${k}`);
      }
      this.#notify();
    }
    sort() { this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#notify(); }
    forEach(f, self) { for (const [k, v] of this.#list) f.call(self, v, k, this); }
    *keys() { for (const e of this.#list) yield e[0]; }
    *values() { for (const e of this.#list) yield e[1]; }
    *entries() { for (const e of this.#list) yield [e[0], e[1]]; }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return "URLSearchParams"; }
    toString() {
      const form = (s) => encode(s, /[A-Za-z0-9*\-._ ]/).replaceAll(" ", "+");
      return this.#list.map(([k, v]) => `${form(k)}=${form(v)}`).join("&");
    }
    [CUSTOM]() {
      return `URLSearchParams {${this.#list.map(([k, v]) => ` ${host.inspect(k)} => ${host.inspect(v)}`).join(",")}${this.#list.length > 0 ? " " : ""}}`;
    }
  }
  const { from: paramsFrom, reset: paramsReset } = URLSearchParams;
  delete URLSearchParams.from;
  delete URLSearchParams.reset;

  function invalid(input, base) {
    const e = new TypeError("Invalid URL");
    e.code = "ERR_INVALID_URL";
    e.input = input;
    if (base !== undefined) e.base = `${base}`;
    return e;
  }

  function parseHost(s, special) {
    if (s.startsWith("[")) {
      if (!/^\[[0-9a-fA-F:.]+\]$/.test(s)) return null;
      return s.toLowerCase();
    }
    if (!special) return encode(s, /[\x21-\x7e]/);
    try { s = decodeURIComponent(s); } catch { return null; }
    s = toASCII(s.normalize("NFKC").toLowerCase());
    if (s === "" || /[\x00-\x20#%\/:<>?@[\\\]^|\x7f]/.test(s)) return null;
    if (/(^|\.)(0x[0-9a-f]*|\d+)\.?$/.test(s)) {
      const parts = s.replace(/\.$/, "").split(".");
      if (parts.length > 4) return null;
      const nums = parts.map((p) => /^0x[0-9a-f]*$/.test(p) ? parseInt(p.slice(2) || "0", 16) : /^0[0-7]+$/.test(p) ? parseInt(p, 8) : /^\d+$/.test(p) ? +p : NaN);
      const last = nums.pop();
      if (nums.some((n) => !(n <= 255)) || !(last < 256 ** (4 - nums.length))) return null;
      let ip = last;
      nums.forEach((n, i) => { ip += n * 256 ** (3 - i); });
      return [24, 16, 8, 0].map((b) => Math.floor(ip / 2 ** b) % 256).join(".");
    }
    return s;
  }

  // toASCII is Punycode of RFC 3492 for labels that need it.
  function toASCII(s) {
    return s.replace(/[\u3002\uff0e\uff61]/g, ".").split(".").map((label) => {
      if (!/[^\x00-\x7f]/.test(label)) return label;
      const points = Array.from(label, (c) => c.codePointAt(0));
      let out = points.filter((p) => p < 128).map((p) => String.fromCharCode(p)).join("");
      let done = out.length, n = 128, delta = 0, bias = 72;
      const basic = done;
      if (basic > 0) out += "-";
      const digit = (d) => String.fromCharCode(d < 26 ? d + 97 : d + 22);
      while (done < points.length) {
        const m = Math.min(...points.filter((p) => p >= n));
        delta += (m - n) * (done + 1);
        n = m;
        for (const p of points) {
          if (p < n) delta++;
          if (p !== n) continue;
          let q = delta;
          for (let k = 36; ; k += 36) {
            const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
            if (q < t) { out += digit(q); break; }
            out += digit(t + (q - t) % (36 - t));
            q = Math.floor((q - t) / (36 - t));
          }
          let k = 0;
          delta = done === basic ? Math.floor(delta / 700) : delta >> 1;
          delta += Math.floor(delta / (done + 1));
          for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
          bias = k + Math.floor(36 * delta / (delta + 38));
          delta = 0;
          done++;
        }
        delta++;
        n++;
      }
      return "xn--" + out;
    }).join(".");
  }

  function normalizePath(path, special) {
    const out = [];
    const parts = (special ? path.replaceAll("\\", "/") : path).split("/");
    parts.shift();
    parts.forEach((p, i) => {
      const dots = p.toLowerCase().replaceAll("%2e", ".");
      const last = i === parts.length - 1;
      if (dots === "..") { out.pop(); if (last) out.push(""); }
      else if (dots === ".") { if (last) out.push(""); }
      else out.push(encode(p, inPath));
    });
    return "/" + out.join("/");
  }

  function parseURL(input, base) {
    const s = input.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
    const u = { protocol: "", username: "", password: "", host: null, port: "", path: "", query: null, hash: null };
    let rest = s;
    const cut = rest.indexOf("#");
    if (cut >= 0) { u.hash = encode(rest.slice(cut + 1), inHash); rest = rest.slice(0, cut); }
    const scheme = /^([a-zA-Z][a-zA-Z0-9+.\-]*):/.exec(rest);
    let inherit = null;
    if (scheme !== null && !(base !== null && base.protocol === scheme[1].toLowerCase() + ":" && base.protocol in ports && !/^[a-zA-Z][^:]*:[\/\\]/.test(rest))) {
      u.protocol = scheme[1].toLowerCase() + ":";
      rest = rest.slice(scheme[0].length);
    } else {
      if (scheme !== null) rest = rest.slice(scheme[0].length);
      if (base === null) return null;
      if (base.host === null && !base.path.startsWith("/") && rest !== "") return null;
      inherit = base;
      u.protocol = base.protocol;
    }
    const special = u.protocol in ports;
    const q = rest.indexOf("?");
    if (q >= 0) { u.query = encode(rest.slice(q + 1), special ? inQuery : /[\x21\x24-\x3b\x3d\x3f-\x7e%']/); rest = rest.slice(0, q); }
    const slashes = special ? /^[\/\\]{2,}/ : /^\/\//;
    let authority = slashes.exec(rest);
    if (inherit === null && special && u.protocol !== "file:" && authority === null) authority = /^[\/\\]*/.exec(rest);
    if (authority !== null) {
      rest = rest.slice(u.protocol === "file:" || !special ? 2 : authority[0].length);
      const end = rest.search(special ? /[\/\\]/ : /\//);
      let auth = end < 0 ? rest : rest.slice(0, end);
      rest = end < 0 ? "" : rest.slice(end);
      const at = auth.lastIndexOf("@");
      if (at >= 0) {
        const user = auth.slice(0, at), colon = user.indexOf(":");
        u.username = encode(colon < 0 ? user : user.slice(0, colon), inUser);
        u.password = colon < 0 ? "" : encode(user.slice(colon + 1), inUser);
        auth = auth.slice(at + 1);
      }
      const port = /:(\d*)$/.exec(auth);
      if (port !== null) {
        auth = auth.slice(0, -port[0].length);
        if (port[1] !== "" && +port[1] > 65535) return null;
        u.port = port[1] === "" || String(+port[1]) === ports[u.protocol] ? "" : String(+port[1]);
      } else if (!auth.startsWith("[") && auth.includes(":")) return null;
      if (auth === "" && (u.protocol === "file:" || !special)) u.host = "";
      else if ((u.host = parseHost(auth, special)) === null) return null;
      if (u.protocol === "file:" && u.host === "localhost") u.host = "";
      u.path = rest === "" && !special ? "" : normalizePath(rest === "" ? "/" : rest, special);
      return u;
    }
    if (inherit !== null) {
      Object.assign(u, { username: inherit.username, password: inherit.password, host: inherit.host, port: inherit.port });
      if (rest === "") {
        u.path = inherit.path;
        if (q < 0) u.query = inherit.query;
      } else if (/^[\/\\]/.test(rest)) u.path = normalizePath(rest, special);
      else u.path = normalizePath(inherit.path.slice(0, inherit.path.lastIndexOf("/") + 1) + rest, special);
      return u;
    }
    if (u.protocol === "file:") { u.host = ""; u.path = normalizePath(rest.startsWith("/") ? rest : "/" + rest, true); }
    else u.path = rest.startsWith("/") ? normalizePath(rest, false) : encode(rest, /[\x20-\x7e]/);
    return u;
  }

  class URL {
    #u; #params = null;
    constructor(input, base) {
      let b = null;
      if (base !== undefined) {
        b = parseURL(`${base}`, null);
        if (b === null) throw invalid(`${input}`, base);
      }
      this.#u = parseURL(`${input}`, b);
      if (this.#u === null) throw invalid(`${input}`, base);
    }
    static canParse(input, base) { try { new URL(input, base); return true; } catch { return false; } }
    static parse(input, base) { try { return new URL(input, base); } catch { return null; } }
    get href() {
      const u = this.#u;
      const user = u.username !== "" || u.password !== "" ? `${u.username}${u.password !== "" ? `:${u.password}` : ""}@` : "";
      const auth = u.host === null ? "" : `//${user}${u.host}${u.port !== "" ? `:${u.port}` : ""}`;
      return `${u.protocol}${auth}${u.path}${u.query === null ? "" : `?${u.query}`}${u.hash === null ? "" : `#${u.hash}`}`;
    }
    set href(v) {
      const u = parseURL(`${v}`, null);
      if (u === null) throw invalid(`${v}`);
      this.#u = u;
      this.#sync();
    }
    #sync() { if (this.#params !== null) paramsReset(this.#params, this.#u.query ?? ""); }
    get origin() { return this.#u.protocol in ports && this.#u.protocol !== "file:" ? `${this.#u.protocol}//${this.host}` : "null"; }
    get protocol() { return this.#u.protocol; }
    set protocol(v) {
      const p = /^([a-zA-Z][a-zA-Z0-9+.\-]*):?/.exec(`${v}`)?.[1].toLowerCase();
      if (p !== undefined && (p + ":" in ports) === (this.#u.protocol in ports)) {
        this.#u.protocol = p + ":";
        if (this.#u.port === ports[p + ":"]) this.#u.port = "";
      }
    }
    get username() { return this.#u.username; }
    set username(v) { if (this.#u.host) this.#u.username = encode(`${v}`, inUser); }
    get password() { return this.#u.password; }
    set password(v) { if (this.#u.host) this.#u.password = encode(`${v}`, inUser); }
    get host() { return (this.#u.host ?? "") + (this.#u.port !== "" ? `:${this.#u.port}` : ""); }
    set host(v) {
      const m = /^(\[[^\]]*\]|[^:\/?#\\]*)(?::(\d*))?/.exec(`${v}`);
      this.hostname = m[1];
      if (m[2]) this.port = m[2];
    }
    get hostname() { return this.#u.host ?? ""; }
    set hostname(v) {
      if (this.#u.host === null) return;
      const h = parseHost(`${v}`, this.#u.protocol in ports);
      if (h !== null) this.#u.host = h;
    }
    get port() { return this.#u.port; }
    set port(v) {
      const n = /^\d*/.exec(`${v}`)[0];
      if (`${v}` === "" || n !== "" && +n <= 65535) this.#u.port = n === "" || String(+n) === ports[this.#u.protocol] ? "" : String(+n);
    }
    get pathname() { return this.#u.path; }
    set pathname(v) {
      if (this.#u.host === null && !this.#u.path.startsWith("/")) return;
      const p = `${v}`.replace(/[?#]/g, encodeURIComponent);
      this.#u.path = normalizePath(/^[\/\\]/.test(p) ? p : "/" + p, this.#u.protocol in ports);
    }
    get search() { return this.#u.query ? `?${this.#u.query}` : ""; }
    set search(v) {
      const s = `${v}`.replace(/^\?/, "").replaceAll("#", "%23");
      this.#u.query = s === "" ? null : encode(s, inQuery);
      this.#sync();
    }
    get hash() { return this.#u.hash ? `#${this.#u.hash}` : ""; }
    set hash(v) {
      const s = `${v}`.replace(/^#/, "");
      this.#u.hash = s === "" ? null : encode(s, inHash);
    }
    get searchParams() {
      this.#params ??= paramsFrom(this.#u.query ?? "", () => {
        const q = this.#params.toString();
        this.#u.query = q === "" ? null : q;
      });
      return this.#params;
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return "URL"; }
    [CUSTOM](depth, options, inspect) {
      const fields = {};
      for (const k of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"]) fields[k] = this[k];
      return `URL ${host.inspect(fields, options)}`;
    }
  }

  // Events.

  class Event {
    #type; #target = null; #canceled = false; #options; #stopped = false;
    timeStamp = host.now();
    constructor(type, options = {}) { this.#type = `${type}`; this.#options = options ?? {}; }
    get type() { return this.#type; }
    get target() { return this.#target; }
    get currentTarget() { return this.#target; }
    get bubbles() { return !!this.#options.bubbles; }
    get cancelable() { return !!this.#options.cancelable; }
    get defaultPrevented() { return this.#canceled; }
    preventDefault() { if (this.cancelable) this.#canceled = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.#stopped = true; }
    static send(event, target, list) {
      event.#target = target;
      for (const l of list) {
        if (event.#stopped) break;
        if (l.once) target.removeEventListener(event.#type, l.f);
        if (typeof l.f === "function") l.f.call(target, event);
        else l.f.handleEvent(event);
      }
      return !event.#canceled;
    }
  }
  const send = Event.send;
  delete Event.send;

  class CustomEvent extends Event {
    #detail;
    constructor(type, options = {}) { super(type, options); this.#detail = options?.detail ?? null; }
    get detail() { return this.#detail; }
  }

  class EventTarget {
    #listeners = new Map();
    addEventListener(type, f, options) {
      if (f === null || f === undefined) return;
      const once = typeof options === "object" && options !== null && !!options.once;
      const list = this.#listeners.get(`${type}`) ?? [];
      if (list.some((l) => l.f === f)) return;
      this.#listeners.set(`${type}`, [...list, { f, once }]);
      options?.signal?.addEventListener("abort", () => this.removeEventListener(type, f), { once: true });
    }
    removeEventListener(type, f) {
      const list = this.#listeners.get(`${type}`);
      if (list !== undefined) this.#listeners.set(`${type}`, list.filter((l) => l.f !== f));
    }
    dispatchEvent(event) {
      const handler = this[`on${event.type}`];
      const list = this.#listeners.get(event.type) ?? [];
      return send(event, this, typeof handler === "function" ? [{ f: handler }, ...list] : list);
    }
  }

  const made = Symbol("AbortSignal");
  class AbortSignal extends EventTarget {
    #aborted = false; #reason = undefined;
    onabort = null;
    constructor(key) {
      if (key !== made) throw new TypeError("Illegal constructor");
      super();
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    static abort(reason) { const s = new AbortSignal(made); end(s, reason); return s; }
    static timeout(ms) {
      const s = new AbortSignal(made);
      host.ref(host.setTimeout(() => end(s, new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms), false);
      return s;
    }
    static any(signals) {
      const s = new AbortSignal(made);
      for (const other of signals) {
        if (other.aborted) { end(s, other.reason); break; }
        other.addEventListener("abort", () => end(s, other.reason), { once: true });
      }
      return s;
    }
    static end(s, reason) {
      if (s.#aborted) return;
      s.#aborted = true;
      s.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
      s.dispatchEvent(new Event("abort"));
    }
    [CUSTOM]() { return `AbortSignal { aborted: ${this.#aborted} }`; }
  }
  const end = AbortSignal.end;
  delete AbortSignal.end;

  class AbortController {
    #signal = new AbortSignal(made);
    get signal() { return this.#signal; }
    abort(reason) { end(this.#signal, reason); }
    [CUSTOM]() { return `AbortController { signal: AbortSignal { aborted: ${this.#signal.aborted} } }`; }
  }

  // structuredClone.

  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  function structuredClone(value, options) {
    const seen = new Map();
    const transfer = new Set(options?.transfer ?? []);
    const refuse = (v) => { throw new DOMException(`${typeof v === "symbol" ? v.toString() : typeof v === "function" ? v : "#<Object>"} could not be cloned.`, "DataCloneError"); };
    const clone = (v) => {
      if (typeof v === "function" || typeof v === "symbol") refuse(v);
      if (v === null || typeof v !== "object") return v;
      if (seen.has(v)) return seen.get(v);
      const keep = (c) => { seen.set(v, c); return c; };
      const tag = Object.prototype.toString.call(v).slice(8, -1);
      if (Array.isArray(v)) {
        const c = keep(new Array(v.length));
        for (const k of Object.keys(v)) c[k] = clone(v[k]);
        return c;
      }
      if (v instanceof Date) return keep(new Date(v.getTime()));
      if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags));
      if (v instanceof Map) {
        const c = keep(new Map());
        for (const [k, e] of [...v]) c.set(clone(k), clone(e));
        return c;
      }
      if (v instanceof Set) {
        const c = keep(new Set());
        for (const e of [...v]) c.add(clone(e));
        return c;
      }
      if (v instanceof ArrayBuffer) return keep(transfer.has(v) && v.transfer ? v.transfer() : v.slice(0));
      if (ArrayBuffer.isView(v)) {
        const b = clone(v.buffer);
        const type = v instanceof DataView ? DataView : globalThis[v[Symbol.toStringTag]];
        return keep(new type(b, v.byteOffset, v instanceof DataView ? v.byteLength : v.length));
      }
      if (v instanceof Error) {
        const type = errors[v.name] ?? Error;
        const e = keep(new type(v.message));
        if (v.stack !== undefined) Object.defineProperty(e, "stack", { value: v.stack, writable: true, configurable: true });
        if ("cause" in v) Object.defineProperty(e, "cause", { value: clone(v.cause), writable: true, configurable: true });
        return e;
      }
      if (["Number", "String", "Boolean", "BigInt"].includes(tag) && Object.hasOwn({ Number, String, Boolean, BigInt }, tag)) return keep(Object(v.valueOf()));
      if (["WeakMap", "WeakSet", "WeakRef", "Promise", "Generator"].includes(tag)) refuse(v);
      const c = keep({});
      for (const k of Object.keys(v)) c[k] = clone(v[k]);
      return c;
    };
    return clone(value);
  }

  // performance and crypto.

  const marks = [];
  const performance = {
    now: () => host.now(),
    get timeOrigin() { return host.timeOrigin(); },
    mark(name) { const m = { name, entryType: "mark", startTime: host.now(), duration: 0 }; marks.push(m); return m; },
    measure(name, from, to) {
      const time = (n, or) => (n === undefined ? or : marks.findLast((m) => m.name === n)?.startTime ?? or);
      const startTime = time(from, 0);
      const m = { name, entryType: "measure", startTime, duration: time(to, host.now()) - startTime };
      marks.push(m);
      return m;
    },
    getEntries: () => [...marks],
    getEntriesByName: (name) => marks.filter((m) => m.name === name),
    getEntriesByType: (type) => marks.filter((m) => m.entryType === type),
    clearMarks() { marks.length = 0; },
    clearMeasures() { marks.length = 0; },
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

  return { URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, Event, EventTarget, CustomEvent,
    AbortController, AbortSignal, DOMException, performance, crypto };
});
