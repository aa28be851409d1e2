// What is called of a program that has ended, while its requests and children come to
// their end: nothing. An import() that is under way goes on, since node's loader would
// wait for ever for what it has begun, whoever imports the module next.

// What belongs to an import() is the promises that are made in it, and in what is called by
// those: hooks tell that, and no AsyncLocalStorage, which programs see in what they print.
const importing = {
  of: new WeakSet(), compiling: new Set(), isInside: false, isCompiling: false, stop: null,

  run(f, ...args) {
    this.stop ??= promiseHooks.createHook(this.hooks);
    const { isInside } = this;
    this.isInside = true;
    try {
      return f(...args);
    } finally {
      this.isInside = isInside;
    }
  },

  // compile is called for what node compiles for itself, and takes it for an import() until
  // nothing waits for it any more.
  compile(own, f) {
    own.importing();
    this.isCompiling = true;
    try {
      return this.run(f);
    } finally {
      this.isCompiling = false;
    }
  },

  hooks: {
    init(p, parent) {
      const compiles = importing.isCompiling || importing.compiling.has(parent);
      if (compiles) importing.compiling.add(p);
      if (compiles || importing.isInside) importing.of.add(p);
    },
    before(p) {
      importing.isInside = importing.of.has(p);
      importing.isCompiling = importing.compiling.has(p);
    },
    after() { importing.isInside = importing.isCompiling = false; },
    settled(p) { if (importing.compiling.delete(p) && importing.compiling.size === 0) current?.imported(); },
  },

  disable() {
    this.stop?.();
    this.stop = null;
    this.isInside = this.isCompiling = false; // no hook tells the end any more
    this.of = new WeakSet();
    this.compiling.clear();
  },
};

// terminate does not return: V8 ends what runs, and forgets all microtasks where that
// is one. Where it is ending something already, that is let go on.
function terminate() {
  let refused = false;
  message('Runtime.terminateExecution', {}, (error) => { refused = error !== null; });
  for (const end = Date.now() + 1000; !refused && Date.now() < end;);
}

// A Gate is closed behind one program at a time.
const gate = {
  own: null, since: 0, reopen: null,

  close(own) {
    hasClosed = true;
    this.own = own;
    this.since = new AsyncResource('toolcell').asyncId();
    if (own.imports === 0) this.shut();
    hook.enable();
  },

  // shut ends each callback of a promise too. Of the hooks of promises it has to be the
  // first: async_hooks would wait for the end of what it was told the beginning of.
  shut() {
    hook.disable();
    this.reopen ??= promiseHooks.onBefore(terminate);
    hook.enable();
  },

  open() {
    this.reopen?.();
    this.reopen = this.own = null;
    hook.disable();
  },
};

// The files that a program had open then are closed with what held them, of which node
// would warn in a later run.
let hasClosed = false;
const { emitWarning } = process;
process.emitWarning = function (warning, ...args) {
  if (hasClosed && /^Closing (?:file descriptor \d+|a FileHandle object) on garbage collection/.test(warning)) return;
  Reflect.apply(emitWarning, this, [warning, ...args]);
};

const hook = createHook({ before: guarded((id) => {
  const { own } = gate, r = executionAsyncResource();
  if (own === null || id === socket._handle?.getAsyncId()) return;
  const ofImport = own.imports > 0 && importing.of.has(r);
  if (util.types.isPromise(r) || r instanceof AsyncResource) {
    // It can not be ended alone.
    if (own.imports > 0 && !ofImport && !own.awaiting.has(r)) own.report('gone', ...own.ending.slice(1));
  } else if (Object.hasOwn(r, 'callback') && Object.hasOwn(r, 'args')) {
    if (id < gate.since && !ofImport && triggerAsyncId() !== socket._handle?.getAsyncId()) r.callback = () => {}; // a tick
  } else if (!ofImport && called()) terminate();
}) });

// called tells whether it is a call of node's own that this is before, which V8 may
// end: a timer or a tick is called by JavaScript, a promise of node's settled by none.
function called() {
  const sites = sitesHere(), hooks = 'node:internal/async_hooks', by = sites.findIndex((s) => !isOurs(s) && s.getFileName() !== hooks);
  return sites.slice(0, by < 0 ? undefined : by).some((s) => s.getFunctionName() === 'callbackTrampoline');
}
