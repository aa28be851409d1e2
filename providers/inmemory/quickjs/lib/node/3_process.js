// process: its streams, exit codes, handlers and environment.

let last;
const exitCode = () => (last?.run === host.run() ? last.code : undefined);
const setExitCode = (code) => { last = { run: host.run(), code }; };
// codeOf returns a program's exit code as a number; null and undefined are none.
function codeOf(v) {
  if (v === undefined || v === null) return v;
  const n = typeof v === "string" && v !== "" ? +v : v;
  if (typeof n !== "number" || typeof v === "string" && Number.isNaN(n)) throw badArgument("code", "of type number", v);
  if (!Number.isInteger(n)) throw error(RangeError, "ERR_OUT_OF_RANGE", `The value of "code" is out of range. It must be an integer. Received ${n}`);
  return n;
}
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
  stdout: stream(1), stderr: stream(2), hrtime,
  cwd: () => host.cwd(), chdir: (p) => host.chdir(`${p}`), umask: () => 0o22, uptime: () => host.now() / 1000,
  nextTick(f, ...args) {
    if (typeof f !== "function") throw badArgument("callback", "of type function", f);
    host.nextTick(f, ...args);
  },
  exit(code = exitCode()) {
    code = codeOf(code) ?? 0;
    setExitCode(code);
    atExit(code);
    host.exit(+(exitCode() ?? code));
  },
  abort() { host.exit(134); },
  memoryUsage: Object.assign(() => ({ rss: host.memory(), heapTotal: host.memory(), heapUsed: host.memory(), external: 0, arrayBuffers: 0 }), { rss: () => host.memory() }),
  cpuUsage: () => ({ user: Math.round(host.now() * 1000), system: 0 }),
  emitWarning(w) { host.write(2, `(node) ${w instanceof Error ? w : `Warning: ${w}`}\n`); },
  getuid: () => 1000, getgid: () => 1000,
  kill() { throw error(Error, "EPERM", "kill EPERM"); },
  getBuiltinModule: (name) => (Object.hasOwn(makers, `${name}`.replace(/^node:/, "")) ? require(name) : undefined),
});
// atExit calls the exit listeners, once in a run.
let exitRun;
function atExit(code) {
  if (exitRun === host.run() || process.listenerCount("exit") === 0) return;
  exitRun = host.run();
  host.leave();
  process.emit("exit", code);
}

// atFault does so where an error ends the program, and takes what they throw.
function atFault(code) {
  process.exitCode = code;
  try { atExit(code); } catch (e) { host.write(2, `Uncaught ${host.inspect(e)}\n`); }
}

// beforeExit calls its listeners, and returns whether there are any.
function beforeExit(code) {
  if (process.listenerCount("beforeExit") === 0) return false;
  process.emit("beforeExit", code);
  return true;
}

// onUncaught and onRejection take what no code caught to the program's own
// handlers, and return whether there are any.
function onUncaught(e) {
  if (process.listenerCount("uncaughtException") === 0) return false;
  process.emit("uncaughtException", e, "uncaughtException");
  return true;
}
const taken = new WeakSet(); // promises whose handlers were called
function onRejection(reason, promise) {
  if (taken.has(promise)) return true;
  const listened = process.listenerCount("unhandledRejection") > 0;
  if (!listened && process.listenerCount("uncaughtException") === 0) return false;
  taken.add(promise);
  if (listened) process.emit("unhandledRejection", reason, promise);
  else process.emit("uncaughtException", reason, "unhandledRejection");
  return true;
}

let env;
// textual keeps texts only, as an environment does.
const textual = (vars) => new Proxy(vars, {
  set(o, k, v) { o[k] = `${v}`; return true; },
  defineProperty(o, k, d) { return Reflect.defineProperty(o, k, "value" in d ? { ...d, value: `${d.value}` } : d); },
});
const lookup = () => (env !== undefined && env.run === host.run() ? env.vars : (env = { run: host.run(), vars: textual(host.env()) }).vars);
Object.defineProperties(process, {
  env: { enumerable: true, configurable: true, get: lookup, set(v) { env = { run: host.run(), vars: v }; } },
  exitCode: { enumerable: true, configurable: true, get: exitCode,
    set(v) { const code = codeOf(v); setExitCode(code); host.setExitCode(code ?? 0); } },
  stdin: { enumerable: true, configurable: true, get: stdin },
  [Symbol.toStringTag]: { value: "process" },
});

let input;
function stdin() {
  if (input?.run === host.run()) return input.stream;
  const s = new Readable({ highWaterMark: 65536, read() {
    setImmediate(() => {
      try {
        const b = host.stdin(65536);
        s.push(b.length === 0 ? null : Buffer.from(b));
      } catch (e) { s.destroy(e); }
    });
  } });
  Object.assign(s, { fd: 0, isTTY: false, unref: () => s, ref: () => s });
  input = { run: host.run(), stream: s };
  return s;
}
