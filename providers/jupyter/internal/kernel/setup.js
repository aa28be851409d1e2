(() => {
  const internals = Deno[Deno.internal];
  if (internals.toolcell) return;
  const VALUE = "application/vnd.toolcell.value";
  const core = internals.core, jupyter = internals.jupyter, plain = jupyter.broadcastResult;
  const broadcast = Deno.jupyter.broadcast, stringify = JSON.stringify, decoder = new TextDecoder();

  // faithful reports whether JSON can carry the value without changing it.
  const faithful = (v, seen) => {
    if (v === null || typeof v === "string" || typeof v === "boolean") return true;
    if (typeof v === "number") return Number.isFinite(v) && !Object.is(v, -0);
    if (typeof v !== "object" || seen.includes(v) || seen.length > 200) return false;
    const proto = Object.getPrototypeOf(v), list = Array.isArray(v);
    if (!list && proto !== Object.prototype && proto !== null || typeof v.toJSON === "function") return false;
    if (list && Object.keys(v).length !== v.length || Object.getOwnPropertySymbols(v).length > 0) return false;
    return Object.values(v).every((x) => faithful(x, [...seen, v]));
  };

  jupyter.broadcastResult = async (count, value) => {
    let text;
    try {
      if (faithful(value, [])) text = stringify(value);
    } catch { /* a getter that throws: the runtime's own form tells it */ }
    if (text === undefined || text.length > 1 << 20) return await plain(count, value);
    const data = await jupyter.formatInner(value, false);
    data["text/plain"] ??= Deno.inspect(value);
    await broadcast("execute_result", {
      execution_count: count, data: { ...data, [VALUE]: text }, metadata: {}, transient: {},
    });
  };

  // The kernel shows what console prints only, and exit ends the kernel.
  class ProcessExit extends Error {
    constructor(code) {
      super(String(code ?? 0));
      this.name = "ProcessExit";
    }
  }
  const exit = (code) => {
    throw new ProcessExit(code ?? globalThis.process?.exitCode);
  };
  const writer = (error, pieces = new TextDecoder()) => (data, ...rest) => {
    core.print(typeof data === "string" ? data : pieces.decode(data, { stream: true }), error);
    const done = rest.at(-1);
    if (typeof done === "function") queueMicrotask(() => done());
    return true;
  };
  Deno.exit = exit;
  if (globalThis.process) {
    process.exit = process.reallyExit = exit;
    process.stdout.write = writer(false);
    process.stderr.write = writer(true);
  }
  for (const [stream, error] of [[Deno.stdout, false], [Deno.stderr, true]]) {
    const put = writer(error);
    stream.writeSync = (p) => (put(p), p.length);
    stream.write = async (p) => (put(p), p.length);
  }

  const text = (packed) => decoder.decode(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)));
  const saved = [], home = Deno.cwd();
  let own;
  const environment = (env) => {
    const names = {};
    for (const [name, value] of Object.entries(env)) {
      names[text(name)] = Deno.env.get(text(name));
      Deno.env.set(text(name), text(value));
    }
    return names;
  };
  const temp = (name) => (Deno.env.get("TMPDIR") || Deno.env.get("TEMP") || "/tmp") + "/" + name;
  internals.toolcell = {
    clear() {
      if (own) Deno.removeSync(own, { recursive: true });
    },
    remove(name) {
      Deno.removeSync(temp(name), { recursive: true });
    },
    print: core.print,
    start(args) {
      if (args.dir) {
        Deno.mkdirSync(temp(args.dir), { recursive: true, mode: 0o700 });
        Deno.chdir(temp(args.dir));
      } else if (args.cwd) {
        Deno.chdir(home);
        Deno.chdir(text(args.cwd));
      }
      environment(args.env);
    },
    enter(args) {
      internals.toolcell.leave();
      if (args.private) Deno.chdir(own = Deno.makeTempDirSync({ prefix: "toolcell-" }));
      saved.push(environment(args.env));
    },
    leave() {
      while (saved.length > 0) {
        for (const [name, value] of Object.entries(saved.pop())) {
          if (value === undefined) Deno.env.delete(name);
          else Deno.env.set(name, value);
        }
      }
    },
  };
})()
