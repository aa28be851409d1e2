// What an object consists of: items of arrays, and properties.

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
      out.push(`<${i - from} empty item${i - from > 1 ? "s" : ""}>`);
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
  else if (d.get !== undefined) s = d.set !== undefined ? "[Getter/Setter]" : "[Getter]";
  else if (d.set !== undefined) s = "[Setter]";
  else {
    const by = ctx.compact === true && !inArray ? 3 : 2;
    ctx.indent += by;
    s = value(d.value, ctx, level + 1);
    if (by === 3 && ctx.breakLength < s.length) gap = `\n${" ".repeat(ctx.indent)}`;
    ctx.indent -= by;
  }
  if (item) return s;
  let label;
  if (typeof key === "symbol") label = `[${symbolText(key)}]`;
  else if (key === "__proto__") label = "['__proto__']";
  else label = identifier.test(key) ? key : quote(key, true);
  return `${label}:${gap}${s}`;
}

