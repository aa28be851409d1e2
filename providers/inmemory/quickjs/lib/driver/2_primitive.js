// Values that are no objects.

const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const escapes = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };

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
        const parts = lines.map((l) => quote(l + "\n"));
        if (last !== "") parts.push(quote(last));
        return parts.join(` +\n${" ".repeat(ctx.indent + 2)}`) + rest;
      }
      return quote(v) + rest;
    }
    case "number": {
      const s = Object.is(v, -0) ? "-0" : `${v}`;
      return s.length < 18 ? s : numberText(v); // the engine's may have a digit too many
    }
    case "bigint": return `${v}n`;
    case "symbol": return symbolText(v);
    default: return `${v}`;
  }
}

function symbolText(v) {
  const d = call(describe, v);
  return d === undefined ? "Symbol()" : `Symbol(${d.replace(/[\x00-\x1f'\\\x7f-\x9f]/g, (c) => (c === "'" ? c : escapes[c] ?? `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`))})`;
}
