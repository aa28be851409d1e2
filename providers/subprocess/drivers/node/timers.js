// The timers of programs. What stops a run ends them; those that are left by a run that
// ended well, as by a server, go on.

const { then } = Promise.prototype;
const real = { setTimeout, setImmediate, clearTimeout, clearImmediate, nextTick: process.nextTick };
const inPlaceOf = (holder, name, g) => {
  Object.defineProperties(g, Object.getOwnPropertyDescriptors(holder[name]));
  holder[name] = g;
};

const timers = new Set(), destroyed = new WeakMap();

// What node times for itself, as for a server's connections or for fetch, serves on.
const NODES = new Set(['bound checkConnections', 'onTick', 'onParserTimeout', 'noop']);

// followTimers notes those that begin and end: node says so by a property.
function followTimers() {
  const timeout = real.setTimeout(() => {}), immediate = real.setImmediate(() => {});
  for (const { constructor: { prototype } } of [timeout, immediate]) {
    defineProperty(prototype, '_destroyed', {
      configurable: true,
      get() { return destroyed.get(this); },
      set(over) {
        destroyed.set(this, over);
        if (over) timers.delete(this);
        else timers.add(this);
      },
    });
  }
  real.clearTimeout(timeout);
  real.clearImmediate(immediate);
}

function clearTimers() {
  for (const t of timers) {
    if (NODES.has((t._onTimeout ?? t._onImmediate)?.name)) continue;
    ('_onImmediate' in t ? real.clearImmediate : real.clearTimeout)(t);
  }
}
