// The driver: turns a program's values into text. It runs in a realm of its
// own, so its built-ins are not the program's; see driver.go for the rules.
// It must not hand any of its own objects to code of the program.
(function (host) {
  const { classOf, proxyTarget, promise, functionKind, mapStack, customInspect, entries } = host;
  const CUSTOM = Symbol.for("nodejs.util.inspect.custom");

  // Class numbers of the engine.
  const ARRAY = 2, ERROR = 3, NUMBER = 4, STRING = 5, BOOLEAN = 6, SYMBOL = 7, ARGUMENTS = 8, MAPPED_ARGUMENTS = 9,
    DATE = 10, MODULE = 11, REGEXP = 18, ARRAY_BUFFER = 19, SHARED_ARRAY_BUFFER = 20, DATAVIEW = 33, BIGINT = 34,
    MAP = 35, SET = 36, WEAKMAP = 37, WEAKSET = 38, MAP_ITERATOR = 43, SET_ITERATOR = 44, GENERATOR = 48,
    PROXY = 51, PROMISE = 52, ASYNC_GENERATOR = 60, WEAK_REF = 61;

  // Taken while the prototypes are as the engine made them; a value's own properties of
  // these names are the program's.
  const typedArrayProto = Object.getPrototypeOf(Uint8Array.prototype);
  const typedName = Object.getOwnPropertyDescriptor(typedArrayProto, Symbol.toStringTag).get;
  const typedLength = Object.getOwnPropertyDescriptor(typedArrayProto, "length").get;
  const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
  const setSize = Object.getOwnPropertyDescriptor(Set.prototype, "size").get;
  const bufferLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;
  const viewParts = {};
  for (const k of ["byteLength", "byteOffset", "buffer"]) viewParts[k] = Object.getOwnPropertyDescriptor(DataView.prototype, k).get;
  const describe = Object.getOwnPropertyDescriptor(Symbol.prototype, "description").get;
  const call = (f, self, ...args) => Reflect.apply(f, self, args);
  const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
  const escapes = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };

  const styles = { special: [36, 39], number: [33, 39], bigint: [33, 39], boolean: [33, 39], undefined: [90, 39], null: [1, 22], string: [32, 39], symbol: [32, 39], date: [35, 39], regexp: [31, 39], module: [4, 24] };
  const paint = (s, style, ctx) => (ctx.colors ? `\x1b[${styles[style][0]}m${s}\x1b[${styles[style][1]}m` : s);
  const stylize = (s, style) => (typeof style === "string" && Object.hasOwn(styles, style) ? paint(`${s}`, style, { colors: true }) : `${s}`);
  const bare = (s, ctx) => (ctx.colors ? s.replace(/\x1b\[\d+m/g, "").length : s.length);
  const threes = (digits) => digits.replace(/\d(?=(\d{3})+$)/g, "$&_");
  function separated(v) {
    const s = `${v}`, [, whole, part] = /^(-?\d+)(?:\.(\d+))?$/.exec(s) ?? [];
    if (whole === undefined) return s;
    return threes(whole) + (part === undefined ? "" : `.${part.replace(/\d{3}(?=\d)/g, "$&_")}`);
  }

  // own returns the value of an own data property. It never runs a getter.
  const own = (o, key) => {
    const d = Object.getOwnPropertyDescriptor(o, key);
    return d === undefined ? undefined : d.value;
  };

  // inherited returns the first data property of that name up the chain.
  function inherited(o, key) {
    for (let i = 0; o !== null && o !== undefined && i < 1000; i++) {
      // A proxy's traps are code of the program. Chains can be as long as a program likes.
      if (classOf(o) === PROXY) return undefined;
      const d = Object.getOwnPropertyDescriptor(o, key);
      if (d !== undefined) return d.value;
      o = Object.getPrototypeOf(o);
    }
    return undefined;
  }

  function quote(s, always) {
    let q = "'";
    if (!always && s.includes("'")) q = !s.includes('"') ? '"' : !s.includes("`") && !s.includes("${") ? "`" : "'";
    let out = "";
    for (let i = 0; i < s.length; i++) {
      const c = s[i], n = s.charCodeAt(i);
      if (c === q) out += "\\" + c;
      else if (escapes[c] !== undefined) out += escapes[c];
      else if (n < 0x20 || n >= 0x7f && n <= 0x9f) out += "\\x" + n.toString(16).toUpperCase().padStart(2, "0");
      else if (n >= 0xd800 && n <= 0xdfff) {
        const low = s.charCodeAt(i + 1);
        if (n < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) out += c + s[++i];
        else out += "\\u" + n.toString(16);
      } else out += c;
    }
    return q + out + q;
  }

  // isOf is instanceof, without code of the program.
  function isOf(o, constructor) {
    const proto = own(constructor, "prototype");
    for (let p = Object.getPrototypeOf(o), i = 0; p !== null && i < 1000; i++) {
      if (p === proto) return true;
      if (classOf(p) === PROXY) return false;
      p = Object.getPrototypeOf(p);
    }
    return false;
  }

  function constructorName(o) {
    for (let p = o, i = 0; p !== null && i < 1000; i++) {
      if (classOf(p) === PROXY) return "Object";
      const d = Object.getOwnPropertyDescriptor(p, "constructor");
      if (d !== undefined && typeof d.value === "function" && classOf(d.value) !== PROXY && isOf(o, d.value)) {
        const name = own(d.value, "name");
        if (typeof name === "string" && name !== "") return name;
      }
      p = Object.getPrototypeOf(p);
    }
    return null;
  }

  function primitive(v, ctx) {
    switch (typeof v) {
      case "string": {
        let rest = "";
        if (v.length > ctx.maxStringLength) {
          const n = v.length - ctx.maxStringLength;
          v = v.slice(0, ctx.maxStringLength);
          rest = `... ${n} more character${n > 1 ? "s" : ""}`;
        }
        if (ctx.compact !== true && v.length > 16 && v.length > ctx.breakLength - ctx.indent - 4 && v.includes("\n")) {
          const lines = v.split("\n");
          const last = lines.pop();
          const parts = lines.map((l) => paint(quote(l + "\n"), "string", ctx));
          if (last !== "") parts.push(paint(quote(last), "string", ctx));
          return parts.join(` +\n${" ".repeat(ctx.indent + 2)}`) + rest;
        }
        return paint(quote(v), "string", ctx) + rest;
      }
      case "number": return paint(ctx.numericSeparator ? separated(v) : Object.is(v, -0) ? "-0" : `${v}`, "number", ctx);
      case "bigint": return paint(`${ctx.numericSeparator ? threes(`${v}`) : v}n`, "bigint", ctx);
      case "symbol": return paint(symbolText(v), "symbol", ctx);
      default: return paint(`${v}`, v === null ? "null" : typeof v, ctx);
    }
  }

  function symbolText(v) {
    const d = call(describe, v);
    return d === undefined ? "Symbol()" : `Symbol(${d.replace(/[\x00-\x1f'\\\x7f-\x9f]/g, (c) => (c === "'" ? c : escapes[c] ?? `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`))})`;
  }

  function keysOf(v, ctx, arrayLike) {
    const list = [];
    for (const k of Reflect.ownKeys(v)) {
      // An array's indices end there: what is larger is a name like others.
      if (arrayLike && typeof k === "string" && /^(0|[1-9]\d*)$/.test(k) && +k < 2 ** 32 - 1) continue;
      const d = Object.getOwnPropertyDescriptor(v, k);
      if (d !== undefined && (d.enumerable || ctx.showHidden)) list.push(k);
    }
    return list;
  }

  function value(v, ctx, level) {
    if (v === null || typeof v !== "object" && typeof v !== "function") return primitive(v, ctx);
    let proxy = false;
    for (let i = 0; classOf(v) === PROXY && i < 1000; i++) {
      proxy = true;
      const target = proxyTarget(v);
      if (target === null) return paint("<Revoked Proxy>", "special", ctx);
      if (ctx.showProxy) return proxied(target, proxyTarget(v, true), ctx, level);
      v = target;
    }
    if (!proxy && ctx.customInspect && classOf(v) !== MODULE) {
      const f = inherited(v, CUSTOM);
      if (typeof f === "function") {
        const depth = ctx.depth === null ? null : ctx.depth - level;
        // One by one and not as an object: the program must get none of this realm.
        const r = customInspect(v, f, depth, ctx.depth, ctx.breakLength, ctx.compact, ctx.customInspect, ctx.maxArrayLength, ctx.maxStringLength, ctx.showHidden, ctx.sorted, ctx.colors, ctx.showProxy, ctx.getters, ctx.numericSeparator);
        if (r !== v) {
          if (typeof r === "string") return r.replaceAll("\n", "\n" + " ".repeat(ctx.indent));
          return value(r, ctx, level);
        }
      }
    }
    if (ctx.seen.includes(v)) {
      if (!ctx.circular.has(v)) ctx.circular.set(v, ctx.circular.size + 1);
      return paint(`[Circular *${ctx.circular.get(v)}]`, "special", ctx);
    }
    return object(v, ctx, level);
  }

  function proxied(target, handler, ctx, level) {
    if (ctx.depth !== null && level > ctx.depth) return paint("Proxy [Array]", "special", ctx);
    ctx.indent += 2;
    const both = [target, handler].map((x) => value(x, ctx, level + 1));
    ctx.indent -= 2;
    return layout(both, ctx, "", "Proxy [", "]", true, level + 1);
  }

  // remaining shows what an iterator of a Map or a Set has still to give.
  function remaining(v, both, ctx, level, out) {
    const [, count, ...items] = entries(v, Math.min(ctx.maxArrayLength, 100000));
    ctx.indent += 2;
    for (let i = 0; i < items.length; i++) {
      if (!both) out.push(value(items[i], ctx, level + 1));
      else out.push(layout([value(items[i], ctx, level + 1), value(items[++i], ctx, level + 1)], ctx, "", "[", "]", true, level + 1));
    }
    ctx.indent -= 2;
    const shown = both ? items.length / 2 : items.length;
    if (count > shown) out.push(more(count - shown));
  }

  function tagOf(v, name) {
    if (Object.getOwnPropertyDescriptor(v, Symbol.toStringTag)?.enumerable) return "";
    let tag;
    for (let p = v, i = 0; p !== null && i < 1000 && classOf(p) !== PROXY; i++) {
      const d = Object.getOwnPropertyDescriptor(p, Symbol.toStringTag);
      if (d !== undefined) {
        try { tag = d.get !== undefined ? call(d.get, v) : d.value; } catch {}
        break;
      }
      p = Object.getPrototypeOf(p);
    }
    return typeof tag === "string" && tag !== "" && tag !== name ? tag : "";
  }

  function prefix(name, tag, fallback, size) {
    const n = size === undefined ? "" : `(${size})`;
    if (name === null) return `[${fallback}${n}: null prototype] ${tag !== "" && tag !== fallback ? `[${tag}] ` : ""}`;
    return `${name}${n} ${tag !== "" ? `[${tag}] ` : ""}`;
  }

  function functionBase(f, name, tag) {
    const kind = functionKind(f);
    const own_ = own(f, "name");
    const label = typeof own_ === "string" ? own_ : "";
    if (kind === 1) {
      let s = `[class ${label === "" ? "(anonymous)" : label}`;
      const parent = Object.getPrototypeOf(f);
      if (typeof parent === "function") {
        const p = own(parent, "name");
        if (typeof p === "string" && p !== "") s += ` extends ${p}`;
      } else if (parent === null) s += " extends null";
      return s + "]";
    }
    const type = ["Function", "", "GeneratorFunction", "AsyncFunction", "AsyncGeneratorFunction"][kind];
    let s = `[${type}${label === "" ? " (anonymous)" : `: ${label}`}]`;
    if (name === null) s += " [null prototype]";
    if (tag !== "" && tag !== name && tag !== type) s += ` [${tag}]`;
    return s;
  }

  function errorBase(e, name, keys) {
    let message = inherited(e, "message");
    if (typeof message !== "string") message = "";
    let label = inherited(e, "name");
    if (typeof label !== "string" || label === "") label = "Error";
    if (name !== null && name !== label && label.endsWith("Error")) label = name.includes(label) ? name : `${name} [${label}]`;
    const stack = own(e, "stack");
    const head = message === "" ? label : `${label}: ${message}`;
    for (const k of ["name", "message", "stack"]) {
      const i = keys.indexOf(k);
      if (i >= 0) keys.splice(i, 1);
    }
    if (Object.hasOwn(e, "cause") && !keys.includes("cause")) keys.push("cause");
    if (Object.hasOwn(e, "errors") && !keys.includes("errors")) keys.push("errors");
    let frames = typeof stack === "string" ? mapStack(stack).replace(/\n+$/, "") : "";
    // The frames of the error's own class: what matters is where it was made.
    while (name !== null && frames.startsWith(`    at ${name} (`)) frames = frames.slice(frames.indexOf("\n") + 1);
    if (frames === "") return `[${typeof stack === "string" && stack !== "" && !stack.startsWith(label) ? stack : head}]`;
    return `${head}\n${frames}`;
  }

  function hex(bytes, ctx) {
    let s = "";
    const n = Math.min(Math.max(ctx.maxArrayLength, 0), bytes.length);
    for (let i = 0; i < n; i++) s += (i > 0 ? " " : "") + bytes[i].toString(16).padStart(2, "0");
    if (bytes.length > n) s += ` ... ${bytes.length - n} more byte${bytes.length - n > 1 ? "s" : ""}`;
    return `<${s}>`;
  }

  function object(v, ctx, level) {
    const name = constructorName(v);
    const cls = classOf(v);
    let tag = tagOf(v, name);
    let open = "{", close = "}", base = "", isArray = false, fill = null;
    let keys;
    const typed = cls > SHARED_ARRAY_BUFFER && cls < DATAVIEW;
    if (cls === ARRAY) {
      keys = keysOf(v, ctx, true);
      const p = name !== "Array" || tag !== "" ? prefix(name, tag, "Array", v.length) : "";
      open = p + "["; close = "]"; isArray = true;
      if (v.length === 0 && keys.length === 0) return open + "]";
      fill = (out) => arrayItems(v, ctx, level, out);
    } else if (typed) {
      keys = keysOf(v, ctx, true);
      const type = call(typedName, v), size = call(typedLength, v);
      tag = tag === type ? "" : tag;
      open = prefix(name, tag, type, size) + "["; close = "]"; isArray = true;
      if (size === 0 && keys.length === 0) return open + "]";
      fill = (out) => {
        const n = Math.min(ctx.maxArrayLength, size);
        for (let i = 0; i < n; i++) out.push(primitive(v[i], ctx));
        if (size > n) out.push(more(size - n));
      };
    } else if (cls === MAP || cls === SET) {
      keys = keysOf(v, ctx, false);
      const size = cls === MAP ? call(mapSize, v) : call(setSize, v);
      open = prefix(name, tag, cls === MAP ? "Map" : "Set", size) + "{";
      if (size === 0 && keys.length === 0) return open + "}";
      fill = (out) => {
        let i = 0;
        ctx.indent += 2;
        const each = (a, b) => {
          if (i++ < ctx.maxArrayLength) {
            out.push(cls === SET ? value(a, ctx, level + 1) : `${value(b, ctx, level + 1)} => ${value(a, ctx, level + 1)}`);
          }
        };
        if (cls === MAP) call(Map.prototype.forEach, v, each);
        else call(Set.prototype.forEach, v, each);
        if (i > ctx.maxArrayLength) out.push(more(i - ctx.maxArrayLength));
        ctx.indent -= 2;
      };
    } else {
      keys = keysOf(v, ctx, cls === STRING);
      if (typeof v === "function") {
        base = functionBase(v, name, tag);
        if (keys.length === 0) return paint(base, "special", ctx);
      } else switch (cls) {
        case ARGUMENTS: case MAPPED_ARGUMENTS:
          open = "[Arguments] {";
          if (keys.length === 0) return open + "}";
          break;
        case DATE: {
          const t = call(Date.prototype.getTime, v);
          base = Number.isNaN(t) ? "Invalid Date" : call(Date.prototype.toISOString, v);
          if (name !== "Date") base = `${prefix(name, tag, "Date")}${base}`;
          if (keys.length === 0) return paint(base, "date", ctx);
          break;
        }
        case REGEXP:
          base = call(RegExp.prototype.toString, v);
          if (name !== "RegExp") base = `${prefix(name, tag, "RegExp")}${base}`;
          if (keys.length === 0) return paint(base, "regexp", ctx);
          break;
        case ERROR:
          base = errorBase(v, name, keys);
          if (ctx.indent > 0) base = base.replaceAll("\n", "\n" + " ".repeat(ctx.indent));
          if (keys.length === 0) return base;
          break;
        case NUMBER: case STRING: case BOOLEAN: case SYMBOL: case BIGINT: {
          const type = { [NUMBER]: "Number", [STRING]: "String", [BOOLEAN]: "Boolean", [SYMBOL]: "Symbol", [BIGINT]: "BigInt" }[cls];
          const inner = call({ Number, String, Boolean, Symbol, BigInt }[type].prototype.valueOf, v);
          base = `[${type}${name !== type ? ` (${name === null ? "null prototype" : name})` : ""}: ${primitive(inner, { ...ctx, compact: true, colors: false })}]`;
          if (keys.length === 0) return paint(base, type.toLowerCase(), ctx);
          break;
        }
        case ARRAY_BUFFER: case SHARED_ARRAY_BUFFER:
          open = prefix(name, "", "ArrayBuffer") + "{";
          fill = (out) => {
            out.push(`${paint("[Uint8Contents]", "special", ctx)}: ${hex(new Uint8Array(v), ctx)}`);
            out.push(`byteLength: ${primitive(cls === ARRAY_BUFFER ? call(bufferLength, v) : v.byteLength, ctx)}`);
          };
          break;
        case DATAVIEW:
          open = prefix(name, "", "DataView") + "{";
          fill = (out) => {
            for (const k of ["byteLength", "byteOffset", "buffer"]) {
              ctx.indent += 2;
              out.push(`${k}: ${value(call(viewParts[k], v), ctx, level + 1)}`);
              ctx.indent -= 2;
            }
          };
          break;
        case PROMISE: {
          open = prefix(name, tag, "Promise") + "{";
          const state = promise(v);
          fill = (out) => {
            if (state === undefined) out.push(paint("<pending>", "special", ctx));
            else {
              ctx.indent += 2;
              const s = value(state[1], ctx, level + 1);
              ctx.indent -= 2;
              out.push(state[0] ? s : `${paint("<rejected>", "special", ctx)} ${s}`);
            }
          };
          break;
        }
        case WEAKMAP: case WEAKSET:
          open = prefix(name, "", cls === WEAKMAP ? "WeakMap" : "WeakSet") + "{";
          fill = (out) => { out.push(paint("<items unknown>", "special", ctx)); };
          break;
        case WEAK_REF:
          open = prefix(name, "", "WeakRef") + "{";
          break;
        case MODULE:
          open = "[Module: null prototype] {";
          break;
        case MAP_ITERATOR: case SET_ITERATOR: {
          const type = cls === MAP_ITERATOR ? "Map" : "Set", both = entries(v, 0)[0] === 2;
          const label = tag === `${type} Iterator` ? "" : tag === "" ? "" : `${tag}] [`;
          open = `[${label}${type} ${both ? "Entries" : "Iterator"}] {`;
          fill = (out) => remaining(v, both, ctx, level, out);
          break;
        }
        case GENERATOR: case ASYNC_GENERATOR:
          open = `Object [${cls === GENERATOR ? "Generator" : "AsyncGenerator"}] {`;
          if (keys.length === 0) return open + "}";
          break;
        default:
          if (name !== "Object" || tag !== "") open = prefix(name, tag, "Object") + "{";
          if (keys.length === 0) return open + "}";
      }
    }
    if (ctx.depth !== null && level > ctx.depth) {
      const shown = prefix(name, tag, cls === ARRAY ? "Array" : "Object").trimEnd();
      return paint(`[${shown.startsWith("[") ? shown.slice(1).replace("]", "") : shown}]`, "special", ctx);
    }
    ctx.seen.push(v);
    ctx.deepest = level;
    const out = [];
    if (fill !== null) fill(out);
    const filled = out.length;
    for (const k of keys) out.push(property(v, k, ctx, level, isArray));
    ctx.seen.pop();
    if (ctx.sorted) sort(out, isArray ? filled : 0, ctx.sorted === true ? undefined : ctx.sorted);
    const ref = ctx.circular.get(v);
    if (ref !== undefined) {
      const mark = paint(`<ref *${ref}>`, "special", ctx);
      if (base === "") open = `${mark} ${open}`;
      else base = `${mark} ${base}`;
    }
    return layout(out, ctx, base, open, close, isArray, level, v);
  }

  // sort sorts what a value consists of, as texts: the properties only, of an array.
  function sort(out, from, by) {
    const rest = out.splice(from);
    rest.sort(by === undefined ? undefined : (a, b) => call(by, undefined, a, b));
    for (const s of rest) out.push(s);
  }

  const more = (n) => `... ${n} more item${n > 1 ? "s" : ""}`;

  function arrayItems(v, ctx, level, out) {
    const length = v.length;
    const max = Math.min(ctx.maxArrayLength, length);
    let i = 0;
    while (i < length && out.length < max) {
      if (!Object.hasOwn(v, i)) {
        const from = i;
        let next = length;
        // In a long hole the keys are fewer than the indices.
        if (length - i > 1000) {
          for (const k of Object.keys(v)) {
            if (/^\d+$/.test(k) && +k >= from && +k < next) { next = +k; break; }
          }
          i = next;
        } else while (i < length && !Object.hasOwn(v, i)) i++;
        out.push(paint(`<${i - from} empty item${i - from > 1 ? "s" : ""}>`, "undefined", ctx));
        continue;
      }
      out.push(property(v, String(i), ctx, level, true, true));
      i++;
    }
    if (i < length) out.push(more(length - i));
  }

  function property(v, key, ctx, level, inArray, item) {
    const d = Object.getOwnPropertyDescriptor(v, key);
    let s, gap = " ";
    if (d === undefined) s = "undefined";
    else if (d.get !== undefined) s = getter(v, d, ctx, level);
    else if (d.set !== undefined) s = paint("[Setter]", "special", ctx);
    else {
      const by = ctx.compact === true && !inArray ? 3 : 2;
      ctx.indent += by;
      s = value(d.value, ctx, level + 1);
      if (by === 3 && ctx.breakLength < bare(s, ctx)) gap = `\n${" ".repeat(ctx.indent)}`;
      ctx.indent -= by;
    }
    if (item) return s;
    let label;
    if (typeof key === "symbol") label = `[${paint(symbolText(key), "symbol", ctx)}]`;
    else if (key === "__proto__") label = "['__proto__']";
    else if (d !== undefined && !d.enumerable) label = `[${key}]`;
    else label = identifier.test(key) ? key : paint(quote(key, true), "string", ctx);
    return `${label}:${gap}${s}`;
  }

  function getter(v, d, ctx, level) {
    const label = d.set !== undefined ? "Getter/Setter" : "Getter", all = ctx.getters;
    const special = (s) => paint(s, "special", ctx);
    if (all !== true && all !== (d.set !== undefined ? "set" : "get")) return special(`[${label}]`);
    let inner;
    try {
      inner = call(d.get, v);
    } catch (e) {
      const message = e !== null && typeof e === "object" ? inherited(e, "message") : undefined;
      return `${special(`[${label}:`)} <Inspection threw (${typeof message === "string" ? message : "undefined"})>${special("]")}`;
    }
    ctx.indent += 2;
    const s = inner !== null && typeof inner === "object" ? `${special(`[${label}]`)} ${value(inner, ctx, level + 1)}` :
      `${special(`[${label}:`)} ${typeof inner === "function" ? value(inner, ctx, level + 1) : primitive(inner, ctx)}${special("]")}`;
    ctx.indent -= 2;
    return s;
  }

  function layout(out, ctx, base, open, close, isArray, level, v) {
    const entries = out.length;
    if (ctx.compact === true) return dense(out, ctx, base, open, close);
    if (ctx.compact !== false && ctx.compact >= 1) {
      if (isArray && entries > 6) out = columns(out, ctx, v);
      if (ctx.deepest - level < ctx.compact && entries === out.length) {
        // Counted as node's isBelowBreakLength does, whose 10 this is.
        let total = out.length + ctx.indent + open.length + base.length + 10 + out.length;
        for (const s of out) total += bare(s, ctx);
        const line = out.join(", ");
        if (total <= ctx.breakLength && !line.includes("\n") && !base.includes("\n")) {
          return `${base !== "" ? `${base} ` : ""}${open} ${line} ${close}`;
        }
      }
    }
    const nl = `\n${" ".repeat(ctx.indent)}`;
    return `${base !== "" ? `${base} ` : ""}${open}${nl}  ${out.join(`,${nl}  `)}${nl}${close}`;
  }

  // dense is layout with as few lines as there can be.
  function dense(out, ctx, base, open, close) {
    let total = out.length;
    for (const s of out) total += bare(s, ctx);
    const line = out.join(", ");
    if (total <= ctx.breakLength && 2 * out.length <= ctx.breakLength && !base.includes("\n")) return `${open}${base !== "" ? ` ${base}` : ""} ${line} ${close}`;
    const indent = " ".repeat(ctx.indent), first = base === "" && open.length === 1 ? " " : `${base !== "" ? ` ${base}` : ""}\n${indent}  `;
    return `${open}${first}${out.join(`,\n${indent}  `)} ${close}`;
  }

  // columns lays out many short items as a table.
  function columns(out, ctx, v) {
    const extra = ctx.maxArrayLength < out.length ? 1 : 0;
    const n = out.length - extra;
    let total = 0, widest = 0;
    for (let i = 0; i < n; i++) {
      total += bare(out[i], ctx) + 2;
      widest = Math.max(widest, bare(out[i], ctx));
    }
    const cell = widest + 2;
    // As node's groupArrayElements: it aims at a square, and takes a character for 2.5
    // times as high as wide. A few items of very different length stay in one column.
    if (cell * 3 + ctx.indent >= ctx.breakLength || total / cell <= 5 && widest > 6) return out;
    const biased = Math.max(cell - 3 - Math.sqrt(cell - total / out.length), 1);
    const count = Math.min(Math.round(Math.sqrt(2.5 * biased * n) / biased),
      Math.floor((ctx.breakLength - ctx.indent) / cell), ctx.compact * 4, 15);
    if (count <= 1) return out;
    const widths = [];
    for (let i = 0; i < count; i++) {
      let w = 0;
      for (let j = i; j < n; j += count) w = Math.max(w, bare(out[j], ctx));
      widths.push(w + 2);
    }
    let right = v !== undefined;
    for (let i = 0; right && i < out.length; i++) {
      const item = own(v, i);
      if (typeof item !== "number" && typeof item !== "bigint") right = false;
    }
    const rows = [];
    for (let i = 0; i < n; i += count) {
      const end = Math.min(i + count, n);
      let row = "";
      for (let j = i; j < end - 1; j++) {
        const width = widths[j - i] + out[j].length - bare(out[j], ctx);
        row += right ? `${out[j]}, `.padStart(width) : `${out[j]}, `.padEnd(width);
      }
      const last = out[end - 1];
      row += right ? last.padStart(widths[end - 1 - i] - 2 + last.length - bare(last, ctx)) : last;
      rows.push(row);
    }
    if (extra === 1) rows.push(out[n]);
    return rows;
  }

  // options reads the options of a program's call.
  function options(o) {
    const ctx = { ...defaults, indent: 0, deepest: 0, seen: [], circular: new Map() };
    read(ctx, o);
    return ctx;
  }

  // defaults are what the program has in util.inspect.defaultOptions.
  const defaults = { depth: 2, compact: 3, breakLength: 80, maxArrayLength: 100, maxStringLength: 10000, showHidden: false,
    sorted: false, getters: false, colors: false, showProxy: false, numericSeparator: false, customInspect: true };
  const setDefaults = (o) => { read(defaults, o); };

  function read(ctx, o) {
    if (o === null || typeof o !== "object" || classOf(o) === PROXY) return;
    for (const k of ["depth", "breakLength", "maxArrayLength", "maxStringLength"]) {
      const v = inherited(o, k);
      if (v === null) ctx[k] = k === "depth" ? null : Infinity;
      else if (typeof v === "number") ctx[k] = k === "depth" && v === Infinity ? null : v;
    }
    for (const k of ["showHidden", "colors", "showProxy", "numericSeparator", "customInspect"]) {
      const v = inherited(o, k);
      if (v !== undefined) ctx[k] = !!v;
    }
    const compact = inherited(o, "compact"), sorted = inherited(o, "sorted"), getters = inherited(o, "getters");
    if (typeof compact === "boolean" || typeof compact === "number") ctx.compact = compact;
    if (sorted !== undefined) ctx.sorted = typeof sorted === "function" ? sorted : !!sorted;
    if (getters !== undefined) ctx.getters = getters === "get" || getters === "set" ? getters : getters === true;
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
      case "o": return value(v, { ...options(), showHidden: true, showProxy: true, depth: 4 }, 0);
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

  // table is console.table; undefined where the data is no table.
  function table(data, only) {
    if (data === null || typeof data !== "object" || classOf(data) === PROXY) return undefined;
    const cls = classOf(data);
    const rows = [];
    const cell = (v) => value(v, { ...options(), depth: v !== null && typeof v === "object" && classOf(v) === ARRAY && v.length > 2 ? -1 : 0, maxArrayLength: 3, breakLength: Infinity }, 0);
    let index = "(index)", keyed = false;
    if (cls === MAP) {
      index = "(iteration index)"; keyed = true;
      let i = 0;
      call(Map.prototype.forEach, data, (v, k) => { rows.push([String(i++), v, k]); });
    } else if (cls === SET) {
      index = "(iteration index)";
      let i = 0;
      call(Set.prototype.forEach, data, (v) => { rows.push([String(i++), v]); });
    } else {
      for (const k of Object.keys(data)) rows.push([k, own(data, k)]);
    }
    const names = [], seen = new Set();
    let values = false;
    const cells = rows.map(([k, v, key]) => {
      const row = new Map();
      if (v !== null && typeof v === "object" && classOf(v) !== PROXY && !keyed) {
        for (const p of Object.keys(v)) {
          if (!seen.has(p)) { seen.add(p); names.push(p); }
          row.set(p, cell(own(v, p)));
        }
      } else {
        values = true;
        // The set itself is the key of values without columns: no column's name is equal to it.
        row.set(seen, cell(v));
      }
      return { k, row, key };
    });
    let shown = names;
    if (only !== null && typeof only === "object" && classOf(only) === ARRAY) {
      shown = [];
      for (let i = 0; i < only.length; i++) shown.push(String(own(only, i)));
      values = false;
    }
    const head = [index, ...(keyed ? ["Key"] : []), ...shown, ...(values ? ["Values"] : [])];
    const lines = cells.map(({ k, row, key }) => [k, ...(keyed ? [cell(key)] : []), ...shown.map((n) => row.get(n) ?? ""), ...(values ? [row.get(seen) ?? ""] : [])]);
    return draw(head, lines);
  }

  function width(s) {
    let w = 0;
    for (const c of s) {
      const n = c.codePointAt(0);
      w += n >= 0x1100 && (n <= 0x115f || n >= 0x2e80 && n <= 0xa4cf || n >= 0xac00 && n <= 0xd7a3 || n >= 0xf900 && n <= 0xfaff ||
        n >= 0xfe30 && n <= 0xfe6f || n >= 0xff00 && n <= 0xff60 || n >= 0x1f300 && n <= 0x1faff) ? 2 : n >= 0x300 && n <= 0x36f ? 0 : 1;
    }
    return w;
  }

  function draw(head, lines) {
    const widths = head.map((h, i) => Math.max(width(h), ...lines.map((l) => width(l[i]))) + 2);
    const center = (s, w) => {
      const left = Math.floor((w - width(s)) / 2);
      return " ".repeat(left) + s + " ".repeat(w - width(s) - left);
    };
    const rule = (a, b, c) => a + widths.map((w) => "─".repeat(w)).join(b) + c;
    const line = (cells) => "│" + cells.map((s, i) => center(s, widths[i])).join("│") + "│";
    return [rule("┌", "┬", "┐"), line(head), rule("├", "┼", "┤"), ...lines.map(line), rule("└", "┴", "┘")].join("\n");
  }

  // json returns a value's JSON text, "" where that would not say the same. The
  // prototypes are those of the program's realm.
  const json = __JSVALUE__;

  const dir = (v, opts) => {
    const ctx = options(opts);
    ctx.customInspect = false;
    return value(v, ctx, 0);
  };

  return { inspect, format, table, json, dir, setDefaults, stylize };
});
