// What else calls a program without holding its run: ports, and waits for memory.

// A port that listens is not given what is on its way as a run ends, or two that answer
// each other went on for ever. What nobody listens for is kept.
const ports = new Set(), known = new WeakSet(); // of the first WeakRefs: an open one is not collected

// followPorts relies on that node refs a port which begins to listen.
function followPorts() {
  const { ref } = MessagePort.prototype;
  inPlaceOf(MessagePort.prototype, 'ref', function () {
    if (!known.has(this) && !calledBy(/^node:internal\/worker$/)) ports.add(new WeakRef(this)); // a Worker's own
    known.add(this);
    return Reflect.apply(ref, this, []);
  });
}

function emptyPorts() {
  for (const r of ports) {
    const port = r.deref();
    if (port === undefined) ports.delete(r);
    else if (port.listenerCount?.('message') !== 0) for (let i = 0; i < 1e5 && receive(port) !== undefined; i++);
  }
}
let receive = (port) => (receive = require('worker_threads').receiveMessageOnPort)(port);

// A wait with a timeout is over with its run, as a timer is; any other once a program
// says so. Nobody is told between runs, nor as one ends, but the next run.
let notified = [];
function followWaits() {
  const { waitAsync } = Atomics;
  if (!waitAsync) return;
  inPlaceOf(Atomics, 'waitAsync', function (...args) {
    const own = current, timed = typeof args[3] === 'number' && args[3] < Infinity;
    const wait = Reflect.apply(waitAsync, this, args);
    if (!wait.async) return wait;
    const { value } = wait;
    wait.value = new Promise((resolve) => then.call(value, (v) => {
      if (!current || current.stopping) {
        if (!timed) notified.push(() => resolve(v));
      } else if (!timed || current === own) resolve(v);
    }));
    return wait;
  });
}

// tellNotified has a run hear of what was notified before it.
function tellNotified(own) {
  if (notified.length === 0) return;
  real.setImmediate(() => {
    if (current !== own || own.stopping) return;
    const all = notified;
    notified = [];
    for (const f of all) f();
  });
}
