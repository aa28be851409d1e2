// What a program leaves to be called: timers, immediates, ticks and microtasks.

// A Bare promise's callbacks are unknown to async_hooks, which would wait for the
// end of those that terminate never lets return.
const { then } = Promise.prototype;
const nothing = () => {};
function Nobody(executor) { executor(nothing, nothing); }
class Bare extends Promise {
  static get [Symbol.species]() {
    return Nobody;
  }
}
const bare = Bare.resolve();

const inMicrotask = (f) => then.call(bare, f);

// left tells that the program has perhaps left something to be called before
// anything else is.
let left = false;

const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearImmediate, queueMicrotask, nextTick: process.nextTick };
const inPlaceOf = (holder, name, g) => {
  Object.defineProperties(g, Object.getOwnPropertyDescriptors(holder[name]));
  holder[name] = g;
};

inPlaceOf(globalThis, 'queueMicrotask', (f) => {
  left = true;
  real.queueMicrotask(f);
});

// A tick comes before microtasks. That of a program which has ended comes not.
inPlaceOf(process, 'nextTick', (f, ...args) => {
  const own = current;
  if (!own || !computing || typeof f !== 'function') return real.nextTick(f, ...args);
  left = true;
  real.nextTick(() => { if (!own.dropping) f(...args); });
});
