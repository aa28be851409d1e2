// Values that are no objects, and the styles of all.

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
