// console.table.

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
