// A run from its start to its end.

// A Run is a program in progress. It ends when its last await is done; that
// of a stateless process when its event loop has nothing left.
class Run {
  constructor(seq) {
    this.seq = seq;
    this.name = `cell-${++cell}`;
    if (script && !/[\s'"():]/.test(script)) this.name = script; // else it could not be told from the rest of a frame
    this.env = [];
    this.stopping = false;
    this.dropping = false;
    this.imports = 0; // that are under way
    this.awaiting = new WeakSet(); // what the driver awaits the program by
    this.alone = true; // whatever it is that runs, nothing else was left to be called
    socket.unref(); // what is ready to end is known by the loop's being empty
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
    inMicrotask(() => {
      if (this.dropping) this.drop();
      else if (!left) inMicrotask(() => { this.alone = false; }); // the program's own end comes before, if that was all
    });
    execute(code, this.name, (...end) => this.exiting === undefined && this.done(...end));
    if (this.exiting === undefined && current === this && left && !handlers('uncaughtException') && rejected()) this.threw(promise);
    this.begun?.();
  }

  // threw is called where the program threw before it awaited anything, as which
  // nothing runs that it has left to be called.
  threw(p) {
    const e = wrapped(outcome(p));
    this.halt();
    this.dropping = true;
    then.call(p, undefined, () => {}); // or it would be an unhandled rejection
    this.end('error', 1, e);
  }

  // attempt calls f, and ends the run where f does not start it.
  attempt(f) {
    try {
      f();
    } catch (e) {
      if (this.exiting === undefined) {
        if (e?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') {
          seen++;
          this.dropping = true;
          this.stop('interrupt', 130);
        } else this.done(e);
      }
    }
    if (this.exiting === undefined) return;
    this.dropping = true;
    this.stop('exit', this.exiting);
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
        return once ? this.report('error', 7, wrapped(e)) : this.stop('error', 7, wrapped(e));
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
        return this.stop('error', 1, e);
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

  // stop ends what is left of the program: its timers, and what waits to be called.
  // Where nothing else is under way it can never go on, and the loop is empty. Where
  // something is, the process has to go, here or by the host's hand.
  stop(how, status, error) {
    if (this.stopping) return;
    this.halt();
    if (!once && !this.dropping && how !== 'interrupt' && (left || !this.alone)) inMicrotask(() => this.drop());
    this.end(how, status, error);
  }

  halt() {
    this.stopping = true;
    if (once) return;
    clearTimers();
    emptyPorts();
    calls.clear();
    socket.unref();
    this.beforeExit = withoutHandlers('beforeExit');
    this.hangs = hasRequests();
    gate.close(this);
  }

  // drop makes V8 forget the microtasks, but for those of an import().
  drop() {
    if (this.imports === 0) terminate();
  }

  // importing is called before an import() begins.
  importing() {
    if (this.imports++ > 0 || !computing) return;
    this.begun ??= promiseHooks.onInit((p, parent) => { if (parent === promise && parent) this.awaiting.add(p); });
  }

  // imported is called when an import() has settled.
  imported() {
    if (--this.imports > 0 || current !== this) return;
    importing.disable();
    if (!this.stopping) return;
    gate.shut();
    inMicrotask(terminate);
  }

  // end reports the end once the loop is empty. After 200 ms what is left goes with
  // the process; an interrupted one has the host's grace.
  end(how, status, error) {
    if (once && how === 'error') return this.fail(error);
    if (once) return this.report(how, status, error);
    this.ending = [how, status, error];
    if (how === 'interrupt') return;
    const gone = () => this.report('gone', status, error);
    // A loop that is empty is told before the second: the driver may be what took the time.
    this.deadline = real.setTimeout(() => { this.deadline = real.setTimeout(gone, 1).unref(); }, 200).unref();
  }

  report(how, status, error, line = 0) {
    if (current !== this) return;
    if (this.ending && (this.imports > 0 || this.hangs)) how = 'gone'; // what will never settle
    if (!once && standardClosed) how = 'gone'; // what next ones print would go elsewhere
    // However what the program started has ended, it did have a value.
    if (this.result) show('result', { 'text/plain': this.result[0] }, '', this.result[1]);
    current = null;
    try { process.exitCode = undefined; } catch {} // which is the next run's
    calls.clear();
    gate.open();
    if (this.imports > 0) importing.disable();
    if (this.ending) remains = resources(); // before the driver's own is one of them
    socket.ref();
    real.clearTimeout(this.deadline);
    for (const f of this.beforeExit ?? []) addListener.call(process, 'beforeExit', f);
    clearTimers(); // those that did not hold the run
    emptyPorts();
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
    if (!once && !line) return this.stop('error', 1, error);
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

let remains = {}; // of what has ended, and nobody was told
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
  for (const t of timers) t.unref?.(); // of what a server called between runs
  const own = current = new Run(seq);
  tellNotified(own);
  settle(() => current === own && !own.stopping && within(() => own.start(fields)));
}
