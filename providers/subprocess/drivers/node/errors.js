// Stacks of errors have no frames of the driver's: neither where it calls a
// program nor in between. What a program has set to prepare them goes before, and
// is given all frames.
const byNode = Error.prepareStackTrace, { toString: titleOf } = Error.prototype;
let prepare;
const isOurs = (site) => /^\[eval\]/.test(site?.getFileName());
const isInspector = (site) => site.getFileName() === 'node:inspector';

function ofProgram(sites) {
  const end = sites.findIndex((s, i) => isInspector(s) && (i + 1 === sites.length || isOurs(sites[i + 1])));
  return (end < 0 ? sites : sites.slice(0, end)).filter((s) => !isOurs(s));
}

const prepareStackTrace = (error, sites) => pristine(() => prepared(error, sites));
function prepared(error, sites) {
  const own = ofProgram(sites);
  const whole = typeof byNode === 'function' && textOf(() => byNode(error, own));
  if (whole) return whole;
  const coded = Object.getOwnPropertySymbols(error).some((s) => s.description === 'kIsNodeError');
  const title = textOf(() => (coded ? `${error.name} [${error.code}]: ${error.message}` : titleOf.call(error)));
  return [title || `${kindOf(error)}: ${textOf(() => error.message)}`, ...own].join('\n    at ');
}
Object.defineProperty(Error, 'prepareStackTrace', {
  configurable: true, get: () => prepare ?? prepareStackTrace, set: (f) => { prepare = f; },
});

// textOf returns what code of the program's gives, which may fail at that.
const textOf = (f) => { try { return String(f() ?? ''); } catch { return ''; } };
const kindOf = (error) => textOf(() => error.name) || textOf(() => error.constructor.name) || 'Error';

function describe(error, name, line) {
  lost = 0;
  if (error && Object.hasOwn(error, 'thrown') && !(error instanceof Error)) {
    const text = typeof error.thrown === 'string' ? util.inspect(error.thrown) : shown(error.thrown);
    return ['Uncaught', shortened(text, MAX_MESSAGE), line, '', shortened(`Uncaught ${text}`, MAX_STACK), lost];
  }
  const kind = kindOf(error), message = textOf(() => error.message), stack = textOf(() => error.stack), code = textOf(() => error.code);
  let missing = '';
  if (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND') missing = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1] ?? '';
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') missing = /: (.*)$/.exec(message)?.[1] ?? '';
  const lines = stack.split('\n');
  const end = lines.findIndex((l) => isFrame(l) && /\btoolcell:\d|node:inspector/.test(l));
  const own = (end < 0 ? lines : lines.slice(0, end)).filter((l) => !isFrame(l) || !/\[eval\]/.test(l) && !ofLoader(l));
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (!line) line = Number(new RegExp(`${escaped}:(\\d+)`).exec(own.join('\n'))?.[1] ?? 0);
  if (line && !own.some((l) => l.includes(name))) own.push(`    at ${name}:${line}`);
  own.push(...`${own.pop() ?? ''}${textOf(() => reasons(error))}`.split('\n'));
  if (script) own.forEach((l, i) => { own[i] = l.replaceAll(`${name}:`, `cell-${cell}:`); }); // as the host knows it
  const report = shortened(own.join('\n') || `${kind}: ${message}`, MAX_STACK);
  return [shortened(kind, MAX_ID), shortened(message, MAX_MESSAGE), line, shortened(missing, MAX_ID), report, lost];
}

// reasons returns what node writes behind the stack of an error that has a cause, or
// the errors of an AggregateError: " {", lines and "}". What is nested deep is left out.
function reasons(error) {
  const bare = new Error();
  Object.defineProperty(bare, 'stack', { value: 'Error\n    at bare' });
  let some = false;
  for (const name of ['cause', 'errors']) {
    const d = getOwnPropertyDescriptor(error, name);
    if (!d || name === 'errors' && !Array.isArray(d.value)) continue;
    Object.defineProperty(bare, name, { ...d, enumerable: false });
    some = true;
  }
  return some ? util.inspect(bare).slice(bare.stack.length) : '';
}

// shortened leaves out the middle of what is longer than the limit in bytes,
// says so, and counts it.
let lost = 0;
function shortened(s, limit) {
  // None of a string's units takes more than 3 bytes.
  if (s.length <= limit / 3) return s;
  const b = Buffer.from(s);
  if (b.length <= limit) return s;
  const half = limit / 2 - 50;
  lost += b.length - 2 * half;
  return `${b.subarray(0, half)}\n[${b.length - 2 * half} bytes are left out]\n${b.subarray(b.length - half)}`;
}
