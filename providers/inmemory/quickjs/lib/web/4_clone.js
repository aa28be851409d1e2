// structuredClone

const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
function structuredClone(value, options) {
  const seen = new Map();
  const transfer = new Set(options?.transfer ?? []);
  const refuse = (v) => { throw new DOMException(`${typeof v === "symbol" ? v.toString() : typeof v === "function" ? v : "#<Object>"} could not be cloned.`, "DataCloneError"); };
  const clone = (v) => {
    if (typeof v === "function" || typeof v === "symbol") refuse(v);
    if (v === null || typeof v !== "object") return v;
    if (seen.has(v)) return seen.get(v);
    const keep = (c) => { seen.set(v, c); return c; };
    const tag = Object.prototype.toString.call(v).slice(8, -1);
    if (Array.isArray(v)) {
      const c = keep(new Array(v.length));
      for (const k of Object.keys(v)) c[k] = clone(v[k]);
      return c;
    }
    if (v instanceof Date) return keep(new Date(v.getTime()));
    if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags));
    if (v instanceof Map) {
      const c = keep(new Map());
      for (const [k, e] of [...v]) c.set(clone(k), clone(e));
      return c;
    }
    if (v instanceof Set) {
      const c = keep(new Set());
      for (const e of [...v]) c.add(clone(e));
      return c;
    }
    if (v instanceof ArrayBuffer) return keep(transfer.has(v) && v.transfer ? v.transfer() : v.slice(0));
    if (ArrayBuffer.isView(v)) {
      const b = clone(v.buffer);
      const type = v instanceof DataView ? DataView : globalThis[v[Symbol.toStringTag]];
      return keep(new type(b, v.byteOffset, v instanceof DataView ? v.byteLength : v.length));
    }
    if (v instanceof Error) {
      const type = errors[v.name] ?? Error;
      const e = keep(new type(v.message));
      if (v.stack !== undefined) Object.defineProperty(e, "stack", { value: v.stack, writable: true, configurable: true });
      if ("cause" in v) Object.defineProperty(e, "cause", { value: clone(v.cause), writable: true, configurable: true });
      return e;
    }
    if (["Number", "String", "Boolean", "BigInt"].includes(tag) && Object.hasOwn({ Number, String, Boolean, BigInt }, tag)) return keep(Object(v.valueOf()));
    if (["WeakMap", "WeakSet", "WeakRef", "Promise", "Generator"].includes(tag)) refuse(v);
    const c = keep({});
    for (const k of Object.keys(v)) c[k] = clone(v[k]);
    return c;
  };
  return clone(value);
}
