// url: what is older than URL.

const slashed = new Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
class Url {
  constructor() {
    for (const k of ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path"]) this[k] = null;
    this.href = "";
  }
  format() { return formatURL(this); }
}
function parseURL(text, parseQuery, hostAfterSlashes) {
  if (text instanceof Url) return text;
  if (typeof text !== "string") throw badArgument("url", "of type string", text);
  const u = new Url(), s = text.trim(), [, protocol, slashes, after] = /^([a-z][a-z0-9.+-]*:)?(\/\/)?([^]*)$/i.exec(s);
  u.protocol = protocol?.toLowerCase() ?? null;
  let rest = `${slashes ?? ""}${after}`;
  if (slashes !== undefined && (protocol !== undefined || hostAfterSlashes)) {
    const [, authority, tail] = /^([^/?#\\]*)([^]*)$/.exec(after), at = authority.lastIndexOf("@");
    u.slashes = true;
    if (at >= 0) u.auth = lenient(authority.slice(0, at));
    const [, name, port] = /^(.*?)(?::(\d*))?$/.exec(authority.slice(at + 1));
    u.hostname = name.toLowerCase().replace(/^\[(.*)\]$/, "$1");
    u.port = port || null;
    u.host = name.toLowerCase() + (u.port === null ? "" : `:${u.port}`);
    rest = tail.replace(/^[^?#]*/, (p) => p.replaceAll("\\", "/"));
    if (slashed.has(u.protocol) && !rest.startsWith("/")) rest = `/${rest}`;
  }
  rest = rest.replace(/[\s"<>`{}|^']/g, (c) => (c === "'" ? "%27" : encodeURIComponent(c)));
  const [, pathname, search, hash] = /^([^?#]*)(\?[^#]*)?(#[^]*)?$/.exec(rest);
  u.pathname = pathname || null;
  u.search = search ?? null;
  u.query = parseQuery ? querystring.parse((search ?? "").slice(1)) : search === undefined ? null : search.slice(1);
  u.hash = hash ?? null;
  u.path = u.pathname !== null || u.search ? (u.pathname ?? "") + (u.search ?? "") : null;
  u.href = formatURL(u);
  return u;
}
function formatURL(u, options) {
  if (typeof u === "string") u = parseURL(u);
  else if (u === null || typeof u !== "object") throw badArgument("urlObject", "one of type object or string", u);
  if (u instanceof globalThis.URL) {
    const copy = new globalThis.URL(u);
    if (options?.auth === false) copy.username = copy.password = "";
    if (options?.fragment === false) copy.hash = "";
    if (options?.search === false) copy.search = "";
    return copy.href;
  }
  const colon = u.protocol && !u.protocol.endsWith(":") ? `${u.protocol}:` : u.protocol ?? "";
  const auth = u.auth ? `${encodeURIComponent(u.auth).replace(/%3A/gi, ":")}@` : "";
  let host = u.host ? auth + u.host : u.hostname ? auth + (u.hostname.includes(":") && !u.hostname.startsWith("[") ? `[${u.hostname}]` : u.hostname) + (u.port ? `:${u.port}` : "") : false;
  const query = u.query !== null && typeof u.query === "object" ? querystring.stringify(u.query) : "";
  let search = u.search || (query && `?${query}`) || "", hash = u.hash ?? "", pathname = (u.pathname ?? "").replace(/[?#]/g, encodeURIComponent);
  if (u.slashes || slashed.has(colon)) {
    if (u.slashes || host) { if (pathname && !pathname.startsWith("/")) pathname = `/${pathname}`; host = `//${host || ""}`; }
  }
  if (hash && !hash.startsWith("#")) hash = `#${hash}`;
  if (search && !search.startsWith("?")) search = `?${search}`;
  return colon + (host || "") + pathname + search.replaceAll("#", "%23") + hash;
}
const url = {
  Url, parse: parseURL, format: formatURL,
  get URL() { return globalThis.URL; }, get URLSearchParams() { return globalThis.URLSearchParams; },
  resolve(from, to) {
    const base = new globalThis.URL(to, new globalThis.URL(from, "resolve://host/"));
    return base.protocol === "resolve:" ? base.pathname + base.search + base.hash : base.href;
  },
  fileURLToPath(u) {
    u = typeof u === "string" ? new globalThis.URL(u) : u;
    if (u?.protocol !== undefined && u.protocol !== "file:") throw error(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    return pathOf(u);
  },
  pathToFileURL(p) {
    const full = path.resolve(p) + (p.endsWith("/") && path.resolve(p) !== "/" ? "/" : "");
    return new globalThis.URL("file://" + full.replace(/[%\\\n\r\t?#]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`));
  },
};
