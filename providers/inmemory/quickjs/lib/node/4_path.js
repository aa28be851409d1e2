// path

const path = (() => {
  const normalize = (p) => {
    if (p === "") return ".";
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
    for (let i = parts.length - 1; i >= 0 && !p.startsWith("/"); i--) if (parts[i] !== "") p = p === "" ? parts[i] : parts[i] + "/" + p;
    if (!p.startsWith("/")) p = host.cwd() + "/" + p;
    const n = normalize(p);
    return n.length > 1 && n.endsWith("/") ? n.slice(0, -1) : n;
  };
  const basename = (p, suffix) => {
    const b = p.replace(/\/+$/, "").split("/").pop();
    return suffix !== undefined && b !== suffix && b.endsWith(suffix) ? b.slice(0, -suffix.length) : b;
  };
  const dirname = (p) => {
    const s = p.replace(/\/+$/, "");
    if (s === "") return p.startsWith("/") ? "/" : ".";
    const i = s.lastIndexOf("/");
    return i < 0 ? "." : i === 0 ? "/" : s.slice(0, i).replace(/\/+$/, "") || "/";
  };
  const extname = (p) => {
    const b = basename(p), i = b.lastIndexOf(".");
    return i <= 0 ? "" : b.slice(i);
  };
  const api = {
    sep: "/", delimiter: ":", normalize, resolve, basename, dirname, extname,
    join: (...parts) => normalize(parts.filter((p) => p !== "").join("/")),
    isAbsolute: (p) => p.startsWith("/"),
    relative(a, b) {
      const from = resolve(a).split("/").filter(Boolean), to = resolve(b).split("/").filter(Boolean);
      let i = 0;
      while (i < from.length && i < to.length && from[i] === to[i]) i++;
      return [...from.slice(i).map(() => ".."), ...to.slice(i)].join("/");
    },
    parse(p) {
      const base = basename(p), ext = extname(p), root = p.startsWith("/") ? "/" : "";
      const dir = base === p ? "" : dirname(p) === "." && !p.startsWith(".") ? "" : dirname(p);
      return { root, dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
    },
    format: ({ dir, root = "", base, name = "", ext = "" }) => {
      const b = base ?? name + (ext !== "" && !ext.startsWith(".") ? "." + ext : ext);
      return dir === undefined || dir === "" ? root + b : dir === root ? dir + b : dir + "/" + b;
    },
    toNamespacedPath: (p) => p,
  };
  api.posix = api;
  return api;
})();
