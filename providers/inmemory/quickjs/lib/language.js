// Methods of the language itself that the engine lacks or gets wrong. See
// lib.go for how they come to stand in the place of the engine's own.
(function (host) {
  "use strict";
  const exports = {};

  // The engine's iterator helpers call return() of what they iterate over when
  // they end early, whether it has one or not. What has none gets one that
  // does nothing.
  const closable = (it) => {
    if (it === null || typeof it !== "object" && typeof it !== "function" || typeof it.return === "function") return it;
    const { next } = it;
    return { __proto__: Iterator.prototype, next: (...args) => Reflect.apply(next, it, args), return: () => ({ done: true, value: undefined }) };
  };
  for (const name of ["iteratorMap", "iteratorFilter"]) {
    const original = host.original(name);
    exports[name] = function (arg) { return original.call(closable(this), arg); };
  }
  // The engine keeps a limit in 64 bits, of which numbers beyond leave anything.
  const limit = (n) => (n > Number.MAX_SAFE_INTEGER ? Infinity : n <= -1 ? -1 : n);
  for (const name of ["iteratorTake", "iteratorDrop"]) {
    const original = host.original(name);
    exports[name] = function (n) { return original.call(closable(this), { __proto__: null, [Symbol.toPrimitive]: () => limit(+n) }); };
  }
  const flatMap = host.original("iteratorFlatMap");
  exports.iteratorFlatMap = function (f) {
    const inner = typeof f !== "function" ? f : (v, i) => {
      const r = f(v, i);
      return r !== null && typeof r === "object" && typeof r[Symbol.iterator] === "function" ? closable(r[Symbol.iterator]()) : r;
    };
    return flatMap.call(closable(this), inner);
  };

  // The languages that have letters in other cases, which the engine does not know.
  for (const [name, other] of [["toLocaleLowerCase", /^(tr|az|lt)(-|$)/i], ["toLocaleUpperCase", /^(tr|az|lt|el)(-|$)/i]]) {
    const original = host.original(name);
    exports[name] = function (locales) {
      const first = typeof locales === "string" ? locales : Array.isArray(locales) ? locales[0] : undefined;
      if (typeof first === "string" && other.test(first)) throw new RangeError(`locale ${first} is not available in this engine`);
      return Reflect.apply(original, this, []);
    };
  }

  exports.arrayToLocaleString = function (locales, options) {
    if (this === undefined || this === null) throw new TypeError("Cannot convert undefined or null to object");
    const o = Object(this), parts = [], n = Math.min(Math.max(Math.trunc(o.length) || 0, 0), 2 ** 53 - 1);
    for (let i = 0; i < n; i++) {
      const v = o[i];
      parts.push(v === undefined || v === null ? "" : `${v.toLocaleString(locales, options)}`);
    }
    return parts.join(",");
  };

  // Array.fromAsync, by its proposal to ECMA-262.
  const { asyncIterator, iterator } = Symbol;
  const isConstructor = (c) => {
    if (typeof c !== "function") return false;
    try { Reflect.construct(Object, [], c); return true; } catch { return false; }
  };
  const add = (a, k, value) => Object.defineProperty(a, k, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

  exports.fromAsync = async function (items, map, self) {
    if (map !== undefined && typeof map !== "function") throw new TypeError(`${typeof map} is not a function`);
    const list = items[asyncIterator] ?? items[iterator] ? items : Array.from(items);
    const a = isConstructor(this) ? new this() : [];
    let k = 0;
    for await (const v of list) add(a, k, map === undefined ? v : await Reflect.apply(map, self, [v, k])), k++;
    a.length = k;
    return a;
  };

  // The engine's error of Promise.any has no message.
  const any = host.original("promiseAny");
  exports.promiseAny = function (items) {
    return any.call(this, items).then(undefined, (e) => {
      if (e instanceof AggregateError && e.message === "") Object.defineProperty(e, "message", { value: "All promises were rejected", writable: true, configurable: true });
      throw e;
    });
  };

  exports.captureStackTrace = function (target, above) {
    if (target === null || typeof target !== "object" && typeof target !== "function") throw new TypeError(`Invalid argument`);
    let frames = `${new Error().stack}`.split("\n").filter((l) => l.startsWith("    at "));
    if (typeof above === "function" && above.name !== "") {
      const i = frames.findLastIndex((l) => l.startsWith(`    at ${above.name} `));
      if (i >= 0) frames = frames.slice(i + 1);
    }
    const name = target.name, message = target.message;
    const head = typeof name === "string" && name !== "" ? message ? `${name}: ${message}` : name : "Error";
    Object.defineProperty(target, "stack", { value: [head, ...frames].join("\n").trimEnd(), writable: true, configurable: true });
  };

  // What is written around a for await loop, see rewrite.go: of returns what the loop
  // iterates over in the place of items, and end what return() has given, where the
  // loop was left. A loop that failed fails with its own error.
  const { apply } = Reflect, then = Promise.prototype.then, promised = (v) => Promise.resolve(v);
  const isObject = (v) => v !== null && (typeof v === "object" || typeof v === "function");
  const doneOf = (r) => { try { return !isObject(r) || r.done; } catch { return true; } };
  const nothing = () => {};
  class Loop {
    failed = false; left = false;
    #over = true; #result; #fault;
    of(items, name) {
      if (items === undefined || items === null) throw new TypeError(`Cannot read properties of ${items} (reading 'Symbol(Symbol.asyncIterator)')`);
      const isAsync = items[asyncIterator] ?? undefined, open = isAsync ?? items[iterator];
      if (typeof open !== "function") throw new TypeError(`${name ?? (isObject(items) ? "object" : String(items))} is not async iterable`);
      if (isAsync === undefined && Array.isArray(items)) return items; // whose iterators have no return()
      return this.#watched(apply(open, items, []), isAsync === undefined ? iterator : asyncIterator);
    }
    #watched(it, kind) {
      if (!isObject(it)) return { __proto__: null, [kind]: () => it };
      const { next } = it, sync = kind === iterator;
      const step = sync ? (r) => { this.#over = doneOf(r); return r; } : (r) => {
        const p = promised(r); // what await makes of it; the loop hears of it next
        apply(then, p, [(v) => { this.#over = doneOf(v); }, nothing]);
        return p;
      };
      const watched = {
        __proto__: null,
        next: () => { this.#over = true; return step(apply(next, it, [])); },
        return: () => { if (!this.#over) this.#leave(it, sync); return {}; },
      };
      return { __proto__: null, [kind]: () => watched };
    }
    #leave(it, sync) {
      try {
        const f = it.return;
        if (f === undefined || f === null) return;
        this.left = true;
        const r = this.#result = apply(f, it, []);
        if (sync && isObject(r)) this.#result = apply(then, promised(r.value), [() => r]);
      } catch (e) {
        this.left = true;
        this.#fault = { e };
      }
    }
    end() {
      if (this.#fault !== undefined) { if (this.failed) return undefined; throw this.#fault.e; }
      return this.failed ? apply(then, promised(this.#result), [nothing, nothing]) : this.#result;
    }
    check(v) { if (!this.failed && !isObject(v)) throw new TypeError(`Iterator result ${String(v)} is not an object`); }
  }
  exports.__for__await = () => new Loop();

  // What setTimeout and its siblings return.
  class Timeout {
    ref() { host.ref(this, true); return this; }
    unref() { host.ref(this, false); return this; }
    hasRef() { return host.hasRef(this); }
    refresh() { host.refresh(this); return this; }
    close() { clearTimeout(this); return this; }
    [Symbol.toPrimitive]() { return this._timerId; }
    [Symbol.dispose ?? Symbol.for("dispose")]() { clearTimeout(this); }
  }
  exports.timeoutPrototype = Timeout.prototype;
  return exports;
});
