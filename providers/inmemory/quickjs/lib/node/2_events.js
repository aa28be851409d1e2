// events

const listening = (f) => { if (typeof f !== "function") throw badArgument("listener", "of type function", f); return f; };
const limitOfListeners = (name, n) => { if (typeof n !== "number") throw badArgument(name, "of type number", n); if (!(n >= 0)) throw outOfRange(name, ">= 0", n); return n; };
class EventEmitter {
  #of = new Map(); #max;
  constructor(options) { if (options?.captureRejections === true) throw badValue("options.captureRejections", true, "cannot be served"); }
  #list(name) { return this.#of.get(name) ?? []; }
  #add(name, f, first) {
    listening(f);
    if (this.#of.has("newListener")) this.emit("newListener", name, f.listener ?? f);
    this.#of.set(name, first ? [f, ...this.#list(name)] : [...this.#list(name), f]);
    return this;
  }
  #once(name, f) {
    listening(f);
    const g = (...args) => { this.removeListener(name, g); return f.apply(this, args); };
    g.listener = f;
    return g;
  }
  on(name, f) { return this.addListener(name, f); }
  addListener(name, f) { return this.#add(name, f, false); }
  prependListener(name, f) { return this.#add(name, f, true); }
  once(name, f) { return this.on(name, this.#once(name, f)); }
  prependOnceListener(name, f) { return this.prependListener(name, this.#once(name, f)); }
  off(name, f) { return this.removeListener(name, f); }
  removeListener(name, f) {
    listening(f);
    const list = this.#list(name), i = list.findLastIndex((g) => g === f || g.listener === f);
    if (i < 0) return this;
    if (list.length === 1) this.#of.delete(name); else this.#of.set(name, list.toSpliced(i, 1));
    if (this.#of.has("removeListener")) this.emit("removeListener", name, list[i].listener ?? f);
    return this;
  }
  removeAllListeners(name) {
    if (!this.#of.has("removeListener")) { if (name === undefined) this.#of.clear(); else this.#of.delete(name); return this; }
    const names = name === undefined ? [...this.#of.keys()].filter((k) => k !== "removeListener") : [name];
    for (const k of names) for (const f of this.#list(k).toReversed()) this.removeListener(k, f);
    if (name === undefined) this.#of.clear();
    return this;
  }
  emit(name, ...args) {
    if (name === "error") for (const f of this.#list(EventEmitter.errorMonitor)) f.apply(this, args);
    const list = this.#list(name);
    if (list.length === 0) {
      if (name === "error") throw args[0] instanceof Error ? args[0] : Object.assign(error(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${typeof args[0] === "string" ? `'${args[0]}'` : host.inspect(args[0])})`), { context: args[0] });
      return false;
    }
    for (const f of list) f.apply(this, args);
    return true;
  }
  listeners(name) { return this.#list(name).map((f) => f.listener ?? f); }
  rawListeners(name) { return [...this.#list(name)]; }
  listenerCount(name, f) { return f === undefined ? this.#list(name).length : this.#list(name).filter((g) => g === f || g.listener === f).length; }
  eventNames() { return [...this.#of.keys()]; }
  setMaxListeners(n) { this.#max = limitOfListeners("setMaxListeners", n); return this; }
  getMaxListeners() { return this.#max ?? EventEmitter.defaultMaxListeners; }
}
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.defaultMaxListeners = 10;
EventEmitter.errorMonitor = Symbol("events.errorMonitor");
EventEmitter.listenerCount = (emitter, name) => emitter.listenerCount(name);
EventEmitter.getEventListeners = (emitter, name) => emitter.listeners(name);
EventEmitter.getMaxListeners = (emitter) => emitter.getMaxListeners();
EventEmitter.setMaxListeners = (n, ...emitters) => { if (emitters.length === 0) EventEmitter.defaultMaxListeners = limitOfListeners("n", n); for (const e of emitters) e.setMaxListeners?.(n); };
EventEmitter.once = (emitter, name, options) => new Promise((resolve, reject) => {
  const target = emitter instanceof EventTarget, signal = options?.signal;
  if (signal?.aborted) { reject(aborted(signal)); return; }
  const listen = (n, f) => { if (target) emitter.addEventListener(n, f); else emitter.on(n, f); };
  const drop = (n, f) => { if (target) emitter.removeEventListener(n, f); else emitter.off(n, f); };
  const end = (f) => (...args) => { drop(name, done); drop("error", fail); signal?.removeEventListener("abort", stop); f(args); };
  const fail = end(([e]) => reject(e)), done = end(resolve), stop = end(() => reject(aborted(signal)));
  listen(name, done);
  if (name !== "error" && !target) listen("error", fail);
  signal?.addEventListener("abort", stop);
});
EventEmitter.on = (emitter, name, options) => {
  const got = [], waiting = [], signal = options?.signal;
  let failed, over = false;
  if (signal?.aborted) throw aborted(signal);
  const settle = () => {
    while (waiting.length > 0 && (got.length > 0 || failed !== undefined || over)) {
      const w = waiting.shift();
      if (got.length > 0) w.resolve({ done: false, value: got.shift() });
      else if (failed !== undefined) { const { e } = failed; failed = undefined; w.reject(e); }
      else w.resolve({ done: true, value: undefined });
    }
  };
  const take = (...args) => { got.push(args); settle(); };
  const end = () => { over = true; emitter.off(name, take); emitter.off("error", fail); for (const c of options?.close ?? []) emitter.off(c, end); settle(); };
  const fail = (e) => { failed = { e }; end(); };
  emitter.on(name, take);
  if (name !== "error") emitter.on("error", fail);
  for (const c of options?.close ?? []) emitter.on(c, end);
  signal?.addEventListener("abort", () => fail(aborted(signal)));
  return {
    next: () => new Promise((resolve, reject) => { waiting.push({ resolve, reject }); settle(); }),
    return: async () => { got.length = 0; failed = undefined; end(); return { done: true, value: undefined }; },
    throw: async (e) => { fail(e); },
    [Symbol.asyncIterator]() { return this; },
  };
};
