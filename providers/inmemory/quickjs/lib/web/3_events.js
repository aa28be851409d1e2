// Events, and what ends things: AbortController and AbortSignal.

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
