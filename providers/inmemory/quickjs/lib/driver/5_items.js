// What an object consists of: items of arrays, and properties.

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
