// What programs expect of node: process, Buffer, require and the small
// modules. It runs in the program's realm when one of its names is first used.
(function (host) {
  "use strict";
  const CUSTOM = Symbol.for("nodejs.util.inspect.custom");
  const error = (type, code, message) => Object.assign(new type(message), { code });
  const badArgument = (name, expected, v) => error(TypeError, "ERR_INVALID_ARG_TYPE",
    `The "${name}" argument must be ${expected}. Received ${v === null || v === undefined ? v : `type ${typeof v} (${host.inspect(v)})`}`);

  // Bytes.

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

  // events

  class EventEmitter {
    #of = new Map();
    #list(name) { return this.#of.get(name) ?? []; }
    on(name, f) { return this.addListener(name, f); }
    addListener(name, f) {
      if (typeof f !== "function") throw badArgument("listener", "of type function", f);
      if (this.#of.has("newListener") && name !== "newListener") this.emit("newListener", name, f);
      this.#of.set(name, [...this.#list(name), f]);
      return this;
    }
    prependListener(name, f) { this.#of.set(name, [f, ...this.#list(name)]); return this; }
    once(name, f) {
      const g = (...args) => { this.off(name, g); return f.apply(this, args); };
      g.listener = f;
      return this.on(name, g);
    }
    off(name, f) { return this.removeListener(name, f); }
    removeListener(name, f) {
      const list = this.#list(name);
      const i = list.findLastIndex((g) => g === f || g.listener === f);
      if (i >= 0) this.#of.set(name, list.toSpliced(i, 1));
      return this;
    }
    removeAllListeners(name) { if (name === undefined) this.#of.clear(); else this.#of.delete(name); return this; }
    emit(name, ...args) {
      const list = this.#list(name);
      if (list.length === 0) {
        if (name === "error") throw args[0] instanceof Error ? args[0] : error(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${host.inspect(args[0])})`);
        return false;
      }
      for (const f of list) f.apply(this, args);
      return true;
    }
    listeners(name) { return this.#list(name).map((f) => f.listener ?? f); }
    listenerCount(name) { return this.#list(name).length; }
    eventNames() { return [...this.#of.keys()].filter((k) => this.#list(k).length > 0); }
    setMaxListeners() { return this; }
    getMaxListeners() { return 10; }
  }
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.defaultMaxListeners = 10;
  EventEmitter.once = (emitter, name) => new Promise((resolve, reject) => {
    const fail = (e) => { emitter.off(name, done); reject(e); };
    const done = (...args) => { emitter.off("error", fail); resolve(args); };
    emitter.once(name, done);
    if (name !== "error") emitter.once("error", fail);
  });

  // process

  let exiting = false, last;
  const exitCode = () => (last?.run === host.run() ? last.code : undefined);
  const setExitCode = (code) => { last = { run: host.run(), code }; };
  const stream = (fd) => Object.assign(new EventEmitter(), {
    fd, isTTY: false, writable: true, columns: 80,
    write(data, encoding, done) {
      if (typeof encoding === "function") { done = encoding; encoding = undefined; }
      if (typeof data !== "string" && !ArrayBuffer.isView(data)) throw badArgument("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", data);
      host.write(fd, typeof data === "string" && encoding !== undefined && encodingOf(encoding) !== "utf8" ? encode(data, encoding) : data);
      if (typeof done === "function") queueMicrotask(done);
      return true;
    },
    end(data, ...rest) { if (data !== undefined) this.write(data, ...rest); },
  });
  const hrtime = (since) => {
    const ms = host.now();
    let s = Math.floor(ms / 1000), ns = Math.round((ms % 1000) * 1e6);
    if (since !== undefined) { s -= since[0]; ns -= since[1]; if (ns < 0) { s--; ns += 1e9; } }
    return [s, ns];
  };
  hrtime.bigint = () => BigInt(Math.round(host.now() * 1e6));

  const process = Object.assign(new EventEmitter(), {
    title: "toolcell", argv: ["/usr/bin/node", "/program.js"], execArgv: [], execPath: "/usr/bin/node", pid: 1, ppid: 0,
    platform: "linux", arch: "wasm32", version: "v20.0.0", versions: { node: "20.0.0", quickjs: "2026-06-04" }, release: { name: "quickjs" },
    stdout: stream(1), stderr: stream(2), hrtime, config: {}, features: {}, allowedNodeEnvironmentFlags: new Set(),
    cwd: () => host.cwd(), chdir: (p) => host.chdir(`${p}`), umask: () => 0o22, uptime: () => host.now() / 1000,
    nextTick(f, ...args) {
      if (typeof f !== "function") throw badArgument("callback", "of type function", f);
      queueMicrotask(() => { f(...args); });
    },
    exit(code = exitCode()) {
      if (code === undefined || code === null) code = 0;
      if (!Number.isInteger(+code)) throw badArgument("code", "of type number", code);
      if (!exiting) {
        setExitCode(+code);
        atExit(+code);
      }
      host.exit(+(exitCode() ?? code));
    },
    abort() { host.exit(134); },
    memoryUsage: Object.assign(() => ({ rss: host.memory(), heapTotal: host.memory(), heapUsed: host.memory(), external: 0, arrayBuffers: 0 }), { rss: () => host.memory() }),
    cpuUsage: () => ({ user: Math.round(host.now() * 1000), system: 0 }),
    emitWarning(w) { host.write(2, `(node) ${w instanceof Error ? w : `Warning: ${w}`}\n`); },
    getuid: () => 1000, getgid: () => 1000,
    kill() { throw error(Error, "EPERM", "kill EPERM"); },
    binding(name) { throw error(Error, "ERR_INVALID_MODULE", `No such binding: ${name}`); },
  });
  // atExit calls the program's exit listeners, once.
  function atExit(code) {
    if (exiting || process.listenerCount("exit") === 0) return;
    exiting = true;
    try { process.emit("exit", code); } finally { exiting = false; process.removeAllListeners("exit"); }
  }

  let env;
  const lookup = () => (env !== undefined && env.run === host.run() ? env.vars : (env = { run: host.run(), vars: host.env() }).vars);
  Object.defineProperties(process, {
    env: { enumerable: true, configurable: true, get: lookup, set(v) { env = { run: host.run(), vars: v }; } },
    exitCode: { enumerable: true, configurable: true, get: exitCode,
      set(v) { setExitCode(v); host.setExitCode(v === undefined ? 0 : +v); } },
    stdin: { enumerable: true, configurable: true, get: stdin },
    [Symbol.toStringTag]: { value: "process" },
  });

  let input;
  function stdin() {
    if (input?.run === host.run()) return input.stream;
    let encoding, started = false;
    const s = new EventEmitter();
    const read = (n = -1) => { const b = host.stdin(n); return b.length === 0 ? null : encoding === undefined ? Buffer.from(b) : decode(b, encoding); };
    const start = () => {
      if (started) return;
      started = true;
      setImmediate(() => {
        try {
          const data = read();
          if (data !== null) s.emit("data", data);
          s.emit("end");
          s.emit("close");
        } catch (e) { s.emit("error", e); }
      });
    };
    const on = s.addListener.bind(s);
    Object.assign(s, {
      fd: 0, isTTY: false, readable: true, read,
      setEncoding(e) { encoding = e; return s; },
      resume() { start(); return s; }, pause: () => s, unref: () => s, ref: () => s,
      addListener(name, f) { on(name, f); if (name === "data" || name === "end" || name === "readable") start(); return s; },
      on(name, f) { return s.addListener(name, f); },
      async *[Symbol.asyncIterator]() { const data = read(); if (data !== null) yield data; },
    });
    input = { run: host.run(), stream: s };
    return s;
  }

  // path

  const path = (() => {
    const normalize = (p) => {
      if (p === "") return ".";
      const abs = p.startsWith("/"), slash = p.endsWith("/"), out = [];
      for (const part of p.split("/")) {
        if (part === "" || part === ".") continue;
        if (part === ".." && out.length > 0 && out.at(-1) !== "..") out.pop();
        else if (part !== ".." || !abs) out.push(part);
      }
      const s = out.join("/");
      return abs ? "/" + s + (slash && s !== "" ? "/" : "") : s === "" ? (slash ? "./" : ".") : s + (slash ? "/" : "");
    };
    const resolve = (...parts) => {
      let p = "";
      for (let i = parts.length - 1; i >= 0 && !p.startsWith("/"); i--) if (parts[i] !== "") p = p === "" ? parts[i] : parts[i] + "/" + p;
      if (!p.startsWith("/")) p = host.cwd() + "/" + p;
      const n = normalize(p);
      return n.length > 1 && n.endsWith("/") ? n.slice(0, -1) : n;
    };
    const basename = (p, suffix) => {
      const b = p.replace(/\/+$/, "").split("/").pop();
      return suffix !== undefined && b !== suffix && b.endsWith(suffix) ? b.slice(0, -suffix.length) : b;
    };
    const dirname = (p) => {
      const s = p.replace(/\/+$/, "");
      if (s === "") return p.startsWith("/") ? "/" : ".";
      const i = s.lastIndexOf("/");
      return i < 0 ? "." : i === 0 ? "/" : s.slice(0, i).replace(/\/+$/, "") || "/";
    };
    const extname = (p) => {
      const b = basename(p), i = b.lastIndexOf(".");
      return i <= 0 ? "" : b.slice(i);
    };
    const api = {
      sep: "/", delimiter: ":", normalize, resolve, basename, dirname, extname,
      join: (...parts) => normalize(parts.filter((p) => p !== "").join("/")),
      isAbsolute: (p) => p.startsWith("/"),
      relative(a, b) {
        const from = resolve(a).split("/").filter(Boolean), to = resolve(b).split("/").filter(Boolean);
        let i = 0;
        while (i < from.length && i < to.length && from[i] === to[i]) i++;
        return [...from.slice(i).map(() => ".."), ...to.slice(i)].join("/");
      },
      parse(p) {
        const base = basename(p), ext = extname(p), root = p.startsWith("/") ? "/" : "";
        const dir = base === p ? "" : dirname(p) === "." && !p.startsWith(".") ? "" : dirname(p);
        return { root, dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
      },
      format: ({ dir, root = "", base, name = "", ext = "" }) => {
        const b = base ?? name + (ext !== "" && !ext.startsWith(".") ? "." + ext : ext);
        return dir === undefined || dir === "" ? root + b : dir === root ? dir + b : dir + "/" + b;
      },
      toNamespacedPath: (p) => p,
    };
    api.posix = api;
    return api;
  })();

  // util

  const isType = (tag) => (v) => Object.prototype.toString.call(v) === `[object ${tag}]`;
  function deepEqual(a, b, strict, seen = new Map()) {
    if (strict ? Object.is(a, b) : a == b || a !== a && b !== b) return true;
    if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b) || Array.isArray(a) !== Array.isArray(b)) return false;
    if (seen.get(a) === b) return true;
    seen.set(a, b);
    if (a instanceof Date && b instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
    if (a instanceof RegExp && String(a) !== String(b)) return false;
    if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
    if (ArrayBuffer.isView(a) && (a.length !== b.length || !Array.prototype.every.call(a, (x, i) => Object.is(x, b[i])))) return false;
    if (a instanceof Number || a instanceof String || a instanceof Boolean) { if (!Object.is(a.valueOf(), b.valueOf())) return false; }
    if (a instanceof Map) {
      if (a.size !== b.size) return false;
      for (const [k, v] of a) {
        if (b.has(k)) { if (!deepEqual(v, b.get(k), strict, seen)) return false; }
        else if (![...b].some(([k2, v2]) => deepEqual(k, k2, strict, new Map(seen)) && deepEqual(v, v2, strict, new Map(seen)))) return false;
      }
    }
    if (a instanceof Set) {
      if (a.size !== b.size) return false;
      for (const v of a) if (!b.has(v) && ![...b].some((w) => deepEqual(v, w, strict, new Map(seen)))) return false;
    }
    const keys = (o) => [...Object.keys(o), ...(strict ? Object.getOwnPropertySymbols(o).filter((s) => Object.prototype.propertyIsEnumerable.call(o, s)) : [])];
    const ka = keys(a), kb = keys(b);
    return ka.length === kb.length && ka.every((k) => Object.hasOwn(b, k) && deepEqual(a[k], b[k], strict, seen));
  }

  const promisify = (f) => f[promisify.custom] ?? function (...args) {
    return new Promise((resolve, reject) => { f.call(this, ...args, (e, ...r) => (e ? reject(e) : resolve(r[0]))); });
  };
  promisify.custom = Symbol.for("nodejs.util.promisify.custom");
  Object.defineProperty(setTimeout, promisify.custom, { value: (ms, v) => new Promise((r) => { setTimeout(r, ms, v); }) });

  const inspect = Object.assign((v, o, ...rest) => host.inspect(v, typeof o === "boolean" ? { showHidden: o, depth: rest[0] } : o), { custom: CUSTOM, defaultOptions: {} });
  const util = {
    inspect, format: host.format, promisify, isDeepStrictEqual: (a, b) => deepEqual(a, b, true),
    callbackify: (f) => function (...args) { const done = args.pop(); f.apply(this, args).then((v) => done(null, v), (e) => done(e)); },
    deprecate: (f) => f, debuglog: () => () => {}, inherits(c, p) { Object.setPrototypeOf(c.prototype, p.prototype); c.super_ = p; },
    stripVTControlCharacters: (s) => s.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, ""), toUSVString: (s) => `${s}`.toWellFormed(),
    get TextEncoder() { return globalThis.TextEncoder; }, get TextDecoder() { return globalThis.TextDecoder; },
    isArray: Array.isArray,
    types: {
      isDate: (v) => v instanceof Date, isRegExp: (v) => v instanceof RegExp, isMap: (v) => v instanceof Map, isSet: (v) => v instanceof Set,
      isPromise: (v) => v instanceof Promise, isNativeError: (v) => v instanceof Error, isProxy: (v) => host.classOf(v) === 51,
      isTypedArray: (v) => ArrayBuffer.isView(v) && !(v instanceof DataView), isUint8Array: (v) => v instanceof Uint8Array,
      isArrayBuffer: (v) => v instanceof ArrayBuffer, isAnyArrayBuffer: (v) => v instanceof ArrayBuffer, isDataView: (v) => v instanceof DataView,
      isAsyncFunction: (f) => typeof f === "function" && host.functionKind(f) >= 3, isGeneratorFunction: (f) => typeof f === "function" && [2, 4].includes(host.functionKind(f)),
      isGeneratorObject: isType("Generator"), isWeakMap: isType("WeakMap"), isWeakSet: isType("WeakSet"), isSymbolObject: (v) => typeof v === "object" && isType("Symbol")(v),
      isBoxedPrimitive: (v) => v instanceof Number || v instanceof String || v instanceof Boolean,
    },
  };

  // assert

  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) {
      super(message);
      this.name = "AssertionError";
      Object.assign(this, { code: "ERR_ASSERTION", generatedMessage: false, actual, expected, operator });
    }
  }
  const assertFail = (actual, expected, message, operator, text) => {
    if (message instanceof Error) throw message;
    throw new AssertionError({ message: message ?? text, actual, expected, operator });
  };
  const shown = (v) => host.inspect(v, { depth: 5 });
  const ok = (v, message) => { if (!v) assertFail(v, true, message, "==", "The expression evaluated to a falsy value"); };
  const check = (operator, test, words) => (a, b, message) => {
    if (!test(a, b)) assertFail(a, b, message, operator, `${words}:\n\n${shown(a)}\n\n${operator.startsWith("not") ? "and" : "should equal"}\n\n${shown(b)}`);
  };
  const matches = (e, want) => {
    if (want === undefined) return true;
    if (want instanceof RegExp) return want.test(String(e));
    if (typeof want === "function") return want.prototype !== undefined && e instanceof want || (!Error.isPrototypeOf(want) && want !== Error && want.call({}, e) === true);
    return Object.keys(want).every((k) => (want[k] instanceof RegExp ? want[k].test(e[k]) : deepEqual(e[k], want[k], true)));
  };
  const rejected = (e, want, message, operator) => {
    if (typeof want === "string") { message = want; want = undefined; }
    if (!matches(e, want)) { if (want instanceof RegExp || typeof want === "object") assertFail(e, want, message, operator, `The error does not match:\n\n${shown(e)}`); throw e; }
  };
  const strict = Object.assign((v, m) => ok(v, m), {
    ok, AssertionError,
    equal: check("strictEqual", Object.is, "Expected values to be strictly equal"),
    notEqual: check("notStrictEqual", (a, b) => !Object.is(a, b), 'Expected "actual" to be strictly unequal to'),
    strictEqual: check("strictEqual", Object.is, "Expected values to be strictly equal"),
    notStrictEqual: check("notStrictEqual", (a, b) => !Object.is(a, b), 'Expected "actual" to be strictly unequal to'),
    deepEqual: check("deepStrictEqual", (a, b) => deepEqual(a, b, true), "Expected values to be strictly deep-equal"),
    deepStrictEqual: check("deepStrictEqual", (a, b) => deepEqual(a, b, true), "Expected values to be strictly deep-equal"),
    notDeepEqual: check("notDeepStrictEqual", (a, b) => !deepEqual(a, b, true), 'Expected "actual" not to be strictly deep-equal to'),
    notDeepStrictEqual: check("notDeepStrictEqual", (a, b) => !deepEqual(a, b, true), 'Expected "actual" not to be strictly deep-equal to'),
    fail(message = "Failed") { assertFail(undefined, undefined, message, "fail", "Failed"); },
    throws(f, want, message) {
      try { f(); } catch (e) { rejected(e, want, message, "throws"); return; }
      assertFail(undefined, want, typeof want === "string" ? want : message, "throws", "Missing expected exception.");
    },
    doesNotThrow(f, want, message) { try { f(); } catch (e) { assertFail(e, want, message, "doesNotThrow", `Got unwanted exception.\nActual message: "${e?.message}"`); } },
    async rejects(p, want, message) {
      try { await (typeof p === "function" ? p() : p); } catch (e) { rejected(e, want, message, "rejects"); return; }
      assertFail(undefined, want, typeof want === "string" ? want : message, "rejects", "Missing expected rejection.");
    },
    async doesNotReject(p, want, message) { try { await (typeof p === "function" ? p() : p); } catch (e) { assertFail(e, want, message, "doesNotReject", `Got unwanted rejection.\nActual message: "${e?.message}"`); } },
    match(s, re, message) { if (!re.test(s)) assertFail(s, re, message, "match", `The input did not match the regular expression ${re}. Input:\n\n${shown(s)}\n`); },
    doesNotMatch(s, re, message) { if (re.test(s)) assertFail(s, re, message, "doesNotMatch", `The input was expected to not match the regular expression ${re}. Input:\n\n${shown(s)}\n`); },
    ifError(v) { if (v !== null && v !== undefined) throw v; },
  });
  strict.strict = strict;
  const assert = Object.assign((v, m) => ok(v, m), strict, {
    equal: check("==", (a, b) => a == b || a !== a && b !== b, "Expected values to be loosely equal"),
    notEqual: check("!=", (a, b) => a != b, 'Expected "actual" to be loosely unequal to'),
    deepEqual: check("deepEqual", (a, b) => deepEqual(a, b, false), "Expected values to be loosely deep-equal"),
    notDeepEqual: check("notDeepEqual", (a, b) => !deepEqual(a, b, false), 'Expected "actual" not to be loosely deep-equal to'),
  });

  // fs

  const pathOf = (p) => {
    if (typeof p === "string") return p;
    if (p instanceof Uint8Array) return host.decode(p, false);
    if (p !== null && typeof p === "object" && p.protocol === "file:") return decodeURIComponent(p.pathname);
    throw badArgument("path", "of type string or an instance of Buffer or URL", p);
  };
  const encodingIn = (o) => (typeof o === "string" ? o : o?.encoding ?? null);
  const bytesOf = (data, encoding) => {
    if (typeof data === "string") return encode(data, encoding ?? "utf8");
    if (ArrayBuffer.isView(data)) return data;
    throw badArgument("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
  };

  class Stats {
    constructor([dir, size, ms]) {
      Object.assign(this, { dev: 1, mode: dir ? 0o40755 : 0o100644, nlink: 1, uid: 1000, gid: 1000, size, atimeMs: ms, mtimeMs: ms, ctimeMs: ms, birthtimeMs: ms,
        atime: new Date(ms), mtime: new Date(ms), ctime: new Date(ms), birthtime: new Date(ms) });
    }
    isDirectory() { return this.mode >= 0o40000 && this.mode < 0o50000; }
    isFile() { return this.mode >= 0o100000; }
    isSymbolicLink() { return false; }
    isFIFO() { return false; }
    isSocket() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
  }
  class Dirent {
    #dir;
    constructor(name, parent, dir) { this.name = name; this.parentPath = parent; this.path = parent; this.#dir = dir; }
    isDirectory() { return this.#dir; }
    isFile() { return !this.#dir; }
    isSymbolicLink() { return false; }
  }

  const open = new Map();
  let nextFD = 3;
  const file = (fd) => {
    const f = open.get(fd);
    if (f === undefined) throw error(Error, "EBADF", "EBADF: bad file descriptor");
    return f;
  };
  const exists = (p) => { try { host.fs("stat", p); return true; } catch { return false; } };
  const checkFlag = (p, flag) => {
    if (flag.includes("x") && exists(p)) throw Object.assign(error(Error, "EEXIST", `EEXIST: file already exists, open '${p}'`), { syscall: "open", path: p });
  };

  const sync = {
    readFile(p, o) {
      let b;
      if (p === 0 || p === "/dev/stdin") b = host.stdin(-1);
      else if (typeof p === "number") { const f = file(p); b = host.fs("open", f.path).subarray(f.at); f.at += b.length; }
      else b = host.fs("open", pathOf(p));
      const e = encodingIn(o);
      return e === null || e === "buffer" ? Buffer.from(b.buffer, b.byteOffset, b.byteLength) : decode(b, e);
    },
    writeFile(p, data, o) {
      const b = bytesOf(data, encodingIn(o));
      if (p === 1 || p === 2 || p === "/dev/stdout" || p === "/dev/stderr") { host.write(p === 1 || p === "/dev/stdout" ? 1 : 2, b); return; }
      if (typeof p === "number") { sync.write(p, b); return; }
      const flag = o?.flag ?? "w";
      p = pathOf(p);
      checkFlag(p, flag);
      host.fs(flag.startsWith("a") ? "append" : "write", p, b);
    },
    appendFile(p, data, o) {
      if (p === 1 || p === 2) host.write(p, bytesOf(data, encodingIn(o)));
      else host.fs("append", typeof p === "number" ? file(p).path : pathOf(p), bytesOf(data, encodingIn(o)));
    },
    access(p) { host.fs("stat", pathOf(p)); },
    stat(p, o) {
      try { return new Stats(host.fs("stat", pathOf(p))); } catch (e) { if (o?.throwIfNoEntry === false && e.code === "ENOENT") return undefined; throw e; }
    },
    readdir(p, o) {
      const dir = pathOf(p);
      const out = [];
      const walk = (d, prefix) => {
        const list = host.fs("scandir", d);
        for (let i = 0; i < list.length; i += 2) {
          out.push(o?.withFileTypes ? new Dirent(list[i], d, list[i + 1]) : prefix + list[i]);
          if (o?.recursive && list[i + 1]) walk(d + "/" + list[i], prefix + list[i] + "/");
        }
      };
      walk(dir, "");
      return out;
    },
    mkdir(p, o) {
      p = pathOf(p);
      if (!o?.recursive) { host.fs("mkdir", p); return undefined; }
      const first = exists(p) ? undefined : path.resolve(p);
      host.fs("mkdirp", p);
      return first;
    },
    mkdtemp(prefix) { const p = prefix + Array.from(crypto.randomBytes(3), (b) => b.toString(16).padStart(2, "0")).join(""); host.fs("mkdirp", p); return p; },
    rm(p, o) {
      p = pathOf(p);
      let s;
      try { s = sync.stat(p); } catch (e) { if (o?.force && e.code === "ENOENT") return; throw e; }
      if (s.isDirectory() && !o?.recursive) throw error(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${p}`);
      host.fs("rm", p);
    },
    rmdir(p, o) { host.fs(o?.recursive ? "rm" : "rmdir", pathOf(p)); },
    unlink(p) { host.fs("unlink", pathOf(p)); },
    rename(a, b) { host.fs("rename", pathOf(a), pathOf(b)); },
    copyFile(a, b) { host.fs("write", pathOf(b), host.fs("open", pathOf(a))); },
    cp(a, b, o) {
      if (!sync.stat(a).isDirectory()) { sync.copyFile(a, b); return; }
      if (!o?.recursive) throw error(Error, "ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: ${a}`);
      host.fs("mkdirp", pathOf(b));
      for (const e of sync.readdir(a, { withFileTypes: true })) sync.cp(`${a}/${e.name}`, `${b}/${e.name}`, o);
    },
    truncate(p, n = 0) { host.fs("truncate", typeof p === "number" ? file(p).path : pathOf(p), n); },
    realpath(p) { return host.fs("realpath", pathOf(p)); },
    utimes() {}, chmod() {}, chown() {}, fsync() {},
    open(p, flag = "r") {
      p = pathOf(p);
      checkFlag(p, flag);
      if (flag.startsWith("w")) host.fs("write", p, ""); else if (flag.startsWith("a")) host.fs("append", p, ""); else host.fs("stat", p);
      if (open.size >= 1024) throw error(Error, "EMFILE", `EMFILE: too many open files, open '${p}'`);
      open.set(nextFD, { path: path.resolve(p), at: 0, append: flag.startsWith("a") });
      return nextFD++;
    },
    close(fd) { file(fd); open.delete(fd); },
    fstat(fd) { return sync.stat(file(fd).path); },
    read(fd, into, at = 0, length = into.byteLength - at, position = null) {
      if (at !== null && typeof at === "object") ({ offset: at = 0, length = into.byteLength - at, position = null } = at);
      let b;
      if (fd === 0) b = host.stdin(length);
      else {
        const f = file(fd), from = position ?? f.at;
        b = host.fs("open", f.path).subarray(Number(from), Number(from) + length);
        if (position === null) f.at += b.length;
      }
      into.set(b, at);
      return b.length;
    },
    write(fd, data, at, length, position) {
      let b = bytesOf(data, typeof data === "string" ? length : undefined);
      if (typeof data !== "string" && typeof at === "number") b = b.subarray(at, at + (length ?? b.length));
      if (fd === 1 || fd === 2) { host.write(fd, b); return b.length; }
      const f = file(fd);
      const where = typeof data === "string" ? at : position;
      const old = host.fs("open", f.path);
      const from = f.append ? old.length : typeof where === "number" ? where : f.at;
      if (from === old.length) host.fs("append", f.path, b);
      else {
        const all = new Uint8Array(Math.max(old.length, from + b.length));
        all.set(old);
        all.set(b, from);
        host.fs("write", f.path, all);
      }
      if (typeof where !== "number") f.at = from + b.length;
      return b.length;
    },
  };
  sync.lstat = sync.stat;

  const promises = {}, fs = { constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 }, Stats, Dirent, promises };
  for (const [name, f] of Object.entries(sync)) {
    fs[`${name}Sync`] = f;
    promises[name] = async (...args) => f(...args);
    fs[name] = (...args) => {
      const done = args.pop();
      if (typeof done !== "function") throw badArgument("cb", "of type function", done);
      let r, e = null;
      try { r = f(...args); } catch (x) { e = x; }
      setImmediate(() => { if (e !== null) done(e); else if (name === "read" || name === "write") done(null, r, args[1]); else done(null, r); });
    };
  }
  fs.existsSync = (p) => { try { return exists(pathOf(p)); } catch { return false; } };
  fs.exists = (p, done) => { const r = fs.existsSync(p); setImmediate(() => done(r)); };
  promises.constants = fs.constants;
  promises.open = async (p, flag) => {
    const fd = sync.open(p, flag);
    return { fd, readFile: async (o) => sync.readFile(fd, o), writeFile: async (d, o) => sync.writeFile(fd, d, o), appendFile: async (d, o) => sync.appendFile(fd, d, o),
      read: async (b, ...a) => ({ bytesRead: sync.read(fd, b, ...a), buffer: b }), write: async (d, ...a) => ({ bytesWritten: sync.write(fd, d, ...a), buffer: d }),
      stat: async () => sync.fstat(fd), truncate: async (n) => sync.truncate(fd, n), close: async () => sync.close(fd),
      async *readLines() { yield* sync.readFile(fd, "utf8").replace(/\n$/, "").split("\n"); } };
  };
  fs.createWriteStream = (p, o) => {
    const s = new EventEmitter();
    host.fs(o?.flags === "a" ? "append" : "write", pathOf(p), "");
    return Object.assign(s, {
      path: p, bytesWritten: 0,
      write(data, encoding, done) {
        const b = bytesOf(data, typeof encoding === "string" ? encoding : undefined);
        host.fs("append", pathOf(p), b);
        s.bytesWritten += b.length;
        const f = typeof encoding === "function" ? encoding : done;
        if (f) queueMicrotask(f);
        return true;
      },
      end(data, ...rest) {
        if (data !== undefined && typeof data !== "function") s.write(data, ...rest);
        setImmediate(() => { s.emit("finish"); s.emit("close"); });
        const f = [data, ...rest].find((x) => typeof x === "function");
        if (f) setImmediate(f);
      },
    });
  };
  fs.createReadStream = (p, o) => {
    const s = new EventEmitter();
    const text = () => sync.readFile(p, encodingIn(o));
    setImmediate(() => {
      try {
        const d = text();
        if (d.length > 0) s.emit("data", d);
        s.emit("end");
        s.emit("close");
      } catch (e) { s.emit("error", e); }
    });
    s.setEncoding = (e) => { o = e; return s; };
    s.pipe = (to) => { s.on("data", (d) => to.write(d)); s.on("end", () => { if (to.fd === undefined) to.end(); }); return to; };
    s[Symbol.asyncIterator] = async function* () { const d = text(); if (d.length > 0) yield d; };
    return s;
  };

  // crypto

  class Hash {
    #parts = []; #name; #key;
    constructor(name, key) { this.#name = name; this.#key = key; host.hash(name, new Uint8Array(0), key); }
    update(data, encoding) { this.#parts.push(Uint8Array.from(bytesOf(data, encoding))); return this; }
    copy() { const h = new Hash(this.#name, this.#key); h.#parts = [...this.#parts]; return h; }
    digest(encoding) {
      const b = host.hash(this.#name, Buffer.concat(this.#parts), this.#key);
      return encoding === undefined || encoding === "buffer" ? Buffer.from(b) : decode(b, encoding);
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

  // The small ones.

  const querystring = {
    escape: encodeURIComponent, unescape: decodeURIComponent,
    stringify: (o, sep = "&", eq = "=") => Object.entries(o ?? {}).flatMap(([k, v]) => [v].flat().map((x) => `${encodeURIComponent(k)}${eq}${encodeURIComponent(x ?? "")}`)).join(sep),
    parse(s, sep = "&", eq = "=") {
      const o = Object.create(null);
      for (const part of `${s}`.split(sep)) {
        if (part === "") continue;
        const [k, ...v] = part.split(eq).map((x) => decodeURIComponent(x.replaceAll("+", " ")));
        const value = v.join(eq);
        o[k] = k in o ? [o[k], value].flat() : value;
      }
      return o;
    },
  };
  querystring.encode = querystring.stringify;
  querystring.decode = querystring.parse;

  class StringDecoder {
    #d; #encoding;
    constructor(encoding) { this.#encoding = encodingOf(encoding); this.#d = new TextDecoder(this.#encoding === "utf16le" ? "utf-16le" : "utf-8", { ignoreBOM: true }); }
    write(b) { return ["utf8", "utf16le"].includes(this.#encoding) ? this.#d.decode(b, { stream: true }) : decode(b, this.#encoding); }
    end(b) { return ["utf8", "utf16le"].includes(this.#encoding) ? this.#d.decode(b) : b === undefined ? "" : decode(b, this.#encoding); }
  }

  const timersPromises = {
    setTimeout: (ms, v, o) => new Promise((resolve, reject) => {
      const id = setTimeout(resolve, ms, v);
      o?.signal?.addEventListener("abort", () => { clearTimeout(id); reject(o.signal.reason); });
    }),
    setImmediate: (v) => new Promise((resolve) => { setImmediate(resolve, v); }),
    async *setInterval(ms, v) { for (;;) { await timersPromises.setTimeout(ms); yield v; } },
    scheduler: { wait: (ms) => timersPromises.setTimeout(ms), yield: () => timersPromises.setImmediate() },
  };

  const os = {
    EOL: "\n", platform: () => "linux", type: () => "Linux", arch: () => "wasm32", release: () => "0", hostname: () => "toolcell", homedir: () => "/", tmpdir: () => "/",
    cpus: () => [{ model: "virtual", speed: 0, times: {} }], totalmem: () => 0, freemem: () => 0, uptime: () => host.now() / 1000, loadavg: () => [0, 0, 0],
    networkInterfaces: () => ({}), userInfo: () => ({ username: "user", uid: 1000, gid: 1000, homedir: "/", shell: null }), availableParallelism: () => 1, endianness: () => "LE",
  };

  const makers = {
    assert: () => assert, "assert/strict": () => strict, buffer: () => ({ Buffer, atob, btoa, constants: { MAX_LENGTH: 2 ** 31 - 1 } }), console: () => console, crypto: () => crypto,
    events: () => EventEmitter, fs: () => fs, "fs/promises": () => promises, os: () => os, path: () => path, "path/posix": () => path, process: () => process,
    querystring: () => querystring, string_decoder: () => ({ StringDecoder }), util: () => util,
    module: () => ({ createRequire: () => require, builtinModules: Object.keys(makers) }),
    perf_hooks: () => ({ performance: globalThis.performance }),
    timers: () => ({ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises: timersPromises }),
    "timers/promises": () => timersPromises,
    url: () => ({ URL: globalThis.URL, URLSearchParams: globalThis.URLSearchParams, fileURLToPath: pathOf2, pathToFileURL: (p) => new globalThis.URL("file://" + path.resolve(p)),
      parse: (s) => { const u = new globalThis.URL(s, "http://localhost"); return { href: u.href, protocol: u.protocol, host: u.host, hostname: u.hostname, port: u.port || null, pathname: u.pathname, search: u.search, query: u.search.slice(1), hash: u.hash || null }; },
      format: (u) => `${u.href ?? u}` }),
  };
  const pathOf2 = (u) => pathOf(typeof u === "string" ? new globalThis.URL(u) : u);

  // require

  const cache = Object.create(null), builtin = new Map();
  const missing = (spec) => Object.assign(error(Error, "MODULE_NOT_FOUND", `Cannot find module '${spec}'`), { specifier: spec, requireStack: [] });
  function find(spec, dir) {
    const full = path.resolve(dir, spec);
    for (const suffix of ["", ".js", ".cjs", ".json", "/index.js"]) {
      try { if (!host.fs("stat", full + suffix)[0]) return full + suffix; } catch {}
    }
    return null;
  }
  function requireFrom(dir) {
    const require = (spec) => {
      if (typeof spec !== "string") throw badArgument("id", "of type string", spec);
      const name = spec.replace(/^node:/, "");
      if (Object.hasOwn(makers, name)) {
        if (!builtin.has(name)) builtin.set(name, makers[name]());
        return builtin.get(name);
      }
      const full = /^(\.{0,2}\/|\.{1,2}$)/.test(spec) ? find(spec, dir ?? host.cwd()) : null;
      if (full === null) throw missing(spec);
      if (cache[full] !== undefined) return cache[full].exports;
      const text = host.decode(host.fs("open", full), false);
      const module = { id: full, filename: full, path: path.dirname(full), exports: {}, loaded: false, children: [], paths: [] };
      cache[full] = module;
      try {
        if (full.endsWith(".json")) module.exports = JSON.parse(text);
        else {
          const inner = requireFrom(path.dirname(full));
          host.evalModule(text, full).call(module.exports, module.exports, inner, module, full, path.dirname(full));
        }
      } catch (e) {
        delete cache[full];
        throw e;
      }
      module.loaded = true;
      return module.exports;
    };
    require.cache = cache;
    require.resolve = (spec) => {
      if (Object.hasOwn(makers, spec.replace(/^node:/, ""))) return spec;
      const full = find(spec, dir ?? host.cwd());
      if (full === null) throw missing(spec);
      return full;
    };
    return require;
  }
  const require = requireFrom(null);
  const module = { id: ".", exports: {}, loaded: false, children: [], paths: [] };
  require.main = module;

  return { process, Buffer, require, module, atExit };
});
