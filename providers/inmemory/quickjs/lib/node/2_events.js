// events

const listening = (f) => { if (typeof f !== "function") throw badArgument("listener", "of type function", f); return f; };
const emitters = new WeakMap(); // the listeners of each, by the events' names
const listenersOf = (emitter) => {
  let of = emitters.get(emitter);
  if (of === undefined) emitters.set(emitter, of = new Map());
  return of;
};
const listOf = (emitter, name) => emitters.get(emitter)?.get(name) ?? [];
const addTo = (emitter, name, f, first) => {
  const of = listenersOf(emitter);
  listening(f);
  if (of.has("newListener")) emitter.emit("newListener", name, f.listener ?? f);
  of.set(name, first ? [f, ...listOf(emitter, name)] : [...listOf(emitter, name), f]);
  return emitter;
};
const onceOf = (emitter, name, f) => {
  listening(f);
  const g = (...args) => { emitter.removeListener(name, g); return f.apply(emitter, args); };
  g.listener = f;
  return g;
};
// callableClass makes a class one that can be called, as those of node can: with an object
// that inherits from it, which becomes an instance, or for a new one.
let adopted;
const callableClass = (C) => {
  const P = new Proxy(C, { apply(_, self, args) {
    if (!(self instanceof C)) return new P(...args);
    adopted = self;
    return Reflect.construct(C, args);
  } });
  Object.defineProperty(C.prototype, "constructor", { value: P, writable: true, configurable: true });
  return P;
};
const EventEmitter = callableClass(class EventEmitter {
  constructor(options) {
    const self = adopted;
    adopted = undefined;
    if (options?.captureRejections === true) throw badValue("options.captureRejections", true, "cannot be served");
    if (self !== undefined) return self;
  }
  on(name, f) { return this.addListener(name, f); }
  addListener(name, f) { return addTo(this, name, f, false); }
  prependListener(name, f) { return addTo(this, name, f, true); }
  once(name, f) { return this.on(name, onceOf(this, name, f)); }
  prependOnceListener(name, f) { return this.prependListener(name, onceOf(this, name, f)); }
  off(name, f) { return this.removeListener(name, f); }
  removeListener(name, f) {
    listening(f);
    const list = listOf(this, name), i = list.findLastIndex((g) => g === f || g.listener === f);
    if (i < 0) return this;
    if (list.length === 1) listenersOf(this).delete(name); else listenersOf(this).set(name, list.toSpliced(i, 1));
    if (listenersOf(this).has("removeListener")) this.emit("removeListener", name, list[i].listener ?? f);
    return this;
  }
  removeAllListeners(name) {
    if (!listenersOf(this).has("removeListener")) { if (name === undefined) listenersOf(this).clear(); else listenersOf(this).delete(name); return this; }
    const names = name === undefined ? [...listenersOf(this).keys()].filter((k) => k !== "removeListener") : [name];
    for (const k of names) for (const f of listOf(this, k).toReversed()) this.removeListener(k, f);
    if (name === undefined) listenersOf(this).clear();
    return this;
  }
  emit(name, ...args) {
    if (name === "error") for (const f of listOf(this, EventEmitter.errorMonitor)) f.apply(this, args);
    const list = listOf(this, name);
    if (list.length === 0) {
      if (name === "error") throw args[0] instanceof Error ? args[0] : Object.assign(error(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${typeof args[0] === "string" ? `'${args[0]}'` : host.inspect(args[0])})`), { context: args[0] });
      return false;
    }
    for (const f of list) f.apply(this, args);
    return true;
  }
  listeners(name) { return listOf(this, name).map((f) => f.listener ?? f); }
  rawListeners(name) { return [...listOf(this, name)]; }
  listenerCount(name, f) { return f === undefined ? listOf(this, name).length : listOf(this, name).filter((g) => g === f || g.listener === f).length; }
  eventNames() { return [...listenersOf(this).keys()]; }
  setMaxListeners() { return this; } // there is no warning of many
  getMaxListeners() { return EventEmitter.defaultMaxListeners; }
});
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.defaultMaxListeners = 10;
EventEmitter.errorMonitor = Symbol("events.errorMonitor");
EventEmitter.listenerCount = (emitter, name) => emitter.listenerCount(name);
EventEmitter.getEventListeners = (emitter, name) => emitter.listeners(name);
EventEmitter.getMaxListeners = (emitter) => emitter.getMaxListeners();
EventEmitter.setMaxListeners = () => {};
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
