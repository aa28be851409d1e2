// An object, by its class.

function object(v, ctx, level) {
  const name = constructorName(v);
  const cls = classOf(v);
  let tag = tagOf(v, name);
  let open = "{", close = "}", base = "", isArray = false, fill = null;
  let keys;
  const typed = cls > SHARED_ARRAY_BUFFER && cls < DATAVIEW;
  if (cls === ARRAY) {
    keys = keysOf(v, true);
    const p = name !== "Array" || tag !== "" ? prefix(name, tag, "Array", v.length) : "";
    open = p + "["; close = "]"; isArray = true;
    if (v.length === 0 && keys.length === 0) return open + "]";
    fill = (out) => arrayItems(v, ctx, level, out);
  } else if (typed) {
    keys = keysOf(v, true);
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
    keys = keysOf(v, false);
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
    keys = keysOf(v, cls === STRING);
    if (typeof v === "function") {
      base = functionBase(v, name, tag);
      if (keys.length === 0) return base;
    } else switch (cls) {
      case ARGUMENTS: case MAPPED_ARGUMENTS:
        open = "[Arguments] {";
        if (keys.length === 0) return open + "}";
        break;
      case DATE: {
        const t = call(Date.prototype.getTime, v);
        base = Number.isNaN(t) ? "Invalid Date" : call(Date.prototype.toISOString, v);
        if (name !== "Date") base = `${prefix(name, tag, "Date")}${base}`;
        if (keys.length === 0) return base;
        break;
      }
      case REGEXP:
        base = call(RegExp.prototype.toString, v);
        if (name !== "RegExp") base = `${prefix(name, tag, "RegExp")}${base}`;
        if (keys.length === 0) return base;
        break;
      case ERROR:
        base = errorBase(v, name, keys);
        if (ctx.indent > 0) base = base.replaceAll("\n", "\n" + " ".repeat(ctx.indent));
        if (keys.length === 0) return base;
        break;
      case NUMBER: case STRING: case BOOLEAN: case SYMBOL: case BIGINT: {
        const type = { [NUMBER]: "Number", [STRING]: "String", [BOOLEAN]: "Boolean", [SYMBOL]: "Symbol", [BIGINT]: "BigInt" }[cls];
        const inner = call({ Number, String, Boolean, Symbol, BigInt }[type].prototype.valueOf, v);
        base = `[${type}${name !== type ? ` (${name === null ? "null prototype" : name})` : ""}: ${primitive(inner, { ...ctx, compact: true })}]`;
        if (keys.length === 0) return base;
        break;
      }
      case ARRAY_BUFFER: case SHARED_ARRAY_BUFFER:
        open = prefix(name, "", "ArrayBuffer") + "{";
        fill = (out) => {
          out.push(`[Uint8Contents]: ${hex(new Uint8Array(v), ctx)}`);
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
          if (state === undefined) out.push("<pending>");
          else {
            ctx.indent += 2;
            const s = value(state[1], ctx, level + 1);
            ctx.indent -= 2;
            out.push(state[0] ? s : `<rejected> ${s}`);
          }
        };
        break;
      }
      case WEAKMAP: case WEAKSET:
        open = prefix(name, "", cls === WEAKMAP ? "WeakMap" : "WeakSet") + "{";
        fill = (out) => { out.push("<items unknown>"); };
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
    return `[${shown.startsWith("[") ? shown.slice(1).replace("]", "") : shown}]`;
  }
  ctx.seen.push(v);
  ctx.deepest = level;
  const out = [];
  if (fill !== null) fill(out);
  for (const k of keys) out.push(property(v, k, ctx, level, isArray));
  ctx.seen.pop();
  const ref = ctx.circular.get(v);
  if (ref !== undefined) {
    const mark = `<ref *${ref}>`;
    if (base === "") open = `${mark} ${open}`;
    else base = `${mark} ${base}`;
  }
  return layout(out, ctx, base, open, close, isArray, level, v);
}
