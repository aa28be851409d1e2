// url: what is older than URL.

const slashed = new Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
class Url {
  constructor() {
    for (const k of ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path"]) this[k] = null;
    this.href = "";
  }
  format() { return formatURL(this); }
}
const parts = /^(?:([a-z][a-z0-9+.-]*:)(?!\d+(?:[/?#]|$)))?(?:(\/\/)(?:([^@/?#]*)@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d*))?)?([^?#]*)(\?[^#]*)?(#[^]*)?$/i;
function parseURL(text, parseQuery, hostAfterSlashes) {
  if (text instanceof Url) return text;
  if (typeof text !== "string") throw badArgument("url", "of type string", text);
  const u = new Url();
  text = text.trim();
  const m = parts.exec(text), protocol = m[1]?.toLowerCase(), known = slashed.has(protocol);
  let [, , slashes, auth, host, port, pathname, search, hash] = m;
  if (slashes !== undefined && protocol === undefined && !hostAfterSlashes && auth === undefined) { // a path
    pathname = /^[^?#]*/.exec(text)[0];
    slashes = host = port = undefined;
  }
  if (slashes !== undefined) {
    u.slashes = true;
    u.hostname = host.replace(/^\[|\]$/g, "").toLowerCase();
    u.host = host.toLowerCase() + (port ? `:${port}` : "");
    if (port) u.port = port;
    if (auth !== undefined) u.auth = decodeURIComponent(auth);
  }
  if (protocol !== undefined) u.protocol = protocol;
  const escape = (s) => s?.replace(/[\t\n\r "'<>\\^`{|}]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  u.hash = escape(hash) ?? null;
  u.search = escape(search) ?? null;
  u.query = parseQuery ? querystring.parse((u.search ?? "").slice(1)) : u.search?.slice(1) ?? null;
  u.pathname = escape(pathname) || (known && u.hostname ? "/" : null);
  if (u.pathname || u.search) u.path = (u.pathname ?? "") + (u.search ?? "");
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
    else if (colon.startsWith("file")) host = "//";
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
    if (u?.hostname) throw error(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
    if (/%2f/i.test(u?.pathname)) throw error(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
    return pathOf(u);
  },
  pathToFileURL(p) {
    const full = path.resolve(p) + (p.endsWith("/") && path.resolve(p) !== "/" ? "/" : "");
    return new globalThis.URL("file://" + full.replace(/[%\\\n\r\t?#~^|[\]`{}]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`));
  },
};
