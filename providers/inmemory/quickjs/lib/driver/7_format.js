// Options, inspect, and format with its directives.

// options reads the options of a program's call.
function options(o) {
  const ctx = { ...defaults, indent: 0, deepest: 0, seen: [], circular: new Map() };
  read(ctx, o);
  return ctx;
}

const defaults = { depth: 2, compact: 3, breakLength: 80, maxArrayLength: 100, maxStringLength: 10000 };

function read(ctx, o) {
  if (o === null || typeof o !== "object" || classOf(o) === PROXY) return;
  for (const k of ["depth", "breakLength", "maxArrayLength", "maxStringLength"]) {
    const v = inherited(o, k);
    if (v === null) ctx[k] = k === "depth" ? null : Infinity;
    else if (typeof v === "number") ctx[k] = k === "depth" && v === Infinity ? null : v;
  }
  const compact = inherited(o, "compact");
  if (typeof compact === "boolean" || typeof compact === "number") ctx.compact = compact;
}

function inspect(v, opts) {
  return value(v, options(opts), 0);
}

const print = (v) => (typeof v === "string" ? v : value(v, { ...options(), breakLength: 80 }, 0));

// A program's own toString, where its class or it has one.
function hasOwnToString(v) {
  for (let p = v, i = 0; p !== null && i < 1000; i++) {
    if (classOf(p) === PROXY) return false;
    const d = Object.getOwnPropertyDescriptor(p, "toString");
    if (d !== undefined) return typeof d.value === "function" && !isBuiltin(p);
    p = Object.getPrototypeOf(p);
  }
  return false;
}

function isBuiltin(proto) {
  const c = own(proto, "constructor");
  const name = typeof c === "function" ? own(c, "name") : "";
  return ["Object", "Array", "Function", "RegExp", "Date"].includes(name);
}

function directive(kind, v) {
  switch (kind) {
    case "s":
      if (typeof v === "string") return v;
      if (typeof v === "bigint") return `${v}n`;
      if (typeof v === "object" && v !== null) {
        if (classOf(v) === ERROR || hasOwnToString(v)) return String(v);
        return value(v, { ...options(), depth: 0, compact: 3 }, 0);
      }
      return typeof v === "number" ? primitive(v, options()) : String(v);
    case "d": case "i": case "f":
      if (typeof v === "symbol") return "NaN";
      if (typeof v === "bigint") return kind === "f" ? String(Number(v)) : `${v}n`;
      return primitive(kind === "d" ? Number(v) : kind === "i" ? parseInt(v) : parseFloat(v), options());
    case "j":
      try {
        return JSON.stringify(v) ?? "undefined";
      } catch (e) {
        if (e instanceof TypeError && e.message.includes("circular")) return "[Circular]";
        throw e;
      }
    case "o": return value(v, { ...options(), depth: 4 }, 0);
    case "O": return value(v, options(), 0);
  }
}

function format(...args) {
  let out = "", next = 0;
  if (typeof args[0] === "string") {
    const f = args[0];
    next = 1;
    let last = 0;
    for (let i = 0; i + 1 < f.length; i++) {
      if (f[i] !== "%") continue;
      const c = f[i + 1];
      if (c === "%") {
        if (args.length > 1) { out += f.slice(last, i) + "%"; last = i + 2; }
        i++;
      } else if ("sdifjoOc".includes(c) && next < args.length) {
        out += f.slice(last, i) + (c === "c" ? "" : directive(c, args[next]));
        next++;
        last = i + 2;
        i++;
      }
    }
    out += f.slice(last);
  }
  for (; next < args.length; next++) out += (next > 0 ? " " : "") + print(args[next]);
  return out;
}
