// Evaluating a program, and ending what computes.

// The promise of the program in progress, which the inspector awaits. It must
// not be collected: the inspector would say so in the middle of the
// collection, which newer versions of node do not survive. abandon makes the
// inspector forget it.
let promise = null;
function hold() {
  promise = null;
  return promiseHooks.onInit((p) => { promise ??= p; });
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
  session.post(method, params, (error, result) => { answer = { error, result }; });
  return answer;
};

const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf } = Object;

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
    interruptible(() => session.post('Runtime.evaluate', {
      expression: code + sourceURL(name), replMode: true, awaitPromise: true, silent: true, objectGroup: name,
    }, guarded((error, answer) => {
      // abandon has disconnected the session: the run is over.
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
  if (script.endsWith('.mjs')) code = strict(code);
  const tries = [code];
  // What looks like a block may be an object, which node's REPL tries first too.
  if (/^\s*\{/.test(code) && !/;\s*$/.test(code)) tries.unshift(`(${code.trim()}\n)`);
  const lastLine = code.split('\n').length - 1; // the sourceURL's line is not the program's
  const failed = (give) => (tries.length ? attempt() : give());
  const attempt = () => run(tries.shift());
  const run = (source) => {
    let sync = true;
    evaluate(source, name, (answer) => {
      const details = answer.exceptionDetails;
      if (details && sync && syntaxError(details)) {
        const again = repaired(source, details);
        if (again !== undefined) return run(strict(again));
        if (script && source === code && details.exception.description?.includes('Illegal return')) return asModule(source, name, done);
        return failed(() => done(wrapped(value(answer.result)), undefined, Math.min(details.lineNumber, lastLine) + 1));
      }
      if (details) return done(wrapped(value(details.exception ?? answer.result)));
      done(undefined, remember(value(answer.result)));
    });
    sync = false;
  };
  attempt();
}

// remember puts the value of a context's program into _, where later programs find it,
// unless they have a _ of their own.
let lastValue;
function remember(v) {
  if (once || v === undefined || Object.hasOwn(globalThis, '_') && globalThis._ !== lastValue) return v;
  lastValue = v;
  Object.defineProperty(globalThis, '_', { value: v, writable: true, configurable: true });
  return v;
}

// asModule runs a file that returns at its top level, as node does: as a function.
const moduleArguments = () => [ownModule.exports, need, ownModule, globalThis.__filename, globalThis.__dirname];
const argumentsOf = (function () { return arguments; });
function asModule(code, name, done) {
  let body;
  try {
    body = vm.compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname'], { filename: name });
  } catch (e) {
    return done(e, undefined, detailsOf(e).lineNumber + 1);
  }
  hidden('__toolcell_body', () => {
    delete globalThis.__toolcell_body;
    body.apply(ownModule.exports, moduleArguments());
  });
  evaluate('__toolcell_body()', '[eval]', (answer) => {
    const details = answer.exceptionDetails;
    done(details && wrapped(value(details.exception ?? answer.result)));
  });
}

const wrapped = (v) => (v instanceof Error || util.types.isNativeError(v) ? v : { thrown: v });

// strict makes code that stands for a module strict, and leaves its value as it is.
const STRICT = '"use strict";void 0;';
function strict(code) {
  const at = code.startsWith('#!') ? code.indexOf('\n') + 1 : 0;
  return code.startsWith(STRICT, at) ? code : code.slice(0, at) + STRICT + code.slice(at);
}

// repaired returns the code with what only modules may have taken out.
function repaired(code, details) {
  const offset = offsetOf(code, details.lineNumber, details.columnNumber);
  const text = details.exception.description ?? '';
  const meta = code.startsWith('meta', offset) && /\bimport\s*\.\s*$/.exec(code.slice(Math.max(offset - 100, 0), offset))?.[0];
  if (meta) return replaced(code, offset - meta.length, `${meta}meta`, '__esm__meta');
  if (code.startsWith('import', offset)) return staticImport(code, offset);
  const before = /\bimport\s*$/.exec(code.slice(0, offset));
  if (before) return staticImport(code, before.index);
  if (text.includes("Unexpected token 'export'") && code.startsWith('export', offset)) return withoutExport(code, offset);
  return undefined;
}

Object.defineProperty(globalThis, '__th', { value: undefined }); // this at the top of a module

// complete says what could stand at the end of the code, by source that comes with
// the question.
let completer;
function complete(number, source, code) {
  let answer = [0, 0, ''];
  try {
    completer ??= new vm.Script(String(source), { filename: 'toolcell' }).runInThisContext()({
      post, evaluate: (name) => new vm.Script(name, { filename: 'toolcell' }).runInThisContext(),
      known: { process, Buffer }, isProxy: util.types.isProxy,
      names: getOwnPropertyNames, descriptor: getOwnPropertyDescriptor, parent: getPrototypeOf,
    });
    answer = completer(String(code));
  } catch {} // there is nothing to complete with
  send('B', number, ...answer);
}
