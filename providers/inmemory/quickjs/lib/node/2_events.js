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
