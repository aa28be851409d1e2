// The timers of programs, which end with a run, whatever they are made by. Those that are
// made between runs are of no run, and hold none.

// What node makes for itself, as for a server's connections or for fetch, serves on.
const timers = new Set(), made = new WeakSet(), ofNoRun = new WeakSet(); // made as a server called between runs
let making = false;

// follow notes the timers that are made while making is set: of node's constructors
// each comes by here, once, as it sets the property that an object then has for itself.
function follow(prototype) {
  defineProperty(prototype, '_destroyed', {
    configurable: true,
    get() { return undefined; },
    set(value) {
      defineProperty(this, '_destroyed', { value, writable: true, enumerable: true, configurable: true });
      if (!making) return;
      made.add(this);
      note(this);
    },
  });
}

// note lets go of what is over at the pace at which there comes more.
let oldest = timers.values();
function note(timer) {
  timers.add(timer);
  if (current === null) ofNoRun.add(timer);
  for (let i = 0; i < 2; i++) {
    const { value, done } = oldest.next();
    if (done) oldest = timers.values();
    else if (value._destroyed) timers.delete(value);
  }
}

function clearTimers() {
  for (const t of timers) {
    if (ofNoRun.has(t) && !t._destroyed) continue;
    ('_onImmediate' in t ? real.clearImmediate : real.clearTimeout)(t);
    timers.delete(t);
  }
}

// What node times for itself, and the file that does: after an error that is handled it
// has the loop go on by one that does nothing.
const NODES = new Map([
  ['bound checkConnections', 'node:_http_server'], ['noop', 'node:internal/process/execution'],
  ['onTick', 'node:internal/deps/undici/undici'], ['onParserTimeout', 'node:internal/deps/undici/undici'],
]);

// maker returns f, whose timers are a program's.
const maker = (f) => function (...args) {
  const before = making;
  making = !NODES.has(args[0]?.name) || NODES.get(args[0].name) !== String(sitesHere().find((s) => !isOurs(s))?.getFileName());
  try {
    return Reflect.apply(f, this, args);
  } finally {
    making = before;
    if (current?.stopping) clearTimers();
  }
};
const makingOwn = (holder, name) => inPlaceOf(holder, name, maker(holder[name]));

// followTimers is called where programs have runs: a process of its own ends with it.
function followTimers() {
  const module = require('timers'), promised = require('timers/promises');
  const timeout = getPrototypeOf(real.setTimeout(() => {}).unref()), immediate = real.setImmediate(() => {});
  real.clearImmediate(immediate);
  follow(timeout);
  follow(getPrototypeOf(immediate));
  for (const prototype of [timeout, getPrototypeOf(immediate)]) {
    const construct = maker((...args) => Reflect.construct(...args));
    defineProperty(prototype, 'constructor', { configurable: true, writable: true, value: new Proxy(prototype.constructor, { construct }) });
  }
  const { refresh } = timeout;
  inPlaceOf(timeout, 'refresh', function () {
    const t = Reflect.apply(refresh, this, []);
    if (made.has(t)) note(t);
    return t;
  });
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    makingOwn(globalThis, name);
    module[name] = globalThis[name];
  }
  for (const name of ['active', '_unrefActive']) {
    const begin = module[name];
    if (begin) inPlaceOf(module, name, (item) => { begin(item); note(item); });
  }
  for (const name of ['setTimeout', 'setImmediate']) makingOwn(promised, name);
  const each = promised.setInterval.prototype; // of its generators, the first step of which makes the timer
  defineProperty(each, 'next', { configurable: true, writable: true, value: maker(each.next) });
  for (const name of ['wait', 'yield']) makingOwn(getPrototypeOf(promised.scheduler), name);
  makingOwn(AbortSignal, 'timeout');
  require('module').syncBuiltinESMExports();
}
