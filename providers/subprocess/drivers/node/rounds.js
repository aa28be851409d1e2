// Whether what a handler of beforeExit starts holds the run: the loop goes round once more
// to tell, as node has it do. What threads work at is listed nowhere.

// A round is over where node finds the loop empty again with nothing called, which the
// program's handlers are not told then: they were. Until something of the program is
// called, an emit of the driver's is in the place of its own.
const round = {
  own: null, turn: null, restore: null,

  begin(own) {
    this.end();
    this.own = own;
    watch.enable();
    this.turn = real.setImmediate(guarded(() => { if (this.own === own) this.listen(); })); // which holds the run until then
  },

  listen() {
    const was = getOwnPropertyDescriptor(process, 'emit'), { emit: inherited } = process;
    const emitted = (self, args) => {
      const { own } = this;
      if (args[0] !== 'beforeExit' || executionAsyncId() !== 0 || computing) return Reflect.apply(inherited, self, args);
      this.end();
      if (own === null || current !== own || own.stopping) return Reflect.apply(inherited, self, args);
      own.drainedOut();
      return true;
    };
    const emit = function emit(...args) { return emitted(this, args); };
    defineProperty(process, 'emit', { configurable: true, writable: true, value: emit });
    this.restore = () => {
      if (process.emit !== emit) return;
      if (was) defineProperty(process, 'emit', was);
      else delete process.emit;
    };
  },

  end() {
    this.own = null;
    watch.disable();
    this.restore?.();
    this.restore = null;
  },
};

// Ticks and promises are no more than what follows a call.
const watch = createHook({ before: guarded((id) => {
  const r = executionAsyncResource();
  if (id === socket._handle?.getAsyncId() || r === null || util.types.isPromise(r) || r instanceof AsyncResource) return;
  if (r !== round.turn && !(Object.hasOwn(r, 'callback') && Object.hasOwn(r, 'args'))) round.end();
}) });

// One that is before the driver's own may be no more in the list once that is called.
let prepended = false;
for (const name of ['prependListener', 'prependOnceListener']) {
  const f = process[name];
  inPlaceOf(process, name, function (event, ...args) {
    prepended ||= event === 'beforeExit';
    return Reflect.apply(f, this, [event, ...args]);
  });
}
