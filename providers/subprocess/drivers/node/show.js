// Values and displays, and the host's word that they are in their place.

// toJSON returns the JSON form of a value that JSON gives back unchanged, ''
// of any other.
const toJSON = __JSVALUE__;
const { parse, stringify } = JSON;

const inspect = (v) => (typeof v === 'string' ? v : util.inspect(v));

// shown is inspect of a value whose own code may fail at that, which is no end of
// the program.
function shown(v) {
  try {
    return inspect(v);
  } catch (e) {
    if (e?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw e;
    return '[a value that cannot be shown]';
  }
}

const isJSON = (mime) => mime === 'application/json' || mime.endsWith('+json');
const isText = (mime) => mime.startsWith('text/') || mime.endsWith('+xml') || mime === 'application/javascript' || mime === 'application/xml';
const isBinary = (mime) => /^(image|audio|video|font)\/|^application\/(pdf|octet-stream|zip|gzip)$/.test(mime);
const isUTF8 = (b) => Buffer.from(b.toString()).equals(b);

function jsonOf(what, data) {
  const text = stringify(data);
  if (text === undefined) throw new TypeError(`${what} is ${typeof data}, which JSON does not have`);
  return text;
}

// encoded returns a representation as the bytes that the host wants. This is the
// rule of the package internal/mimedata.
function encoded(name, data) {
  const mime = name.split(';', 1)[0].trim().toLowerCase();
  if (isJSON(mime)) {
    const text = typeof data === 'string' ? data : data instanceof Uint8Array ? Buffer.from(data).toString() : jsonOf(`${name} data`, data);
    try {
      parse(text);
      return Buffer.from(text);
    } catch (e) {
      if (typeof data === 'string') return Buffer.from(stringify(data));
      throw e;
    }
  }
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) {
    const b = ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
    if (isText(mime) && !isUTF8(b)) throw new TypeError(`${name} data is not UTF-8`);
    return b;
  }
  if (data === undefined || typeof data === 'function' || typeof data === 'object' && data !== null) throw new TypeError(`${name} data is ${typeof data}, not a string or bytes`);
  if (typeof data !== 'string') data = `${data}`;
  if (isText(mime)) return Buffer.from(data);
  const packed = data.replace(/\s/g, ''), bare = packed.replace(/=+$/, '');
  const valid = !/[^\w+/-]/.test(bare) && bare.length % 4 !== 1;
  if (isBinary(mime)) {
    if (!valid) throw new TypeError(`${name} data is neither bytes nor base64`);
    return Buffer.from(bare, 'base64');
  }
  const b = Buffer.from(bare, 'base64');
  return b.toString('base64') === packed && !isUTF8(b) ? b : Buffer.from(data);
}

// peek returns some bytes of what has come and was not served.
function peek(at, n) {
  const parts = [];
  for (const b of pending) {
    if (n <= 0) break;
    if (at < b.length) {
      parts.push(b.subarray(at, at + n));
      n -= b.length - at;
    }
    at = Math.max(at - b.length, 0);
  }
  return parts.length === 1 ? parts[0] : Buffer.concat(parts);
}

// find returns where, in what has come and was not served, the first frame is
// that has the kind and the only field.
function find(kind, field) {
  const small = 1 + 8 + field.length;
  for (let at = 0; at + 8 <= have;) {
    const size = parseInt(peek(at, 8).toString('latin1'), 16), end = at + 8 + size;
    if (end > have) return null;
    if (size === small) {
      const f = peek(at + 8, size).toString('latin1');
      if (f[0] === kind && f.slice(9) === field) return { at, end };
    }
    at = end;
  }
  return null;
}

// more reads what has come since, without waiting, and reports whether
// there was anything. The event loop serves it later.
const room = Buffer.alloc(1 << 16);
function more() {
  try {
    const n = fs.readSync(CONTROL, room, 0, room.length, null);
    if (n === 0) realExit(0);
    if (have === 0) setImmediate(() => onData(Buffer.alloc(0)));
    pending.push(Buffer.from(room.subarray(0, n)));
    have += n;
    return true;
  } catch (e) {
    if (e.code !== 'EAGAIN') throw e;
    return false;
  }
}

// waitAck reads the host's answer, which comes when the show is in its place.
function waitAck(n) {
  for (;;) {
    const found = find('A', n);
    if (found) {
      const flat = Buffer.concat(pending);
      pending = [Buffer.concat([flat.subarray(0, found.at), flat.subarray(found.end)])];
      have = pending[0].length;
      return;
    }
    // Not by the event loop, in which the program's own callbacks would run.
    if (!more()) Atomics.wait(pause, 0, 0, 0.02);
  }
}

// show sends a bundle. In a run it waits until the host has put it in its
// place; between runs it does not wait.
const show = (...args) => pristine(() => showAll(...args));
function showAll(kind, bundle, id = '', value = '', meta = '') {
  const entries = Object.entries(bundle);
  if (Buffer.byteLength(String(id)) > MAX_ID) throw new RangeError(`a display id of more than ${MAX_ID} bytes`);
  if (Buffer.byteLength(meta) > MAX_METADATA) throw new RangeError(`metadata of more than ${MAX_METADATA} bytes`);
  if (entries.length > MAX_BUNDLE) throw new RangeError(`more than ${MAX_BUNDLE} representations`);
  const fields = [];
  let size = value.length;
  for (const [mime, data] of entries) {
    if (mime === '' || Buffer.byteLength(mime) > MAX_MIME) throw new RangeError(`a MIME type has 1 to ${MAX_MIME} bytes`);
    const b = encoded(mime, data);
    size += b.length;
    fields.push(mime, b);
  }
  if (size > LIMIT) return send('T', seq, kind === 'result' ? 'result' : 'display', size);
  const waits = kind !== 'result' && current !== null;
  const n = waits ? String(++shows) : '0';
  send('D', current ? seq : '', n, kind, id, meta, value, ...fields);
  if (waits) waitAck(n);
}

const isMIME = (s) => /^[^/]+\/[^]/.test(s) && (s.includes(';') || !/[ \t\r\n\0]/.test(s));
const isBundle = (v) => !util.types.isProxy(v) && Object.prototype.toString.call(v) === '[object Object]' && Object.keys(v).length > 0 && Object.keys(v).every(isMIME);

// display shows data of a MIME type, or a bundle of several, or any other value as text.
function display(mime, data, options) {
  let bundle;
  if (typeof mime === 'string' && data !== undefined) {
    if (!isMIME(mime)) throw new TypeError(`not a MIME type: ${mime.slice(0, 100)}`);
    bundle = { [mime]: data };
  } else {
    // Of a bundle no getter is called.
    bundle = pristine(() => (isBundle(mime) ? Object.fromEntries(Object.keys(mime).map((k) => [k, getOwnPropertyDescriptor(mime, k).value])) : { 'text/plain': inspect(mime) }));
    options ??= data;
  }
  const { id = '', update, metadata } = options ?? {};
  const meta = metadata !== null && /^(?:object|function)$/.test(typeof metadata) ? jsonOf('metadata', metadata) : '';
  show(update === true && id ? 'update' : 'display', bundle, id, '', meta);
}

function updateDisplay(id, mime, data) {
  if (!id) throw new TypeError('updateDisplay needs the id of a display');
  display(mime, data, { id, update: true });
}

function clearOutput(wait) {
  show((wait?.wait ?? wait) === true ? 'clear wait' : 'clear', {});
}

const hidden = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
hidden('display', display);
hidden('updateDisplay', updateDisplay);
hidden('clearOutput', clearOutput);
