// The small modules, and the table of all.

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
  EOL: "\n", platform: () => "linux", type: () => "Linux", arch: () => "wasm32", release: () => "0", hostname: () => "toolcell", homedir: () => "/", tmpdir: () => "/tmp",
  cpus: () => [{ model: "virtual", speed: 0, times: {} }], totalmem: () => 0, freemem: () => 0, uptime: () => host.now() / 1000, loadavg: () => [0, 0, 0],
  networkInterfaces: () => ({}), userInfo: () => ({ username: "user", uid: 1000, gid: 1000, homedir: "/", shell: null }), availableParallelism: () => 1, endianness: () => "LE",
};

const makers = {
  assert: () => assert, "assert/strict": () => strict, buffer: () => ({ Buffer, atob, btoa, constants: { MAX_LENGTH: 2 ** 31 - 1 } }), console: () => console, crypto: () => crypto,
  events: () => EventEmitter, fs: () => fs, "fs/promises": () => promises, os: () => os, path: () => path, "path/posix": () => path, process: () => process,
  querystring: () => querystring, string_decoder: () => ({ StringDecoder }), util: () => util,
  module: () => ({ createRequire: () => require, builtinModules: Object.keys(makers) }),
  readline: () => readline, "readline/promises": () => readlinePromises, stream: () => streams, "stream/promises": () => streamPromises, zlib: () => zlib,
  perf_hooks: () => ({ performance: globalThis.performance }),
  timers: () => ({ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises: timersPromises }),
  "timers/promises": () => timersPromises,
  url: () => ({ URL: globalThis.URL, URLSearchParams: globalThis.URLSearchParams, fileURLToPath: pathOf2, pathToFileURL: (p) => new globalThis.URL("file://" + path.resolve(p)),
    parse: (s) => { const u = new globalThis.URL(s, "http://localhost"); return { href: u.href, protocol: u.protocol, host: u.host, hostname: u.hostname, port: u.port || null, pathname: u.pathname, search: u.search, query: u.search.slice(1), hash: u.hash || null }; },
    format: (u) => `${u.href ?? u}` }),
};
const pathOf2 = (u) => pathOf(typeof u === "string" ? new globalThis.URL(u) : u);
