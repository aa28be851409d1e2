// fetch and its classes, by the WHATWG's Fetch standard, as node has them: without
// caches, CORS and streams that are not whole yet. Requests are the host's; see fetch.go.

const latin = (bytes) => {
  let s = "";
  for (let i = 0; i < bytes.length; i += 4096) s += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return s;
};
const bytesOf = (s) => Uint8Array.from(s, (c) => c.charCodeAt(0));

class Headers {
  #map = new Map();
  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new TypeError("Headers constructor: init is not an object");
    const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const pair of pairs) {
      const [k, v, ...rest] = pair;
      if (v === undefined || rest.length > 0) throw new TypeError("Headers constructor: expected name/value pair to be length 2");
      this.append(k, v);
    }
  }
  static #name(k) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(`${k}`)) throw new TypeError(`Headers: ${k} is an invalid header name`);
    return `${k}`.toLowerCase();
  }
  static #value(v) {
    const s = `${v}`.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "");
    if (/[\0\r\n\u0100-\uffff]/.test(s)) throw new TypeError("Headers: the value is an invalid header value");
    return s;
  }
  append(k, v) {
    const name = Headers.#name(k);
    const old = this.#map.get(name) ?? [];
    this.#map.set(name, [...old, Headers.#value(v)]);
  }
  set(k, v) { this.#map.set(Headers.#name(k), [Headers.#value(v)]); }
  get(k) { return this.#map.get(Headers.#name(k))?.join(", ") ?? null; }
  has(k) { return this.#map.has(Headers.#name(k)); }
  delete(k) { this.#map.delete(Headers.#name(k)); }
  getSetCookie() { return [...this.#map.get("set-cookie") ?? []]; }
  forEach(f, self) { for (const [k, v] of this) f.call(self, v, k, this); }
  *entries() {
    for (const k of [...this.#map.keys()].sort()) {
      if (k === "set-cookie") for (const v of this.#map.get(k)) yield [k, v];
      else yield [k, this.get(k)];
    }
  }
  *keys() { for (const [k] of this) yield k; }
  *values() { for (const [, v] of this) yield v; }
  [Symbol.iterator]() { return this.entries(); }
  get [Symbol.toStringTag]() { return "Headers"; }
  [CUSTOM](depth, options, inspect) { return `Headers ${inspect(Object.fromEntries(this), options)}`; }
}

// A body's bytes, and the type that goes with them.
const extract = (body) => {
  if (body === null || body === undefined) return [null, null];
  if (body instanceof URLSearchParams) return [host.encode(body.toString()), "application/x-www-form-urlencoded;charset=UTF-8"];
  if (body instanceof ArrayBuffer) return [new Uint8Array(body.slice(0)), null];
  if (ArrayBuffer.isView(body)) return [new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice(), null];
  return [host.encode(`${body}`), "text/plain;charset=UTF-8"];
};

class Body {
  #bytes = null; #used = false;
  static fill(b, bytes) { b.#bytes = bytes; }
  static peek(b) {
    if (b.#used) throw new TypeError("Body is unusable: Body has already been read");
    return b.#bytes;
  }
  get bodyUsed() { return this.#used; }
  get body() {
    if (this.#bytes === null) return null;
    const next = async () => this.#used ? { done: true, value: undefined } : { done: false, value: await this.bytes() };
    return { getReader: () => ({ read: next, cancel: async () => {}, releaseLock() {} }), [Symbol.asyncIterator]: () => ({ next }) };
  }
  async bytes() {
    const b = peek(this);
    this.#used = b !== null;
    return b ?? new Uint8Array(0);
  }
  async arrayBuffer() { return (await this.bytes()).slice().buffer; }
  async text() { return new TextDecoder().decode(await this.bytes()); }
  async json() { return JSON.parse(await this.text()); }
}
const { fill, peek } = Body;
delete Body.fill;
delete Body.peek;

class Request extends Body {
  #url; #method; #headers; #signal; #redirect;
  constructor(input, init = {}) {
    super();
    const from = input instanceof Request ? input : null;
    init ??= {};
    try { this.#url = from ? from.url : new URL(`${input}`).href; } catch (cause) {
      throw new TypeError(`Failed to parse URL from ${input}`, { cause });
    }
    const method = `${init.method ?? from?.method ?? "GET"}`;
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method) || /^(connect|trace|track)$/i.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
    this.#method = /^(delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method;
    this.#headers = new Headers(init.headers ?? from?.headers);
    this.#signal = init.signal ?? from?.signal ?? new AbortController().signal;
    this.#redirect = init.redirect ?? from?.redirect ?? "follow";
    const [bytes, type] = init.body === undefined && from ? [peek(from), null] : extract(init.body);
    if (bytes !== null && /^(GET|HEAD)$/.test(this.#method)) throw new TypeError("Request with GET/HEAD method cannot have body.");
    if (type && !this.#headers.has("content-type")) this.#headers.set("content-type", type);
    fill(this, bytes);
  }
  get url() { return this.#url; }
  get method() { return this.#method; }
  get headers() { return this.#headers; }
  get signal() { return this.#signal; }
  get redirect() { return this.#redirect; }
  clone() { return new Request(this); }
  get [Symbol.toStringTag]() { return "Request"; }
}

class Response extends Body {
  #status; #text; #headers; #url = ""; #redirected = false; #type = "default";
  constructor(body = null, init = {}) {
    super();
    init ??= {};
    this.#status = init.status ?? 200;
    if (!(this.#status >= 200 && this.#status <= 599)) throw new RangeError(`init["status"] must be in the range of 200 to 599, inclusive.`);
    this.#text = `${init.statusText ?? ""}`;
    this.#headers = new Headers(init.headers);
    const [bytes, type] = extract(body);
    if (type && !this.#headers.has("content-type")) this.#headers.set("content-type", type);
    fill(this, bytes);
  }
  static json(data, init = {}) {
    const headers = new Headers(init?.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(JSON.stringify(data), { ...init, headers });
  }
  static redirect(url, status = 302) { return new Response(null, { status, headers: { location: new URL(url).href } }); }
  static error() {
    const r = new Response();
    r.#type = "error";
    r.#status = 0;
    return r;
  }
  static of(answer) {
    const r = new Response(bytesOf(answer.body), { status: answer.status, statusText: answer.statusText, headers: answer.headers });
    r.#url = answer.url;
    r.#redirected = answer.redirected;
    r.#type = "basic";
    return r;
  }
  get status() { return this.#status; }
  get statusText() { return this.#text; }
  get ok() { return this.#status >= 200 && this.#status < 300; }
  get headers() { return this.#headers; }
  get url() { return this.#url; }
  get redirected() { return this.#redirected; }
  get type() { return this.#type; }
  clone() {
    const r = new Response(peek(this), { status: this.#status || 200, statusText: this.#text, headers: this.#headers });
    [r.#url, r.#redirected, r.#type, r.#status] = [this.#url, this.#redirected, this.#type, this.#status];
    return r;
  }
  get [Symbol.toStringTag]() { return "Response"; }
  [CUSTOM](depth, options, inspect) {
    const { status, statusText, headers, bodyUsed, ok, redirected, type, url } = this;
    return `Response ${inspect({ status, statusText, headers, bodyUsed, ok, redirected, type, url }, options)}`;
  }
}
const answered = Response.of;
delete Response.of;

let requests = 0;
const fetch = async (input, init) => {
  const r = new Request(input, init);
  const { signal } = r;
  if (signal.aborted) throw signal.reason;
  const id = ++requests;
  const body = peek(r);
  const call = host.fetch({
    id, url: r.url, method: r.method, redirect: `${r.redirect}`, headers: [...r.headers], body: body === null ? null : latin(body),
  });
  let abort;
  const aborted = new Promise((_, reject) => {
    abort = () => { host.fetch({ cancel: id }).catch(() => {}); reject(signal.reason); };
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return answered(await Promise.race([call, aborted]));
  } catch (e) {
    if (signal.aborted) throw signal.reason;
    throw new TypeError("fetch failed", { cause: new Error(e?.message?.replace(/^fetch: /, "") ?? `${e}`) });
  } finally {
    call.catch(() => {});
    signal.removeEventListener("abort", abort);
  }
};
