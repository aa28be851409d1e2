// A run from its start to its end.

// A Run is a program in progress. It ends when what the program started is done: when
// the event loop has nothing left.
class Run {
  constructor(seq) {
    this.seq = seq;
    this.name = `cell-${++cell}`;
    if (script && !/[\s'"():]/.test(script)) this.name = script; // else it could not be found in a frame
    this.env = [];
    this.stopping = false;
    this.imports = 0; // that are under way
    this.first = cell === 1;
    socket.unref(); // what is ready to end is known by the loop's being empty
  }

  start(fields) {
    try {
      interruptible(() => {
        if (this.isOver()) return;
        pristine(renew);
        this.env = pristine(() => setEnv(fields.slice(3)));
        setStdin(String(fields[2]));
        const code = String(fields[1]).replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
        execute(code, this.name, (error, result, line) => this.done(error, result, line));
      });
    } catch (e) {
      if (e?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') return this.done(e);
      seen++;
      this.stop('interrupt', 130);
    }
  }

  // isOver tells whether the host has ended the run before it began: its signal may have
  // come too early to do so.
  isOver() {
    while (more());
    return find('I', this.seq) !== null;
  }

  // done is called with how the program ended by itself. What it started goes on.
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
        this.result = pristine(() => [shown(result), toJSON(result)]);
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
      error.stack = String(error); // it has no place
      return this.report('error', 13, error);
    }
    const status = Number(process.exitCode ?? 0) & 0xff;
    this.report(status ? 'exit' : 'ok', status);
  }

  // stop ends what is left of the program, and the run once the loop is empty. What is
  // not done 200 ms later goes with the process; an interrupted one has the host's grace.
  stop(how, status, error) {
    if (this.stopping) return;
    if (once && how === 'error') return this.fail(error);
    this.stopping = true;
    if (once) return this.report(how, status, error);
    clearTimers();
    calls.clear();
    socket.unref();
    this.ending = [how, status, error];
    if (how === 'interrupt') return;
    const gone = () => this.report('gone', status, error);
    // An empty loop is noticed before the second: the driver may be what took the time.
    this.deadline = real.setTimeout(() => { this.deadline = real.setTimeout(gone, 1).unref(); }, 200).unref();
  }

  report(how, status, error, line = 0) {
    if (current !== this) return;
    if (this.ending && this.imports > 0) how = 'gone'; // node's loader would wait for them for ever
    if (!once && standardClosed) how = 'gone'; // what next ones print would go elsewhere
    // However what the program started has ended, it did have a value.
    if (this.result) show('result', { 'text/plain': this.result[0] }, '', this.result[1]);
    current = null;
    try { process.exitCode = undefined; } catch {} // it is the next run's
    calls.clear();
    remains = resources(); // before the driver's own is one of them
    socket.ref();
    real.clearTimeout(this.deadline);
    pristine(() => restoreEnv(this.env));
    if (promise) {
      abandon();
      // A SIGINT that the program sends itself takes node's inspector with it.
      if (!once && post('Runtime.evaluate', { expression: '0' })?.result === undefined) how = 'gone';
    } else post('Runtime.releaseObjectGroup', { objectGroup: this.name });
    const about = error === undefined ? ['', '', 0, '', '', 0] : pristine(() => describe(error, this.name, line));
    pristine(() => send('Z', this.seq, how, status, ...about));
    if (once || how === 'gone') realExit(status);
  }

  // fail ends the run by an uncaught error. A process of its own ends with it, so that
  // the program's handlers of exit are called.
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

  // isCaller tells whether what runs here is the program or was started by it.
  isCaller() {
    return once || this.first || computing || runOf.getStore() === this.seq;
  }

  // leave calls the handlers of exit, once, and returns the exit code. They may change
  // it, throw, or call process.exit again.
  leave(status) {
    if (this.leaving) return status;
    this.leaving = true;
    process.exitCode = status;
    try { process.emit('exit', status); } catch (e) { process.stderr.write(`Uncaught ${util.inspect(e)}\n`); }
    return Number(process.exitCode ?? status) & 0xff;
  }

  // exit ends the process, and with it a context's state. If code of an earlier run calls
  // it, the host gets no report: the run is lost.
  exit(status) {
    this.stopping = true;
    if (!this.leaving) this.cutOff = !this.isCaller();
    status = this.leave(status);
    if (this.cutOff) realExit(status);
    process.exitCode = undefined;
    if (this.error !== undefined) this.report('error', status || 1, this.error);
    this.report(once ? 'exit' : 'gone', status);
    realExit(status);
  }
}

let remains = {}; // what an earlier run left
const resources = () => pristine(counted);
function counted() {
  const n = {};
  for (const k of process.getActiveResourcesInfo?.() ?? ['unknown']) n[k] = (n[k] ?? 0) + 1;
  return n;
}

// noMore tells whether nothing is under way that was not before.
function noMore(before) {
  const now = resources();
  return pristine(() => Object.keys(now).every((k) => now[k] <= (before[k] ?? 0)));
}

function start(fields) {
  seq = String(fields[0]);
  for (const t of timers) t.unref?.(); // of what a server called between runs
  const own = current = new Run(seq);
  if (!once && !own.first) runOf ??= new AsyncLocalStorage();
  settle(() => current === own && !own.stopping && within(() => own.start(fields)));
}
