(() => {
  const internals = Deno[Deno.internal];
  if (internals.toolcell) return;
  const VALUE = "application/vnd.toolcell.value";
  const core = internals.core, jupyter = internals.jupyter, plain = jupyter.broadcastResult;
  const broadcast = Deno.jupyter.broadcast, decoder = new TextDecoder();

  // toJSON returns the text of a value that JSON gives back unchanged, else "".
  const toJSON = __JSVALUE__;

  jupyter.broadcastResult = async (count, value) => {
    const text = toJSON(value);
    if (text === "") return await plain(count, value);
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
