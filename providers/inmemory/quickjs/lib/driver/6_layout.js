// How the texts of what an object consists of are put together.

function layout(out, ctx, base, open, close, isArray, level, v) {
  const entries = out.length;
  if (ctx.compact === true) return dense(out, ctx, base, open, close);
  if (ctx.compact !== false && ctx.compact >= 1) {
    if (isArray && entries > 6) out = columns(out, ctx, v);
    if (ctx.deepest - level < ctx.compact && entries === out.length) {
      // Counted as node's isBelowBreakLength does, whose 10 this is.
      let total = out.length + ctx.indent + open.length + base.length + 10 + out.length;
      for (const s of out) total += s.length;
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
  for (const s of out) total += s.length;
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
    total += out[i].length + 2;
    widest = Math.max(widest, out[i].length);
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
    for (let j = i; j < n; j += count) w = Math.max(w, out[j].length);
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
      const width = widths[j - i];
      row += right ? `${out[j]}, `.padStart(width) : `${out[j]}, `.padEnd(width);
    }
    const last = out[end - 1];
    row += right ? last.padStart(widths[end - 1 - i] - 2) : last;
    rows.push(row);
  }
  if (extra === 1) rows.push(out[n]);
  return rows;
}
