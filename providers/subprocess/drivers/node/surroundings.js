// What a run finds around it: standard input, environment, directory.

const { closeSync } = fs;
function setStdin(file) {
  if (file) {
    replaceStdin(file, 'r');
    fs.unlinkSync(file);
    stdinSet = true;
  } else if (stdinSet ?? true) {
    replaceStdin('/dev/null', 'r');
    stdinSet = false;
  }
}

// replaceStdin makes a file descriptor 0: open takes the lowest free one.
function replaceStdin(file, flags) {
  try { closeSync(0); } catch {} // the program has
  if (fs.openSync(file, flags) !== 0) throw new Error('descriptor 0 is not free');
  const s = new fs.ReadStream(null, { fd: 0, autoClose: false });
  s.ref = s.unref = () => s; // as sockets and terminals have
  Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => s });
}

// standardClosed tells that a program has closed the descriptor of its output, which the
// next file it opens takes then.
let standardClosed = false;
function followClosing() {
  for (const name of ['close', 'closeSync']) {
    const f = fs[name];
    inPlaceOf(fs, name, function (fd, ...args) {
      if (fd === 0) stdinSet = undefined;
      if (fd === 1 || fd === 2) standardClosed = true;
      return Reflect.apply(f, this, [fd, ...args]);
    });
  }
}

const { env: environment } = process;
function setEnv(fields) {
  const old = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const k = String(fields[i]);
    old.push([k, environment[k]]);
    environment[k] = String(fields[i + 1]);
  }
  return old;
}

function restoreEnv(old) {
  for (const [k, v] of old) {
    if (v === undefined) delete environment[k];
    else environment[k] = v;
  }
}

function configure(fields) {
  once = String(fields[0]) === 'once';
  if (!once) for (const follow of [followClosing, followTimers]) follow();
  hidden('module', ownModule); // not before: node puts its own back when the driver's source is done
  setEnv(fields.slice(1));
  script = once && globalThis.__toolcell_script || '';
  delete globalThis.__toolcell_script;
  process.argv[1] ??= anchor();
  hidden('__filename', ownFile());
  hidden('__dirname', path.dirname(ownFile()));
  if (script) hidden('arguments', argumentsOf(...moduleArguments()));
  send('H', `Node.js ${process.versions.node}`);
}
