// console.table.

// table is console.table; undefined where the data is no table, or a Map or a Set.
function table(data, only) {
  if (data === null || typeof data !== "object" || classOf(data) === PROXY) return undefined;
  const cls = classOf(data);
  const rows = [];
  const cell = (v) => value(v, { ...options(), depth: v !== null && typeof v === "object" && classOf(v) === ARRAY && v.length > 2 ? -1 : 0, maxArrayLength: 3, breakLength: Infinity }, 0);
  if (cls === MAP || cls === SET) return undefined;
  for (const k of Object.keys(data)) rows.push([k, own(data, k)]);
  const names = [], seen = new Set();
  let values = false;
  const cells = rows.map(([k, v]) => {
    const row = new Map();
    if (v !== null && typeof v === "object" && classOf(v) !== PROXY) {
      for (const p of Object.keys(v)) {
        if (!seen.has(p)) { seen.add(p); names.push(p); }
        row.set(p, cell(own(v, p)));
      }
    } else {
      values = true;
      // The set itself is the key of values without columns: no column's name is equal to it.
      row.set(seen, cell(v));
    }
    return { k, row };
  });
  let shown = names;
  if (only !== null && typeof only === "object" && classOf(only) === ARRAY) {
    shown = [];
    for (let i = 0; i < only.length; i++) shown.push(String(own(only, i)));
    values = false;
  }
  const head = ["(index)", ...shown, ...(values ? ["Values"] : [])];
  const lines = cells.map(({ k, row }) => [k, ...shown.map((n) => row.get(n) ?? ""), ...(values ? [row.get(seen) ?? ""] : [])]);
  return draw(head, lines);
}

const width = (s) => [...s].length;

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
