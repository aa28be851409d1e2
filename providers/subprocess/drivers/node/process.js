// The process: its exit, its listeners, and what does not hold a run.

process.exit = (status) => {
  if (status !== undefined) process.exitCode = status; // throws what node's own exit throws
  status = Number(process.exitCode ?? 0) & 0xff;
  if (current) current.exit(status);
  realExit(status);
};

process.execArgv = []; // not the driver, which was given by -e

// Of the listeners of process the driver's own stay whatever a program does, but for SIGINT
// by name: vm takes those away while a script computes, and puts them back.
const ours = [];
const on = (event, f) => {
  ours.push(f);
  process.on(event, f);
};
const { rawListeners, addListener, removeListener, eventNames, listenerCount, removeAllListeners: removeAll } = process;
process.removeAllListeners = function removeAllListeners(...events) {
  if (events[0] === 'SIGINT') return removeAll.call(this, 'SIGINT');
  for (const event of events.length ? events : eventNames.call(process)) {
    if (event === 'newListener' || event === 'removeListener') continue;
    for (const f of rawListeners.call(process, event)) if (!ours.includes(f)) removeListener.call(process, event, f);
  }
  return this;
};

// A program's own handlers go before the driver's, as they do before node's.
const handlers = (event) => apply(listenerCount, process, [event]) > 1;
for (const [event, where] of [['uncaughtException', ''], ['unhandledRejection', ' (in promise)']]) {
  on(event, (e, of) => {
    if (current?.stopping) return; // by its first error
    const own = current, ofValue = own?.rejected !== undefined && of === own.rejected;
    const instead = where && handlers('uncaughtException');
    if (ofValue && !handlers(event) && !instead) return own.fail(wrapped(e));
    if (ofValue) own.done(); // without a value
    if (handlers(event)) return;
    if (instead) return void process.emit('uncaughtException', e, event);
    if (current) return current.stop('error', 1, wrapped(e));
    process.stderr.write(`Uncaught${where} ${util.inspect(e)}\n`);
    if (once) realExit(1);
  });
}
// The program's own handlers follow; what they start is the run's too.
const behind = (f) => real.nextTick(() => queueMicrotask(() => real.nextTick(guarded(f))));
on('beforeExit', guarded(() => {
  const own = current;
  if (!own) return;
  if (own.ending) return own.report(own.ending[0], own.ending[1], own.ending[2]);
  if (own.stopping) return;
  if (once) return behind(goLast);
  if (computing) return; // the program emits it
  behind(() => {
    if (current === own && !own.stopping && noMore(remains)) own.drainedOut();
  });
}));

// The end is reported behind the program's handlers of exit, and not where the program
// emits that itself.
on('exit', () => {
  if (once && current && process._exiting) current.leaving = true; // what follows are those
});
const last = guarded(() => {
  if (once && current && process._exiting && !current.stopping) current.drainedOut();
});
function goLast() {
  removeListener.call(process, 'exit', last);
  addListener.call(process, 'exit', last);
}
ours.push(last);
goLast();

// A server that listens does not hold the run, and nor do its connections.
const { listen } = net.Server.prototype, servers = new WeakSet();
net.Server.prototype.listen = function (...args) {
  this.unref();
  if (!servers.has(this)) this.on('connection', (s) => s.unref?.());
  servers.add(this);
  return listen.apply(this, args);
};
on('SIGINT', () => { seen++; });
on('SIGUSR1', () => {}); // else node opens its inspector, and the driver's own session ends with that

const socket = new net.Socket({ fd: CONTROL, readable: true, writable: false, allowHalfOpen: true });
socket.on('data', guarded(onData));
socket.on('end', () => realExit(0));
socket.on('error', () => realExit(0));
