// A value, and what stands before the braces of an object.

function value(v, ctx, level) {
  if (v === null || typeof v !== "object" && typeof v !== "function") return primitive(v, ctx);
  let proxy = false;
  for (let i = 0; classOf(v) === PROXY && i < 1000; i++) {
    proxy = true;
    const target = proxyTarget(v);
    if (target === null) return "<Revoked Proxy>";
    v = target;
  }
  if (!proxy && !ctx.plain && classOf(v) !== MODULE) {
    const f = inherited(v, CUSTOM);
    if (typeof f === "function") {
      const depth = ctx.depth === null ? null : ctx.depth - level;
      // One by one and not as an object: the program must get none of this realm.
      const r = customInspect(v, f, depth, ctx.depth, ctx.breakLength, ctx.compact, ctx.maxArrayLength, ctx.maxStringLength);
      if (r !== v) {
        if (typeof r === "string") return r.replaceAll("\n", "\n" + " ".repeat(ctx.indent));
        return value(r, ctx, level);
      }
    }
  }
  if (ctx.seen.includes(v)) {
    if (!ctx.circular.has(v)) ctx.circular.set(v, ctx.circular.size + 1);
    return `[Circular *${ctx.circular.get(v)}]`;
  }
  return object(v, ctx, level);
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
