// URL and URLSearchParams, by the WHATWG's URL standard.

const ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
const encode = (s, keep) => s.replace(/[^]/gu, (c) => keep.test(c) ? c
  : Array.from(host.encode(c), (b) => "%" + b.toString(16).toUpperCase().padStart(2, "0")).join(""));
const inPath = /[\x21\x24-\x3b\x3d\x40-\x5f\x61-\x7a\x7c\x7e%&'()*+,\-.\/]/;
const inQuery = /[\x21\x24-\x3b\x3d\x3f-\x7e%&()*+,\-.\/]/;
const inHash = /[\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e%]/;
const inUser = /[A-Za-z0-9\-._~!$&'()*+,%]/;

class URLSearchParams {
  #list = []; #changed = null;
  constructor(init = "") {
    if (init !== null && typeof init === "object") {
      if (typeof init[Symbol.iterator] === "function") {
        for (const pair of init) {
          const [k, v, ...rest] = pair;
          if (v === undefined || rest.length > 0) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
          this.#list.push([`${k}`, `${v}`]);
        }
      } else for (const k of Object.keys(init)) this.#list.push([k, `${init[k]}`]);
    } else this.#parse(`${init}`);
  }
  #parse(s) {
    if (s.startsWith("?")) s = s.slice(1);
    const text = (p) => {
      const raw = host.encode(p.replaceAll("+", " "));
      const out = new Uint8Array(raw.length);
      let n = 0;
      for (let i = 0; i < raw.length; i++) {
        const hex = raw[i] === 0x25 && i + 2 < raw.length + 0 ? String.fromCharCode(raw[i + 1], raw[i + 2]) : "";
        if (/^[0-9a-fA-F]{2}$/.test(hex)) { out[n++] = parseInt(hex, 16); i += 2; } else out[n++] = raw[i];
      }
      return host.decode(out.subarray(0, n), false);
    };
    for (const part of s.split("&")) {
      if (part === "") continue;
      const i = part.indexOf("=");
      this.#list.push(i < 0 ? [text(part), ""] : [text(part.slice(0, i)), text(part.slice(i + 1))]);
    }
  }
  static from(query, changed) {
    const p = new URLSearchParams(query);
    p.#changed = changed;
    return p;
  }
  static reset(p, query) { p.#list = []; p.#parse(query); }
  #notify() { this.#changed?.(); }
  get size() { return this.#list.length; }
  append(k, v) { this.#list.push([`${k}`, `${v}`]); this.#notify(); }
  delete(k, v) { this.#list = this.#list.filter((e) => e[0] !== `${k}` || v !== undefined && e[1] !== `${v}`); this.#notify(); }
  get(k) { return this.#list.find((e) => e[0] === `${k}`)?.[1] ?? null; }
  getAll(k) { return this.#list.filter((e) => e[0] === `${k}`).map((e) => e[1]); }
  has(k, v) { return this.#list.some((e) => e[0] === `${k}` && (v === undefined || e[1] === `${v}`)); }
  set(k, v) {
    const i = this.#list.findIndex((e) => e[0] === `${k}`);
    if (i < 0) this.#list.push([`${k}`, `${v}`]);
    else {
      this.#list[i][1] = `${v}`;
      this.#list = this.#list.filter((e, j) => j <= i || e[0] !== `${k}`);
    }
    this.#notify();
  }
  sort() { this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#notify(); }
  forEach(f, self) { for (const [k, v] of this.#list) f.call(self, v, k, this); }
  *keys() { for (const e of this.#list) yield e[0]; }
  *values() { for (const e of this.#list) yield e[1]; }
  *entries() { for (const e of this.#list) yield [e[0], e[1]]; }
  [Symbol.iterator]() { return this.entries(); }
  get [Symbol.toStringTag]() { return "URLSearchParams"; }
  toString() {
    const form = (s) => encode(s, /[A-Za-z0-9*\-._ ]/).replaceAll(" ", "+");
    return this.#list.map(([k, v]) => `${form(k)}=${form(v)}`).join("&");
  }
  [CUSTOM](depth) {
    if (typeof depth === "number" && depth < 0) return "[Object]";
    return `URLSearchParams {${this.#list.map(([k, v]) => ` ${host.inspect(k)} => ${host.inspect(v)}`).join(",")}${this.#list.length > 0 ? " " : ""}}`;
  }
}
const { from: paramsFrom, reset: paramsReset } = URLSearchParams;
delete URLSearchParams.from;
delete URLSearchParams.reset;

function invalid(input, base) {
  const e = new TypeError("Invalid URL");
  e.code = "ERR_INVALID_URL";
  e.input = input;
  if (base !== undefined) e.base = `${base}`;
  return e;
}

function parseHost(s, special) {
  if (s.startsWith("[")) {
    if (!/^\[[0-9a-fA-F:.]+\]$/.test(s)) return null;
    return s.toLowerCase();
  }
  if (!special) return encode(s, /[\x21-\x7e]/);
  try { s = decodeURIComponent(s); } catch { return null; }
  s = s.normalize("NFKC").toLowerCase();
  // Hosts of other letters would need Punycode.
  if (s === "" || /[^\x00-\x7f]|[\x00-\x20#%\/:<>?@[\\\]^|\x7f]/.test(s)) return null;
  // A host that ends in a number is an IPv4 address, here of four decimal numbers.
  if (/(^|\.)(0x[0-9a-f]*|\d+)\.?$/.test(s) && !/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(s)) return null;
  return s;
}

function normalizePath(path, special) {
  const out = [];
  const parts = (special ? path.replaceAll("\\", "/") : path).split("/");
  parts.shift();
  parts.forEach((p, i) => {
    const dots = p.toLowerCase().replaceAll("%2e", ".");
    const last = i === parts.length - 1;
    if (dots === "..") { out.pop(); if (last) out.push(""); }
    else if (dots === ".") { if (last) out.push(""); }
    else out.push(encode(p, inPath));
  });
  return "/" + out.join("/");
}

function parseURL(input, base) {
  const s = input.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
  const u = { protocol: "", username: "", password: "", host: null, port: "", path: "", query: null, hash: null };
  let rest = s;
  const cut = rest.indexOf("#");
  if (cut >= 0) { u.hash = encode(rest.slice(cut + 1), inHash); rest = rest.slice(0, cut); }
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.\-]*):/.exec(rest);
  let inherit = null;
  // With the base's own scheme and no slashes behind it, it is relative to the base.
  if (scheme !== null && !(base !== null && base.protocol === scheme[1].toLowerCase() + ":" && base.protocol in ports && !/^[a-zA-Z][^:]*:[\/\\]/.test(rest))) {
    u.protocol = scheme[1].toLowerCase() + ":";
    rest = rest.slice(scheme[0].length);
  } else {
    if (scheme !== null) rest = rest.slice(scheme[0].length);
    if (base === null) return null;
    if (base.host === null && !base.path.startsWith("/") && rest !== "") return null;
    inherit = base;
    u.protocol = base.protocol;
  }
  const special = u.protocol in ports;
  const q = rest.indexOf("?");
  if (q >= 0) { u.query = encode(rest.slice(q + 1), special ? inQuery : /[\x21\x24-\x3b\x3d\x3f-\x7e%']/); rest = rest.slice(0, q); }
  const slashes = special ? /^[\/\\]{2,}/ : /^\/\//;
  let authority = slashes.exec(rest);
  if (inherit === null && special && u.protocol !== "file:" && authority === null) authority = /^[\/\\]*/.exec(rest);
  if (authority !== null) {
    rest = rest.slice(u.protocol === "file:" || !special ? 2 : authority[0].length);
    const end = rest.search(special ? /[\/\\]/ : /\//);
    let auth = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? "" : rest.slice(end);
    const at = auth.lastIndexOf("@");
    if (at >= 0) {
      const user = auth.slice(0, at), colon = user.indexOf(":");
      u.username = encode(colon < 0 ? user : user.slice(0, colon), inUser);
      u.password = colon < 0 ? "" : encode(user.slice(colon + 1), inUser);
      auth = auth.slice(at + 1);
    }
    const port = /:(\d*)$/.exec(auth);
    if (port !== null) {
      auth = auth.slice(0, -port[0].length);
      if (port[1] !== "" && +port[1] > 65535) return null;
      u.port = port[1] === "" || String(+port[1]) === ports[u.protocol] ? "" : String(+port[1]);
    } else if (!auth.startsWith("[") && auth.includes(":")) return null;
    if (auth === "" && (u.protocol === "file:" || !special)) u.host = "";
    else if ((u.host = parseHost(auth, special)) === null) return null;
    if (u.protocol === "file:" && u.host === "localhost") u.host = "";
    u.path = rest === "" && !special ? "" : normalizePath(rest === "" ? "/" : rest, special);
    return u;
  }
  if (inherit !== null) {
    Object.assign(u, { username: inherit.username, password: inherit.password, host: inherit.host, port: inherit.port });
    if (rest === "") {
      u.path = inherit.path;
      if (q < 0) u.query = inherit.query;
    } else if (/^[\/\\]/.test(rest)) u.path = normalizePath(rest, special);
    else u.path = normalizePath(inherit.path.slice(0, inherit.path.lastIndexOf("/") + 1) + rest, special);
    return u;
  }
  if (u.protocol === "file:") { u.host = ""; u.path = normalizePath(rest.startsWith("/") ? rest : "/" + rest, true); }
  else u.path = rest.startsWith("/") ? normalizePath(rest, false) : encode(rest, /[\x20-\x7e]/);
  return u;
}

class URL {
  #u; #params = null;
  constructor(input, base) {
    let b = null;
    if (base !== undefined) {
      b = parseURL(`${base}`, null);
      if (b === null) throw invalid(`${input}`, base);
    }
    this.#u = parseURL(`${input}`, b);
    if (this.#u === null) throw invalid(`${input}`, base);
  }
  static canParse(input, base) { try { new URL(input, base); return true; } catch { return false; } }
  static parse(input, base) { try { return new URL(input, base); } catch { return null; } }
  get href() {
    const u = this.#u;
    const user = u.username !== "" || u.password !== "" ? `${u.username}${u.password !== "" ? `:${u.password}` : ""}@` : "";
    const auth = u.host === null ? "" : `//${user}${u.host}${u.port !== "" ? `:${u.port}` : ""}`;
    return `${u.protocol}${auth}${u.path}${u.query === null ? "" : `?${u.query}`}${u.hash === null ? "" : `#${u.hash}`}`;
  }
  set href(v) {
    const u = parseURL(`${v}`, null);
    if (u === null) throw invalid(`${v}`);
    this.#u = u;
    this.#sync();
  }
  #sync() { if (this.#params !== null) paramsReset(this.#params, this.#u.query ?? ""); }
  get origin() { return this.#u.protocol in ports && this.#u.protocol !== "file:" ? `${this.#u.protocol}//${this.host}` : "null"; }
  get protocol() { return this.#u.protocol; }
  set protocol(v) {
    const p = /^([a-zA-Z][a-zA-Z0-9+.\-]*):?/.exec(`${v}`)?.[1].toLowerCase();
    if (p !== undefined && (p + ":" in ports) === (this.#u.protocol in ports)) {
      this.#u.protocol = p + ":";
      if (this.#u.port === ports[p + ":"]) this.#u.port = "";
    }
  }
  get username() { return this.#u.username; }
  set username(v) { if (this.#u.host) this.#u.username = encode(`${v}`, inUser); }
  get password() { return this.#u.password; }
  set password(v) { if (this.#u.host) this.#u.password = encode(`${v}`, inUser); }
  get host() { return (this.#u.host ?? "") + (this.#u.port !== "" ? `:${this.#u.port}` : ""); }
  set host(v) {
    const m = /^(\[[^\]]*\]|[^:\/?#\\]*)(?::(\d*))?/.exec(`${v}`);
    this.hostname = m[1];
    if (m[2]) this.port = m[2];
  }
  get hostname() { return this.#u.host ?? ""; }
  set hostname(v) {
    if (this.#u.host === null) return;
    const h = parseHost(`${v}`, this.#u.protocol in ports);
    if (h !== null) this.#u.host = h;
  }
  get port() { return this.#u.port; }
  set port(v) {
    const n = /^\d*/.exec(`${v}`)[0];
    if (`${v}` === "" || n !== "" && +n <= 65535) this.#u.port = n === "" || String(+n) === ports[this.#u.protocol] ? "" : String(+n);
  }
  get pathname() { return this.#u.path; }
  set pathname(v) {
    if (this.#u.host === null && !this.#u.path.startsWith("/")) return;
    const p = `${v}`.replace(/[?#]/g, encodeURIComponent);
    this.#u.path = normalizePath(/^[\/\\]/.test(p) ? p : "/" + p, this.#u.protocol in ports);
  }
  get search() { return this.#u.query ? `?${this.#u.query}` : ""; }
  set search(v) {
    const s = `${v}`.replace(/^\?/, "").replaceAll("#", "%23");
    this.#u.query = s === "" ? null : encode(s, inQuery);
    this.#sync();
  }
  get hash() { return this.#u.hash ? `#${this.#u.hash}` : ""; }
  set hash(v) {
    const s = `${v}`.replace(/^#/, "");
    this.#u.hash = s === "" ? null : encode(s, inHash);
  }
  get searchParams() {
    this.#params ??= paramsFrom(this.#u.query ?? "", () => {
      const q = this.#params.toString();
      this.#u.query = q === "" ? null : q;
    });
    return this.#params;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
  get [Symbol.toStringTag]() { return "URL"; }
  [CUSTOM](depth, options, inspect) {
    const fields = {};
    for (const k of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"]) fields[k] = this[k];
    return `URL ${host.inspect(fields, options)}`;
  }
}
