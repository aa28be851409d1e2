// The process: its exit, its listeners, and what does not hold a run.

process.exit = (status) => {
  if (status !== undefined) process.exitCode = status; // throws what node's own exit throws
  status = Number(process.exitCode ?? 0) & 0xff;
  if (current) current.exit(status);
  realExit(status);
};

// node's own abort writes a stack with the driver's frames, which nothing takes
// out. It ends what the signal does not.
const { abort: abortAsNode, kill } = process, { captureStackTrace } = Error;
process.abort = function abort() {
  const here = {};
  captureStackTrace(here, abort);
  writeAll(2, Buffer.from(`----- JavaScript stack trace -----\n${String(here.stack).replace(/^.*/, '')}\n`));
  kill.call(process, process.pid, 'SIGABRT');
  abortAsNode();
};
process.execArgv = []; // not the driver, which was given by -e

// Of the listeners of process the driver's own stay whatever a program does,
// but for SIGINT by name: vm takes those away while a script computes, and
// puts them back.
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
const handlers = (event) => listenerCount.call(process, event) > 1;
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
// withoutHandlers takes a program's own handlers away, and returns them.
function withoutHandlers(event) {
  const list = rawListeners.call(process, event).filter((f) => !ours.includes(f));
  for (const f of list) removeListener.call(process, event, f);
  return list;
}

// nodeEmits tells whether it is node that emits beforeExit: then nothing is below that, but
// for what a program may have put in place of process.emit.
function nodeEmits() {
  const sites = sitesHere(), first = sites.findLast((s) => s.getFileName() !== 'node:internal/async_hooks');
  return sites.length < SITES && (first.getMethodName() === 'emit' || first.getFunctionName() === process.emit.name);
}

// The program's own handlers follow, and what they start is the run's too.
const behind = (f) => process.nextTick(() => queueMicrotask(() => process.nextTick(guarded(f))));
on('beforeExit', guarded(() => {
  const own = current;
  if (own?.ending) return own.report(...own.ending);
  if (!own || own.stopping) return;
  if (once) return behind(goLast);
  if (computing || executionAsyncId() !== 0) return; // the program emits it
  const drainedOut = () => {
    if (current === own && !own.stopping && noMore(remains)) own.drainedOut();
  };
  if (prepended || handlers('beforeExit')) round.begin(own);
  else if (noMore(remains)) real.nextTick(guarded(drainedOut)); // behind a promise of the program's, if that emits it
  else if (nodeEmits()) own.drainedOut();
}));

// The end is told behind the program's handlers of exit, and not where it is the program
// that emits that.
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
