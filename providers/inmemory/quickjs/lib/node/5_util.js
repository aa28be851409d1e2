// util

const isType = (tag) => (v) => Object.prototype.toString.call(v) === `[object ${tag}]`;
function deepEqual(a, b, strict, seen = new Map()) {
  if (strict ? Object.is(a, b) : a == b || a !== a && b !== b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (a instanceof Date && b instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
  if (a instanceof RegExp && String(a) !== String(b)) return false;
  if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
  if (ArrayBuffer.isView(a) && (a.length !== b.length || !Array.prototype.every.call(a, (x, i) => Object.is(x, b[i])))) return false;
  if (a instanceof Number || a instanceof String || a instanceof Boolean) { if (!Object.is(a.valueOf(), b.valueOf())) return false; }
  if (a instanceof Map) {
    if (a.size !== b.size) return false;
    for (const [k, v] of a) {
      if (b.has(k)) { if (!deepEqual(v, b.get(k), strict, seen)) return false; }
      else if (![...b].some(([k2, v2]) => deepEqual(k, k2, strict, new Map(seen)) && deepEqual(v, v2, strict, new Map(seen)))) return false;
    }
  }
  if (a instanceof Set) {
    if (a.size !== b.size) return false;
    for (const v of a) if (!b.has(v) && ![...b].some((w) => deepEqual(v, w, strict, new Map(seen)))) return false;
  }
  const keys = (o) => [...Object.keys(o), ...(strict ? Object.getOwnPropertySymbols(o).filter((s) => Object.prototype.propertyIsEnumerable.call(o, s)) : [])];
  const ka = keys(a), kb = keys(b);
  return ka.length === kb.length && ka.every((k) => Object.hasOwn(b, k) && deepEqual(a[k], b[k], strict, seen));
}

const promisify = (f) => f[promisify.custom] ?? function (...args) {
  return new Promise((resolve, reject) => { f.call(this, ...args, (e, ...r) => (e ? reject(e) : resolve(r[0]))); });
};
promisify.custom = Symbol.for("nodejs.util.promisify.custom");
// Configurable, since a library whose loading was interrupted is loaded again.
Object.defineProperty(setTimeout, promisify.custom, { configurable: true, value: (ms, v) => new Promise((r) => { setTimeout(r, ms, v); }) });

const inspect = Object.assign((v, o, ...rest) => host.inspect(v, typeof o === "boolean" || rest.length > 0 ? { depth: rest[0] } : o), { custom: CUSTOM });
// parseArgs reads options and positional arguments.
function parseArgs({ args = process.argv.slice(2), options = {}, strict = true, allowPositionals = !strict } = {}) {
  const values = { __proto__: null }, positionals = [], fail = (code, text) => { throw error(TypeError, `ERR_PARSE_ARGS_${code}`, text); };
  const rest = [...args];
  const take = (name, shown, value) => {
    const o = Object.hasOwn(options, name) ? options[name] : undefined;
    if (o === undefined && strict) fail("UNKNOWN_OPTION", `Unknown option '${shown}'`);
    if (o?.type === "string") value ??= rest.shift();
    if (strict && o.type === "string" && value === undefined) fail("INVALID_OPTION_VALUE", `Option '${shown} <value>' argument missing`);
    if (strict && o.type === "boolean" && value !== undefined) fail("INVALID_OPTION_VALUE", `Option '${shown}' does not take an argument`);
    if (o?.multiple) (values[name] ??= []).push(value ?? true); else values[name] = value ?? true;
  };
  const short = (letter) => Object.keys(options).find((k) => options[k].short === letter) ?? letter;
  while (rest.length > 0) {
    const arg = rest.shift(), [, long, value] = /^--([^=]+)(?:=([^]*))?$/.exec(arg) ?? [];
    if (arg === "--") { positionals.push(...rest.splice(0)); break; }
    if (long !== undefined) take(long, `--${long}`, value);
    else if (/^-[^-]/.test(arg)) {
      const name = short(arg[1]), more = arg.slice(2);
      if (more !== "" && options[name]?.type !== "string") rest.unshift(`-${more}`);
      take(name, `-${arg[1]}`, more !== "" && options[name]?.type === "string" ? more : undefined);
    } else positionals.push(arg);
  }
  if (positionals.length > 0 && !allowPositionals) fail("UNEXPECTED_POSITIONAL", `Unexpected argument '${positionals[0]}'. This command does not take positional arguments`);
  for (const [k, o] of Object.entries(options)) if (o.default !== undefined && !(k in values)) values[k] = o.default;
  return { values, positionals };
}
const util = {
  inspect, parseArgs, format: host.format, promisify, isDeepStrictEqual: (a, b) => deepEqual(a, b, true),
  callbackify: (f) => function (...args) { const done = args.pop(); f.apply(this, args).then((v) => done(null, v), (e) => done(e)); },
  deprecate: (f) => f, debuglog: () => () => {}, inherits(c, p) { Object.setPrototypeOf(c.prototype, p.prototype); c.super_ = p; },
  stripVTControlCharacters: (s) => s.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, ""), toUSVString: (s) => `${s}`.toWellFormed(),
  get TextEncoder() { return globalThis.TextEncoder; }, get TextDecoder() { return globalThis.TextDecoder; },
  isArray: Array.isArray,
  types: {
    isDate: (v) => v instanceof Date, isRegExp: (v) => v instanceof RegExp, isMap: (v) => v instanceof Map, isSet: (v) => v instanceof Set,
    isPromise: (v) => v instanceof Promise, isNativeError: (v) => v instanceof Error, isProxy: (v) => host.classOf(v) === 51,
    isTypedArray: (v) => ArrayBuffer.isView(v) && !(v instanceof DataView), isUint8Array: (v) => v instanceof Uint8Array,
    isArrayBuffer: (v) => v instanceof ArrayBuffer, isAnyArrayBuffer: (v) => v instanceof ArrayBuffer, isDataView: (v) => v instanceof DataView,
    isAsyncFunction: (f) => typeof f === "function" && host.functionKind(f) >= 3, isGeneratorFunction: (f) => typeof f === "function" && [2, 4].includes(host.functionKind(f)),
    isGeneratorObject: isType("Generator"), isWeakMap: isType("WeakMap"), isWeakSet: isType("WeakSet"), isSymbolObject: (v) => typeof v === "object" && isType("Symbol")(v),
    isBoxedPrimitive: (v) => v instanceof Number || v instanceof String || v instanceof Boolean,
  },
};
