// The small modules, and the table of all.

// What a StringDecoder keeps is the part of a character that the next bytes end.
const unfinished = {
  utf8(b) {
    for (let n = 1; n <= Math.min(3, b.length); n++) {
      const x = b[b.length - n];
      if ((x & 0xc0) !== 0x80) return x >= 0xc0 && n < (x >= 0xf0 && x < 0xf5 ? 4 : x >= 0xe0 && x < 0xf0 ? 3 : x < 0xe0 ? 2 : 0) ? n : 0;
    }
    return 0;
  },
  utf16le(b) { const odd = b.length % 2, high = b[b.length - 1 - odd]; return odd + (b.length >= 2 + odd && high >= 0xd8 && high <= 0xdb ? 2 : 0); },
  base64: (b) => b.length % 3, base64url: (b) => b.length % 3,
};
class StringDecoder {
  #rest = Buffer.alloc(0);
  constructor(encoding) { this.encoding = encodingOf(encoding); }
  write(b) {
    if (typeof b === "string") return b;
    if (!ArrayBuffer.isView(b)) throw badArgument("buf", "an instance of Buffer, TypedArray, or DataView", b);
    const all = this.#rest.length === 0 ? viewOf(b) : Buffer.concat([this.#rest, viewOf(b)]), keep = unfinished[this.encoding]?.(all) ?? 0;
    this.#rest = Buffer.from(all.subarray(all.length - keep));
    return decode(all.subarray(0, all.length - keep), this.encoding);
  }
  end(b) {
    const s = b === undefined ? "" : this.write(b), rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return s + decode(rest, this.encoding);
  }
  text(b, at) { this.#rest = Buffer.alloc(0); return this.write(b.slice(at)); }
}

const later = (start, stop, v, signal) => new Promise((resolve, reject) => {
  if (signal?.aborted) { reject(aborted(signal)); return; }
  const off = () => { stop(id); reject(aborted(signal)); };
  const id = start(() => { signal?.removeEventListener("abort", off); resolve(v); });
  signal?.addEventListener("abort", off, { once: true });
});
const timersPromises = {
  setTimeout: (ms, v, o) => later((f) => { const t = setTimeout(f, ms); if (o?.ref === false) t.unref(); return t; }, clearTimeout, v, o?.signal),
  setImmediate: (v, o) => later(setImmediate, clearImmediate, v, o?.signal),
  async *setInterval(ms, v, o) { for (;;) { await timersPromises.setTimeout(ms, undefined, o); yield v; } },
  scheduler: { wait: (ms, o) => timersPromises.setTimeout(ms, undefined, o), yield: () => timersPromises.setImmediate() },
};

const os = {
  EOL: "\n", platform: () => "linux", type: () => "Linux", arch: () => "wasm32", release: () => "0", hostname: () => "toolcell", homedir: () => "/", tmpdir: () => "/tmp",
  cpus: () => [{ model: "virtual", speed: 0, times: {} }], totalmem: () => 0, freemem: () => 0, uptime: () => host.now() / 1000, loadavg: () => [0, 0, 0],
  networkInterfaces: () => ({}), userInfo: () => ({ username: "user", uid: 1000, gid: 1000, homedir: "/", shell: null }), availableParallelism: () => 1, endianness: () => "LE",
  constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGUSR1: 10, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15 } },
};

// Programs cannot ask for names.
const unasked = (call, code, name) => Object.assign(error(Error, code, `${call} ${code} ${name}: programs have no name server`), { syscall: call, hostname: name });
const dns = { promises: {} };
for (const [name, call] of [["lookup", "getaddrinfo"], ["resolve", "queryA"], ["resolve4", "queryA"], ["resolve6", "queryAaaa"], ["resolveMx", "queryMx"], ["resolveTxt", "queryTxt"], ["reverse", "getHostByAddr"]]) {
  const fault = (host) => unasked(call, name === "lookup" ? "EAI_AGAIN" : "ECONNREFUSED", host);
  dns[name] = (host, ...rest) => { const done = rest.at(-1); if (typeof done !== "function") throw badArgument("callback", "of type function", done); setImmediate(() => done(fault(host))); };
  dns.promises[name] = async (host) => { throw fault(host); };
}

const makers = {
  assert: () => assert, "assert/strict": () => strict, buffer: () => ({ Buffer, atob, btoa, constants: { MAX_LENGTH: 2 ** 31 - 1 } }), console: () => console, crypto: () => crypto, dns: () => dns, "dns/promises": () => dns.promises,
  events: () => EventEmitter, fs: () => fs, "fs/promises": () => promises, os: () => os, path: () => path, "path/posix": () => path, process: () => process,
  string_decoder: () => ({ StringDecoder }), util: () => util,
  module: () => ({ createRequire: () => require, builtinModules: Object.keys(makers), isBuiltin: (name) => Object.hasOwn(makers, `${name}`.replace(/^node:/, "")) }),
  readline: () => readline, "readline/promises": () => readlinePromises, stream: () => streams, "stream/promises": () => streamPromises, zlib: () => zlib,
  perf_hooks: () => ({ performance: globalThis.performance }),
  timers: () => ({ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises: timersPromises }),
  "timers/promises": () => timersPromises,
  tty: () => ({ isatty: () => false }),
  url: () => url, "util/types": () => util.types,
};
