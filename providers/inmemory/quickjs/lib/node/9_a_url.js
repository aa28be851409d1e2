// url: what is older than URL.

const slashed = new Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
class Url {
  constructor() {
    for (const k of ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path"]) this[k] = null;
    this.href = "";
  }
  format() { return formatURL(this); }
}
const invalidURL = (text) => Object.assign(error(TypeError, "ERR_INVALID_URL", "Invalid URL"), { input: text });
// authorityOf takes user, host and port from the front of rest, and returns what is left.
function authorityOf(u, rest, text) {
  const end = /[#/?]/.exec(rest)?.index ?? rest.length, at = rest.slice(0, end).lastIndexOf("@");
  const head = rest.slice(0, end).replace(/[\t\n\r]/g, "");
  rest = head + rest.slice(end);
  if (at >= 0) { u.auth = decodeURIComponent(rest.slice(0, at)); rest = rest.slice(at + 1); }
  const [host] = /^[^\s"%';<>\\^`{|}#/?]*/.exec(rest), [, name, port] = /^([^]*?)(?::(\d*))?$/.exec(host);
  rest = rest.slice(host.length);
  if (port) u.port = port;
  u.hostname = name;
  const ipv6 = /^\[[^]*\]$/.test(name);
  if (!ipv6) {
    const bad = /[^a-zA-Z0-9.\-+_\x80-\uffff]/.exec(name);
    if (bad !== null) { u.hostname = name.slice(0, bad.index); rest = `/${name.slice(bad.index)}${rest}`; }
  }
  u.hostname = u.hostname.length > 255 ? "" : u.hostname.toLowerCase();
  if (/[^\x00-\x7f]/.test(u.hostname)) {
    try { u.hostname = new globalThis.URL(`http://${u.hostname}`).hostname; } catch { throw invalidURL(text); }
  }
  if (ipv6 && /[\0\t\n\r #%/<>?@\\^|]/.test(u.hostname)) throw invalidURL(text);
  u.host = u.hostname + (u.port ? `:${u.port}` : "");
  if (ipv6) {
    u.hostname = u.hostname.slice(1, -1);
    if (rest[0] !== "/") rest = `/${rest}`;
  }
  return rest;
}
function parseURL(text, parseQuery, hostAfterSlashes) {
  if (text instanceof Url) return text;
  if (typeof text !== "string") throw badArgument("url", "of type string", text);
  const u = new Url();
  let rest = text.replace(/^[\0-\x20\xa0\ufeff]+|[\0-\x20\xa0\ufeff]+$/g, "").replace(/^[^?#]*/, (p) => p.replaceAll("\\", "/"));
  const query = (search) => {
    u.search = search ?? null;
    u.query = parseQuery ? querystring.parse((search ?? "").slice(1)) : search === undefined ? null : search.slice(1);
  };
  const simple = !hostAfterSlashes && !/#|^[^?#]*@/.test(rest) ? /^(\/\/?(?!\/)[^?\s]*)(\?[^\s]*)?$/.exec(rest) : null;
  if (simple !== null) {
    u.path = u.href = rest;
    u.pathname = simple[1];
    query(simple[2]);
    return u;
  }
  const proto = /^[a-z0-9.+-]+:/i.exec(rest)?.[0], lower = proto?.toLowerCase(), script = lower === "javascript:";
  if (proto !== undefined) { u.protocol = lower; rest = rest.slice(proto.length); }
  let slashes = false;
  if (hostAfterSlashes || proto !== undefined || /^\/\/[^@/]+@[^@/]+/.test(rest)) {
    slashes = rest.startsWith("//");
    if (slashes && !script) { rest = rest.slice(2); u.slashes = true; }
  }
  if (!script && (slashes || proto !== undefined && !slashed.has(proto))) rest = authorityOf(u, rest, text);
  if (!script) rest = rest.replace(/[\t\n\r "'<>\\^`{|}]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  const [, pathname, search, hash] = /^([^?#]*)(\?[^#]*)?(#[^]*)?$/.exec(rest);
  u.hash = hash ?? null;
  query(search);
  u.pathname = pathname || (slashed.has(lower) && u.hostname ? "/" : null);
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
  urlToHttpOptions(u) {
    const { hostname, pathname, port, username, password, search } = u;
    const o = { __proto__: null, ...u, protocol: u.protocol, hostname: hostname && hostname.startsWith("[") ? hostname.slice(1, -1) : hostname, hash: u.hash, search, pathname,
      path: `${pathname || ""}${search || ""}`, href: u.href };
    if (port !== "") o.port = Number(port);
    if (username || password) o.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return o;
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
