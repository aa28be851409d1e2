// A run from its start to its end.

// A Run is a program in progress. It ends when its last await is done; that
// of a stateless process when its event loop has nothing left.
class Run {
  constructor(seq) {
    this.seq = seq;
    this.name = `cell-${++cell}`;
    if (script && !/[\s'"():]/.test(script)) this.name = script; // else it could not be told from the rest of a frame
    this.env = [];
    this.timers = new Set();
    this.stopping = false;
    socket.unref(); // what is ready to end is known by the loop's being empty
    this.resources = resources();
  }

  start(fields) {
    this.attempt(() => interruptible(() => {
      if (this.calledOff()) return;
      renew();
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
    if (error !== undefined) {
      if (line || !handlers('uncaughtException')) return this.fail(error, line);
      try {
        process.emit('uncaughtException', error instanceof Error ? error : error.thrown ?? error, 'uncaughtException');
      } catch (e) {
        return this.report('error', 7, wrapped(e));
      }
    }
    if (util.types.isPromise(result)) {
      // One of the driver's own is rejected with it, for which node asks the
      // program's handlers as for any.
      then.call(result, (v) => this.done(undefined, v), (e) => { this.rejected = new Promise((_, reject) => reject(e)); });
      return;
    }
    if (result !== undefined) {
      try {
        this.result = [shown(result), toJSON(result)];
      } catch (e) {
        return this.report('error', 1, e);
      }
    }
    this.drained = true;
  }

  // drainedOut is called when nothing of the program is left to run.
  drainedOut() {
    if (!this.drained) {
      const error = new Error('a top-level await waits for a promise that nothing can settle any more');
      error.stack = String(error); // which nobody threw
      return this.report('error', 13, error);
    }
    const status = Number(process.exitCode ?? 0) & 0xff;
    this.report(status ? 'exit' : 'ok', status);
  }

  // stop ends what is left of the program: its timers are cleared, and where
  // nothing else is under way it can never go on. Where something is, the
  // process has to go, here or by the host's hand.
  stop(how, status, error) {
    if (this.stopping) return;
    this.stopping = true;
    if (once && how === 'error') return this.fail(error);
    if (once) return this.report(how, status, error);
    socket.ref();
    this.clearTimers();
    let tries = 0;
    const look = () => {
      if (current !== this) return;
      if (this.quiet()) return this.report(how, status, error);
      // After 200 ms what is left goes with the process; an interrupted one has the
      // host's grace.
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
    const quiet = noMore(this.resources);
    socket.ref();
    return quiet;
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
    try { process.exitCode = undefined; } catch {} // which is the next run's
    calls.clear();
    socket.ref();
    this.clearTimers(); // those that did not hold the run
    restoreEnv(this.env);
    if (promise) {
      abandon();
      // A SIGINT that the program sends itself takes node's inspector with it.
      if (!once && post('Runtime.evaluate', { expression: '0' })?.result === undefined) how = 'gone';
    } else post('Runtime.releaseObjectGroup', { objectGroup: this.name });
    send('Z', this.seq, how, status, ...(error === undefined ? ['', '', 0, '', '', 0] : describe(error, this.name, line)));
    if (once || how === 'gone') realExit(status);
  }

  // fail ends the run by an error of which nobody took care. A process ends with
  // it, as which the program's handlers of exit are called.
  fail(error, line = 0) {
    let status = 1;
    if (once && !line) {
      this.stopping = true;
      this.error = error;
      status = this.leave(status) || 1; // or the error would be that of a success
    }
    this.report('error', status, error, line);
  }

  // leave calls the handlers of exit, once, and returns the exit code. They may
  // change it, throw, or call process.exit again.
  leave(status) {
    if (this.leaving) return status;
    this.leaving = true;
    process.exitCode = status;
    try { process.emit('exit', status); } catch (e) { process.stderr.write(`Uncaught ${util.inspect(e)}\n`); }
    return Number(process.exitCode ?? status) & 0xff;
  }

  exit(status) {
    const over = once || !computing;
    if (over) this.stopping = true;
    status = this.leave(status);
    process.exitCode = undefined;
    if (over) {
      if (this.error !== undefined) this.report('error', status || 1, this.error);
      this.report(once ? 'exit' : 'gone', status);
      realExit(status);
    }
    this.exiting = status;
    session.post('Runtime.terminateExecution');
    // Nothing of the program is to run before V8 has ended it.
    for (;;);
  }
}

function resources() {
  const n = {};
  for (const k of process.getActiveResourcesInfo?.() ?? ['unknown']) n[k] = (n[k] ?? 0) + 1;
  return n;
}

// noMore tells whether nothing is under way that was not before.
function noMore(before) {
  const now = resources();
  return Object.keys(now).every((k) => now[k] <= (before[k] ?? 0));
}

function start(fields) {
  seq = String(fields[0]);
  const own = current = new Run(seq);
  settle(() => current === own && !own.stopping && within(() => own.start(fields)));
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
      args[0] = function (...a) {
        own.timers.delete(t);
        return Reflect.apply(callback, this, a);
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
