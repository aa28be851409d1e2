// The node driver: runs programs as node's REPL does and speaks frames on fd 3.
//
// Programs are evaluated by V8's own REPL mode through an in-process inspector
// session: const, let and class may be declared again, await works at the top
// level, and the value of the last expression comes back. Everything runs on
// the main thread; SIGINT ends what computes there.
'use strict';
{
  const fs = require('fs');
  const vm = require('vm');
  const net = require('net');
  const util = require('util');
  const path = require('path');
  const { Writable } = require('stream');
  const { createRequire } = require('module');
  const inspector = require('inspector');
  const { promiseHooks } = require('v8');

  const CONTROL = 3;
  const LIMIT = 48 << 20; // bytes of one show; the host refuses frames of 64 MiB
  const MAX_ID = 1024, MAX_MIME = 256, MAX_BUNDLE = 64, MAX_METADATA = 64 << 10; // of a show
  const MAX_ARGS = 48 << 20, MAX_CALLS = 4096; // of a call, and how many may be open
  const MAX_MESSAGE = 64 << 10, MAX_STACK = 256 << 10, MAX_LINES = 4096; // of an error
  const realExit = process.reallyExit.bind(process);
  const { Buffer, setTimeout, setInterval, setImmediate, clearTimeout, Error, TypeError, JSON, Object, Number, String, Array, Set, Map, Promise, RegExp, Atomics } = globalThis;

  let seq = '', cell = 0, once = false, current = null;
  let shows = 0, stdinSet;

  // --- frames ---------------------------------------------------------------

  function writeAll(fd, data) {
    for (let at = 0; at < data.length;) {
      try {
        at += fs.writeSync(fd, data, at);
      } catch (e) {
        if (e.code !== 'EAGAIN') throw e;
        Atomics.wait(pause, 0, 0, 1);
      }
    }
  }
  const pause = new Int32Array(new SharedArrayBuffer(4));

  const hex = (n) => n.toString(16).padStart(8, '0');

  function send(kind, ...fields) {
    const parts = [];
    let size = 1;
    for (const f of fields) {
      const b = f instanceof Uint8Array ? f : Buffer.from(String(f));
      parts.push(Buffer.from(hex(b.length)), b);
      size += 8 + b.length;
    }
    writeAll(CONTROL, Buffer.concat([Buffer.from(hex(size) + kind), ...parts]));
  }

  // guarded makes a driver that a program broke end, instead of being silent.
  const guarded = (f) => (...args) => {
    try {
      return f(...args);
    } catch (e) {
      if (e?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw e;
      try { writeAll(2, Buffer.from(`the driver failed: ${e?.stack}\n`)); } catch {}
      realExit(70);
    }
  };

  let pending = [], have = 0;
  function onData(chunk) {
    pending.push(chunk);
    have += chunk.length;
    while (have >= 8) {
      if (pending[0].length < 8) pending = [Buffer.concat(pending)];
      const size = parseInt(pending[0].toString('latin1', 0, 8), 16);
      if (have < 8 + size) return;
      const all = pending.length > 1 ? Buffer.concat(pending) : pending[0];
      pending = all.length > 8 + size ? [all.subarray(8 + size)] : [];
      have -= 8 + size;
      const fields = [];
      for (let i = 9; i < 8 + size;) {
        const n = parseInt(all.toString('latin1', i, i + 8), 16);
        fields.push(all.subarray(i + 8, i + 8 + n));
        i += 8 + n;
      }
      serve(all.toString('latin1', 8, 9), fields);
    }
  }

  function serve(kind, fields) {
    switch (kind) {
      case 'C': return configure(fields);
      case 'N': return offer(fields.map(String));
      case 'V': return answer(...fields.map(String));
      case 'R': return void start(fields);
      case 'K': sent++; return;
      case 'I': if (current?.seq === String(fields[0])) current.stop('interrupt', 130); return;
    }
  }

  // --- streams: written at once, so that nothing is lost or held back ---------

  // stream writes past the machinery of Writable, which an interrupt would
  // leave waiting for the end of a write for ever.
  function stream(fd) {
    const s = new Writable({ write: (chunk, encoding, done) => done() });
    s.fd = fd;
    s._type = 'pipe';
    s.write = (chunk, encoding, done) => {
      if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
      if (typeof chunk === 'string') chunk = Buffer.from(chunk, encoding);
      else if (!(chunk instanceof Uint8Array)) throw new TypeError('The "chunk" argument must be of type string or an instance of Buffer, TypedArray, or DataView.');
      let failed = null;
      try {
        writeAll(fd, chunk);
      } catch (e) {
        failed = e;
      }
      if (typeof done === 'function') process.nextTick(done, failed);
      return true;
    };
    s.end = (chunk, encoding, done) => {
      if (typeof chunk === 'function') [chunk, done] = [undefined, chunk];
      else if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
      if (chunk !== undefined && chunk !== null) s.write(chunk, encoding);
      if (typeof done === 'function') process.nextTick(done);
      return s;
    };
    s.destroy = s.destroySoon = () => s;
    return s;
  }
  for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
    const s = stream(fd);
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => s });
  }

  // --- values -----------------------------------------------------------------

  // toJSON returns the JSON form of a value that JSON gives back unchanged, ''
  // of any other.
  const toJSON = __JSVALUE__;
  const { parse, stringify } = JSON;

  const inspect = (v) => (typeof v === 'string' ? v : util.inspect(v));

  const isText = (mime) => mime.startsWith('text/') || /(json|xml|javascript)$/.test(mime);

  function encoded(mime, data) {
    if (/json$/.test(mime)) {
      const text = typeof data === 'string' ? data : data instanceof Uint8Array ? Buffer.from(data).toString() : JSON.stringify(data);
      JSON.parse(text);
      return Buffer.from(text);
    }
    if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (data instanceof ArrayBuffer) return Buffer.from(data);
    if (typeof data !== 'string') throw new TypeError(`${mime} data is ${typeof data}, not a string or bytes`);
    return isText(mime) ? Buffer.from(data) : Buffer.from(data, 'base64');
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
      if (!more()) Atomics.wait(pause, 0, 0, 0.02);
    }
  }

  // show sends a bundle. In a run it waits until the host has put it in its
  // place; between runs nobody waits.
  function show(kind, bundle, id = '', value = '', meta = '') {
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

  // display shows data of a MIME type, or a bundle of several, or any value.
  function display(mime, data, options = {}) {
    const { id = '', update = false, metadata } = options ?? {};
    let bundle;
    if (typeof mime === 'string' && data !== undefined) bundle = { [mime]: data };
    else if (mime && Object.getPrototypeOf(mime) === Object.prototype && Object.keys(mime).length && Object.keys(mime).every((k) => /^\w+\/[\w.+-]+$/.test(k))) bundle = mime;
    else bundle = { 'text/plain': inspect(mime) };
    show(update ? 'update' : 'display', bundle, id, '', metadata ? JSON.stringify(metadata) : '');
  }
  const hidden = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  hidden('display', display);
  hidden('clearOutput', ({ wait = false } = {}) => show(wait ? 'clear wait' : 'clear', {}));

  // --- functions of the host's --------------------------------------------------

  // A ToolError is what a call fails with: tool is the function's name.
  class ToolError extends Error {
    constructor(tool, message) {
      super(`${tool}: ${message}`);
      this.tool = tool;
    }
  }
  Object.defineProperty(ToolError.prototype, 'name', { value: 'ToolError', writable: true, configurable: true });

  const tools = {};
  const calls = new Map(); // open ones of the run in progress, by number
  let lastCall = 0;

  // offer makes the functions known, in place of those that were before. What
  // a program has put in place of tools stays.
  function offer(names) {
    for (const name of Object.keys(tools)) delete tools[name];
    for (const name of names) {
      const stub = { [name]: (args) => call(name, args, stub) }[name];
      Object.defineProperty(tools, name, { value: stub, enumerable: true, writable: true, configurable: true });
    }
    for (const [name, v] of [['tools', tools], ['ToolError', ToolError]]) {
      const own = Object.getOwnPropertyDescriptor(globalThis, name);
      if (names.length && !own) hidden(name, v);
      else if (!names.length && own?.value === v) delete globalThis[name];
    }
  }

  function call(name, args, stub) {
    const at = {};
    Error.captureStackTrace(at, stub);
    return new Promise((resolve, reject) => {
      const fail = (message) => reject(failure(name, message, at));
      if (!current || current.stopping) return fail('the run has ended');
      if (calls.size >= MAX_CALLS) return fail(`more than ${MAX_CALLS} calls at once`);
      const json = Buffer.from(stringify(args === undefined ? {} : args) ?? '');
      if (json.length > MAX_ARGS) return fail(`arguments of ${json.length} bytes; at most ${MAX_ARGS} are possible`);
      const id = String(++lastCall);
      if (calls.size === 0) socket.ref(); // the run waits for the answer
      calls.set(id, { resolve, fail });
      send('Q', seq, id, name, json);
    });
  }

  function failure(name, message, at) {
    const e = new ToolError(name, message);
    e.stack = [`ToolError: ${e.message}`, ...String(at.stack).split('\n').filter((l) => /^\s+at /.test(l))].join('\n');
    return e;
  }

  // answer settles a call of the run in progress; any other is over.
  function answer(id, how, data) {
    const c = calls.get(id);
    if (!c || !current || current.stopping) return;
    calls.delete(id);
    if (calls.size === 0) socket.unref();
    if (how === 'ok') c.resolve(parse(data));
    else c.fail(data);
  }

  // --- modules ------------------------------------------------------------------

  const anchor = () => path.join(process.cwd(), 'cell.js');
  function need(id) { return createRequire(anchor())(id); }
  need.resolve = (id, o) => createRequire(anchor()).resolve(id, o);
  Object.defineProperty(need, 'cache', { get: () => createRequire(anchor()).cache });
  Object.defineProperty(need, 'main', { get: () => globalThis.module });
  hidden('require', need);
  hidden('module', { exports: {}, children: [], paths: [], id: '<cell>', loaded: true, require: need });
  hidden('exports', globalThis.module.exports);

  const importer = (spec, options) => (options === undefined ? import(spec) : import(spec, options));
  hidden('__import', (spec, options) => {
    spec = String(spec);
    const { pathToFileURL } = require('url');
    if (/^\.{0,2}\//.test(spec)) return importer(new URL(spec, pathToFileURL(anchor())).href, options);
    if (require('module').builtinModules.includes(spec.replace(/^node:/, '')) || /^[a-z]+:/.test(spec)) return importer(spec, options);
    return importer(resolveESM(spec), options);
  });

  function resolveESM(spec) {
    const { pathToFileURL } = require('url');
    try {
      return pathToFileURL(createRequire(anchor()).resolve(spec)).href;
    } catch (e) {
      if (e.code === 'MODULE_NOT_FOUND' && e.requireStack) {
        throw Object.assign(new Error(`Cannot find package '${spec}'`), { code: 'ERR_MODULE_NOT_FOUND' });
      }
      throw e;
    }
  }

  // dynamicImports replaces import( by __import( where it is a call. It knows
  // strings, templates, comments and, well enough, regular expressions.
  function dynamicImports(code) {
    if (!/\bimport\s*\(/.test(code)) return code;
    const token = /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|`|[}{]|(?:\bimport(?=\s*\())|[\w$]+|\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|[^\s]/gu;
    const out = [], stack = [];
    let last = '', at = 0, m;
    const template = () => {
      const re = /\\[^]|\$\{|`/g;
      re.lastIndex = token.lastIndex;
      for (let t; (t = re.exec(code));) {
        if (t[0] === '`' || t[0] === '${') { token.lastIndex = re.lastIndex; return t[0]; }
      }
      token.lastIndex = code.length;
    };
    while ((m = token.exec(code))) {
      let s = m[0];
      if (s.startsWith('//') || s.startsWith('/*')) continue;
      if (s[0] === '/' && s.length > 1 && /^(?:[\w$]+|[)\]}])$/.test(last) && !/^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/.test(last)) {
        token.lastIndex = m.index + 1;
        s = '/';
      }
      if (s === '`') { if (template() === '${') stack.push('`'); last = ')'; continue; }
      if (s === '{') stack.push('{');
      if (s === '}' && stack.pop() === '`') { if (template() === '${') stack.push('`'); last = ')'; continue; }
      if (s === 'import' && last !== '.' && last !== '#') {
        out.push(code.slice(at, m.index), '__import');
        at = m.index + 6;
      }
      last = s;
    }
    return out.join('') + code.slice(at);
  }

  const NAME = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
  const STATIC = new RegExp(`import\\s*(?:(?:(${NAME})\\s*(?:,\\s*)?)?(?:(\\*\\s*as\\s+(${NAME}))|(\\{[^}]*\\}))?\\s*from\\s*)?(["'])((?:\\\\.|(?!\\5).)*)\\5(\\s*(?:with|assert)\\s*\\{[^}]*\\})?[^\\S\\n]*;?`, 'uy');

  // staticImport turns the import declaration at the offset into a dynamic
  // one, on as many lines. It returns undefined where there is none.
  function staticImport(code, offset) {
    STATIC.lastIndex = offset;
    const m = STATIC.exec(code);
    if (!m) return undefined;
    const [all, name, , star, named, , from, attributes] = m;
    const options = attributes ? `, { with: ${attributes.replace(/^\s*(with|assert)\s*/, '')} }` : '';
    const load = `await __import(${JSON.stringify(from)}${options})`;
    let to;
    if (star) to = name ? `var ${star} = ${load}, { default: ${name} } = ${star};` : `var ${star} = ${load};`;
    else if (named || name) {
      const list = (named ?? '').replace(/\s+as\s+/g, ': ').replace(/^\{|\}$/g, '').replace(/\btype\s+(?=[\p{ID_Start}$_])/gu, '').trim();
      to = `var { ${[name ? `default: ${name}` : '', list].filter(Boolean).join(', ')} } = ${load};`;
    } else to = `${load}; void 0;`;
    const lines = all.split('\n').length - to.split('\n').length;
    return code.slice(0, offset) + to + '\n'.repeat(Math.max(lines, 0)) + code.slice(offset + all.length);
  }

  // --- running ------------------------------------------------------------------

  // The promise of the program in progress, which the inspector awaits. It must
  // not be collected: the inspector would say so in the middle of the
  // collection, which newer versions of node do not survive. abandon makes the
  // inspector forget it.
  let promise = null;
  function hold() {
    promise = null;
    const release = promiseHooks.onInit((p) => {
      promise ??= p;
      release();
    });
    return release;
  }
  function abandon() {
    session.disconnect();
    session.connect();
    handId = undefined;
    promise = null;
  }

  const session = new inspector.Session();
  session.connect();
  const post = (method, params) => {
    let answer;
    message(method, params, (error, result) => { answer = { error, result }; });
    return answer;
  };

  // message posts past a toJSON that a program gives all objects, which node's
  // own messages to the inspector would use too. It is back before the
  // inspector gets the message.
  const { defineProperty, getOwnPropertyDescriptor, assign, create, prototype } = Object;
  function message(method, params, done) {
    const d = getOwnPropertyDescriptor(prototype, 'toJSON');
    if (!d?.configurable) return session.post(method, params, done);
    delete prototype.toJSON;
    const list = params.arguments?.map((a) => assign(create(null), a));
    if (list) list.toJSON = undefined;
    const back = () => defineProperty(prototype, 'toJSON', d);
    const bare = assign(create(null), params, list && { arguments: list });
    let given = false;
    bare.toJSON = () => {
      if (!given) back();
      given = true;
      delete bare.toJSON;
      return bare;
    };
    try {
      session.post(method, bare, done);
    } finally {
      if (!given) back();
    }
  }

  // value returns what is behind an inspector's remote object.
  let handed;
  function value(remote) {
    if (remote.objectId) {
      post('Runtime.callFunctionOn', { objectId: remote.objectId, functionDeclaration: 'function (f) { f(this); }', arguments: [{ objectId: handTo() }], silent: true });
      const v = handed;
      handed = undefined;
      return remote.type === 'symbol' ? v.valueOf() : v;
    }
    if (remote.type === 'undefined') return undefined;
    if (remote.unserializableValue) {
      return remote.type === 'bigint' ? BigInt(remote.unserializableValue.slice(0, -1)) : Number(remote.unserializableValue);
    }
    return remote.value;
  }
  let handId;
  function handTo() {
    if (!handId) {
      globalThis.__toolcell = (v) => { handed = v; };
      handId = post('Runtime.evaluate', { expression: '__toolcell' }).result.result.objectId;
      delete globalThis.__toolcell;
    }
    return handId;
  }

  const sourceURL = (name) => `\n//# sourceURL=${name}`;

  // evaluate posts the program. The callback comes at once where compiling
  // failed, else when the program is done.
  function evaluate(code, name, done) {
    const release = hold();
    try {
      interruptible(() => message('Runtime.evaluate', {
        expression: code + sourceURL(name), replMode: true, awaitPromise: true, silent: true, objectGroup: name,
      }, guarded((error, answer) => {
        if (error) return;
        promise = null;
        done(answer);
      })));
    } finally {
      release();
    }
  }

  // interruptible calls f in a script that SIGINT ends, and process.exit.
  const trampoline = new vm.Script('__toolcell()', { filename: 'toolcell' });
  let computing = false;
  function interruptible(f) {
    if (computing) return f();
    const value = () => {
      delete globalThis.__toolcell;
      f();
    };
    Object.defineProperty(globalThis, '__toolcell', { value, configurable: true });
    computing = true;
    try {
      trampoline.runInThisContext({ breakOnSigint: true });
    } finally {
      computing = false;
    }
  }

  // SIGINTs that the host has sent, and those that were seen here. One that
  // comes just as a script ends is noticed by node and not spent: it would end
  // the next script instead. settle has such a one end a script of its own, and
  // calls then when all are accounted for, or the program must have taken one.
  let sent = 0, seen = 0;
  const idle = new vm.Script('for (const end = Date.now() + 5; Date.now() < end;);', { filename: 'toolcell' });
  function settle(then, tries = 200) {
    if (seen >= sent || tries === 0) {
      seen = sent;
      return then();
    }
    real.setImmediate(() => {
      try {
        if (seen < sent) idle.runInThisContext({ breakOnSigint: true });
      } catch {
        seen++;
      }
      settle(then, tries - 1);
    });
  }

  const offsetOf = (code, line, column) => {
    let at = 0;
    for (let i = 0; i < line; i++) at = code.indexOf('\n', at) + 1;
    return at + column;
  };

  function syntaxError(details) {
    return details?.scriptId !== undefined && !details.stackTrace && details.exception?.className === 'SyntaxError';
  }

  // execute runs the program and calls done(error, value, line), once.
  function execute(code, name, done) {
    const tries = [code];
    if (/^\s*\{/.test(code) && !/;\s*$/.test(code)) tries.unshift(`(${code.trim()}\n)`);
    const failed = (give) => (tries.length ? attempt() : give());
    const attempt = () => run(dynamicImports(tries.shift()));
    const run = (source) => {
      let sync = true;
      evaluate(source, name, (answer) => {
        const details = answer.exceptionDetails;
        if (details && sync && syntaxError(details)) {
          const again = repaired(source, details);
          if (again !== undefined) return run(again);
          return failed(() => done(wrapped(value(answer.result)), undefined, details.lineNumber + 1));
        }
        if (details) return done(wrapped(value(details.exception ?? answer.result)));
        done(undefined, value(answer.result));
      });
      sync = false;
    };
    attempt();
  }

  const wrapped = (v) => (v instanceof Error || util.types.isNativeError(v) ? v : { thrown: v });

  // repaired returns the code with what only modules may have taken out.
  function repaired(code, details) {
    const offset = offsetOf(code, details.lineNumber, details.columnNumber);
    const text = details.exception.description ?? '';
    if (code.startsWith('import', offset)) return staticImport(code, offset);
    const before = /\bimport\s*$/.exec(code.slice(0, offset));
    if (before) return staticImport(code, before.index);
    if (text.includes("Unexpected token 'export'") && code.startsWith('export', offset)) {
      const m = /export(\s+default(?=\s+(?:async\s+)?(?:function|class)\b)|\s+default\b|(?=\s+(?:const|let|var|function|class|async)\b)|\s*\{[^}]*\}\s*(?:;|$|\n))?/y;
      m.lastIndex = offset;
      const found = m.exec(code);
      return found && code.slice(0, offset) + found[0].replace(/[^\n]/g, ' ') + code.slice(offset + found[0].length);
    }
    return undefined;
  }

  function setStdin(file) {
    if (file) {
      replaceStdin(file, 'r');
      fs.unlinkSync(file);
      stdinSet = true;
    } else if (stdinSet ?? true) {
      replaceStdin('/dev/null', 'a'); // of which reading fails
      stdinSet = false;
    }
  }

  // replaceStdin makes a file descriptor 0: open takes the lowest free one.
  function replaceStdin(file, flags) {
    fs.closeSync(0);
    if (fs.openSync(file, flags) !== 0) throw new Error('descriptor 0 is not free');
    const s = new fs.ReadStream(null, { fd: 0, autoClose: false });
    Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => s });
  }

  function setEnv(fields) {
    const old = [];
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const k = String(fields[i]);
      old.push([k, process.env[k]]);
      process.env[k] = String(fields[i + 1]);
    }
    return old;
  }

  function restoreEnv(old) {
    for (const [k, v] of old) {
      if (v === undefined) delete process.env[k];
      else process.env[k] = v;
    }
  }

  function configure(fields) {
    if (fields[0].length) process.chdir(String(fields[0]));
    once = String(fields[1]) === 'once';
    setEnv(fields.slice(2));
    send('H', `Node.js ${process.versions.node}`);
  }

  // A Run is a program in progress. It ends when its last await is done; that
  // of a stateless process when its event loop has nothing left.
  class Run {
    constructor(seq) {
      this.seq = seq;
      this.name = `cell-${++cell}`;
      this.env = [];
      this.timers = new Set();
      this.stopping = false;
      socket.unref(); // what is ready to end is known by the loop's being empty
      this.resources = resources();
    }

    start(fields) {
      this.attempt(() => interruptible(() => {
        if (this.calledOff()) return;
        this.env = setEnv(fields.slice(3));
        setStdin(String(fields[2]));
        const code = String(fields[1]).replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
        this.execute(code);
      }));
    }

    // calledOff tells whether the host has ended the run before it began: its
    // signal may have come too early to do so.
    calledOff() {
      while (more());
      return find('I', this.seq) !== null;
    }

    execute(code) {
      execute(code, this.name, (...end) => this.exiting === undefined && this.done(...end));
    }

    // attempt calls f, and ends the run where f does not start it.
    attempt(f) {
      try {
        f();
      } catch (e) {
        if (this.exiting === undefined) {
          if (e?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') {
            seen++;
            this.stop('interrupt', 130);
          } else this.done(e);
        }
      }
      if (this.exiting !== undefined) this.stop('exit', this.exiting);
    }

    // done is called with how the program ended by itself. What it started
    // goes on: the run ends as a script under node does, when the event loop is
    // empty.
    done(error, result, line = 0) {
      if (current !== this || this.stopping) return;
      if (error !== undefined) return this.report('error', 1, error, line);
      if (util.types.isPromise(result)) {
        then.call(result, (v) => this.done(undefined, v), (e) => this.done(wrapped(e)));
        return;
      }
      if (result !== undefined) {
        try {
          this.result = [inspect(result), toJSON(result)];
        } catch (e) {
          return this.report('error', 1, e);
        }
      }
      this.drained = true;
      if (once) process.once('exit', guarded(() => this.stopping || this.drainedOut()));
    }

    // drainedOut is called when nothing of the program is left to run.
    drainedOut() {
      if (!this.drained) return this.report('error', 13, new Error('a top-level await waits for a promise that nothing can settle any more'));
      const status = Number(process.exitCode ?? 0) & 0xff;
      process.exitCode = undefined;
      this.report(status ? 'exit' : 'ok', status);
    }

    // stop ends what is left of the program: its timers are cleared, and where
    // nothing else is under way it can never go on. Where something is, the
    // process has to go, here or by the host's hand.
    stop(how, status, error) {
      if (this.stopping) return;
      this.stopping = true;
      if (once) return this.report(how, status, error);
      socket.ref();
      this.clearTimers();
      let tries = 0;
      const look = () => {
        if (current !== this) return;
        if (this.quiet()) return this.report(how, status, error);
        if (++tries === 40 && how !== 'interrupt') {
          this.report(how, status, error);
          realExit(1);
        }
        real.setTimeout(() => real.setImmediate(look), 5);
      };
      real.setImmediate(() => real.setImmediate(look));
    }

    quiet() {
      socket.unref();
      const now = resources();
      socket.ref();
      return Object.keys(now).every((k) => now[k] <= (this.resources[k] ?? 0));
    }

    clearTimers() {
      for (const t of this.timers) real.clearTimeout(t);
      this.timers.clear();
    }

    report(how, status, error, line = 0) {
      if (current !== this) return;
      // However what the program started has ended, it did have a value.
      if (this.result) show('result', { 'text/plain': this.result[0] }, '', this.result[1]);
      current = null;
      calls.clear();
      socket.ref();
      this.clearTimers(); // those that did not hold the run
      restoreEnv(this.env);
      if (promise) abandon();
      else post('Runtime.releaseObjectGroup', { objectGroup: this.name });
      send('Z', this.seq, how, status, ...(error === undefined ? ['', '', 0, '', '', 0] : describe(error, this.name, line)));
      if (once) realExit(status);
    }

    exit(status) {
      const over = once || !computing;
      if (over) this.stopping = true;
      if (!this.leaving) {
        this.leaving = true;
        process.exitCode = status;
        // Handlers may change the code, throw, or call process.exit again.
        try { process.emit('exit', status); } catch (e) { process.stderr.write(`Uncaught ${util.inspect(e)}\n`); }
        status = Number(process.exitCode ?? status) & 0xff;
      }
      process.exitCode = undefined;
      if (over) {
        this.report(once ? 'exit' : 'gone', status);
        realExit(status);
      }
      this.exiting = status;
      session.post('Runtime.terminateExecution');
      for (;;);
    }
  }

  function resources() {
    const n = {};
    for (const k of process.getActiveResourcesInfo?.() ?? ['unknown']) n[k] = (n[k] ?? 0) + 1;
    return n;
  }

  function start(fields) {
    seq = String(fields[0]);
    const own = current = new Run(seq);
    settle(() => current === own && !own.stopping && own.start(fields));
  }

  // The run's timers are known, so that they can be cleared with it.
  const { then } = Promise.prototype;
  const real = { setTimeout, setInterval, setImmediate, clearTimeout };
  for (const name of ['setTimeout', 'setInterval']) {
    const f = real[name];
    const g = { [name]: (...args) => {
      const own = current;
      const callback = args[0];
      if (own && typeof callback === 'function' && name === 'setTimeout') {
        args[0] = (...a) => {
          own.timers.delete(t);
          return callback(...a);
        };
      }
      const t = f(...args);
      if (own?.stopping) real.clearTimeout(t);
      else own?.timers.add(t);
      return t;
    } }[name];
    Object.defineProperties(g, Object.getOwnPropertyDescriptors(f));
    globalThis[name] = g;
  }

  function describe(error, name, line) {
    lost = 0;
    if (error && Object.hasOwn(error, 'thrown') && !(error instanceof Error)) {
      const text = util.inspect(error.thrown);
      return ['Uncaught', shortened(text, MAX_MESSAGE), line, '', shortened(`Uncaught ${text}`, MAX_STACK), lost];
    }
    let kind = 'Error', message = '', stack = '', missing = '';
    try {
      kind = String(error.name || error.constructor?.name || 'Error');
      message = String(error.message ?? '');
      stack = String(error.stack ?? '');
      if (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND') {
        missing = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1] ?? '';
      }
      if (error.code === 'ERR_UNKNOWN_BUILTIN_MODULE') missing = /: (.*)$/.exec(message)?.[1] ?? '';
    } catch {}
    const lines = stack.split('\n');
    const end = lines.findIndex((l) => /\bat (?:takeCall|toolcell|Session\.post|evaluate|go |interruptible)|\(toolcell:|at toolcell:|node:inspector/.test(l));
    const own = (end < 0 ? lines : lines.slice(0, end)).filter((l) => !/\[eval\]/.test(l));
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (!line) line = Number(new RegExp(`${escaped}:(\\d+)`).exec(own.join('\n'))?.[1] ?? 0);
    if (line && !own.some((l) => l.includes(name))) own.push(`    at ${name}:${line}`);
    const report = shortened(own.join('\n') || `${kind}: ${message}`, MAX_STACK);
    return [shortened(kind, MAX_ID), shortened(message, MAX_MESSAGE), line, shortened(missing, MAX_ID), shortenedLines(report), lost];
  }

  // shortened leaves out the middle of what is longer than the limit in bytes,
  // says so, and counts it.
  let lost = 0;
  function shortened(s, limit) {
    if (s.length <= limit / 3) return s;
    const b = Buffer.from(s);
    if (b.length <= limit) return s;
    const half = limit / 2 - 50;
    lost += b.length - 2 * half;
    return `${b.subarray(0, half)}\n[${b.length - 2 * half} bytes are left out]\n${b.subarray(b.length - half)}`;
  }

  function shortenedLines(s) {
    const lines = s.split('\n');
    if (lines.length <= MAX_LINES) return s;
    const half = MAX_LINES / 2 - 1;
    for (const l of lines.slice(half, -half)) lost += l.length + 1;
    return [...lines.slice(0, half), `[${lines.length - 2 * half} lines are left out]`, ...lines.slice(-half)].join('\n');
  }

  process.exit = (status = process.exitCode ?? 0) => {
    status = Number(status) & 0xff;
    if (current) current.exit(status);
    realExit(status);
  };

  // Of the listeners of process the driver's own stay whatever a program does,
  // but for SIGINT by name: vm takes those away while a script computes, and
  // puts them back.
  const ours = [];
  const on = (event, f) => {
    ours.push(f);
    process.on(event, f);
  };
  const { rawListeners, removeListener, eventNames, listenerCount, removeAllListeners: removeAll } = process;
  process.removeAllListeners = function removeAllListeners(...events) {
    if (events[0] === 'SIGINT') return removeAll.call(this, 'SIGINT');
    for (const event of events.length ? events : eventNames.call(process)) {
      if (event === 'newListener' || event === 'removeListener') continue;
      for (const f of rawListeners.call(process, event)) if (!ours.includes(f)) removeListener.call(process, event, f);
    }
    return this;
  };

  // A program's own handlers go before the driver's, as they do before node's.
  const handlers = (event) => listenerCount.call(process, event) > 1;
  for (const [event, where] of [['uncaughtException', ''], ['unhandledRejection', ' (in promise)']]) {
    on(event, (e) => {
      if (handlers(event)) return;
      if (where && handlers('uncaughtException')) return void process.emit('uncaughtException', e, event);
      if (current) return current.stop('error', 1, wrapped(e));
      process.stderr.write(`Uncaught${where} ${util.inspect(e)}\n`);
      if (once) realExit(1);
    });
  }
  on('beforeExit', guarded(() => {
    if (!once && current && !current.stopping) current.drainedOut();
  }));
  on('exit', guarded(() => {
    if (once && current && !current.stopping && !current.drained) current.drainedOut();
  }));

  // A server that listens does not hold the run, and nor do its connections.
  const { listen } = net.Server.prototype, servers = new WeakSet();
  net.Server.prototype.listen = function (...args) {
    this.unref();
    if (!servers.has(this)) this.on('connection', (s) => s.unref?.());
    servers.add(this);
    return listen.apply(this, args);
  };
  on('SIGINT', () => { seen++; });

  const socket = new net.Socket({ fd: CONTROL, readable: true, writable: false, allowHalfOpen: true });
  socket.on('data', guarded(onData));
  socket.on('end', () => realExit(0));
  socket.on('error', () => realExit(0));
}
