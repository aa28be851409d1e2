// path

const path = (() => {
  const normalize = (p) => {
    if (text("path", p) === "") return ".";
    const abs = p.startsWith("/"), slash = p.endsWith("/"), out = [];
    for (const part of p.split("/")) {
      if (part === "" || part === ".") continue;
      if (part === ".." && out.length > 0 && out.at(-1) !== "..") out.pop();
      else if (part !== ".." || !abs) out.push(part);
    }
    const s = out.join("/");
    return abs ? "/" + s + (slash && s !== "" ? "/" : "") : s === "" ? (slash ? "./" : ".") : s + (slash ? "/" : "");
  };
  const resolve = (...parts) => {
    let p = "";
    for (let i = parts.length - 1; i >= 0 && !p.startsWith("/"); i--) if (text(`paths[${i}]`, parts[i]) !== "") p = p === "" ? parts[i] : parts[i] + "/" + p;
    if (!p.startsWith("/")) p = host.cwd() + "/" + p;
    const n = normalize(p);
    return n.length > 1 && n.endsWith("/") ? n.slice(0, -1) : n;
  };
  const text = (name, v) => { if (typeof v !== "string") throw badArgument(name, "of type string", v); return v; };
  const basename = (p, suffix) => {
    if (suffix !== undefined) text("suffix", suffix);
    const b = text("path", p).replace(/\/+$/, "").split("/").pop();
    if (!suffix) return b;
    return suffix === p ? "" : b !== suffix && b.endsWith(suffix) ? b.slice(0, -suffix.length) : b;
  };
  const dirname = (p) => {
    const m = /^([^]*[^/])?(\/*)$/.exec(text("path", p))[1] ?? "";
    if (m === "") return p.startsWith("/") ? "/" : ".";
    const i = m.lastIndexOf("/");
    return i < 0 ? "." : i === 0 ? "/" : i === 1 && p.startsWith("/") ? "//" : m.slice(0, i);
  };
  const extname = (p) => {
    const b = basename(p), i = b.lastIndexOf(".");
    return i <= 0 || b === ".." ? "" : b.slice(i);
  };
  const format = (o) => {
    if (o === null || typeof o !== "object") throw badArgument("pathObject", "of type object", o);
    const dir = o.dir || o.root, b = o.base || `${o.name || ""}${o.ext ? `${o.ext[0] === "." ? "" : "."}${o.ext}` : ""}`;
    return !dir ? b : dir === o.root ? dir + b : dir + "/" + b;
  };
  const api = {
    sep: "/", delimiter: ":", normalize, resolve, basename, dirname, extname,
    join: (...parts) => normalize(parts.filter((p) => text("path", p) !== "").join("/")),
    isAbsolute: (p) => text("path", p).startsWith("/"),
    relative(a, b) {
      const from = resolve(a).split("/").filter(Boolean), to = resolve(b).split("/").filter(Boolean);
      let i = 0;
      while (i < from.length && i < to.length && from[i] === to[i]) i++;
      return [...from.slice(i).map(() => ".."), ...to.slice(i)].join("/");
    },
    parse(p) {
      const base = basename(p), ext = extname(p), root = p.startsWith("/") ? "/" : "", body = p.replace(/\/+$/, ""), i = body.lastIndexOf("/");
      return { root, dir: i > 0 ? body.slice(0, i) : root, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
    },
    format,
    toNamespacedPath: (p) => p,
  };
  return Object.assign(api, { posix: api });
})();
