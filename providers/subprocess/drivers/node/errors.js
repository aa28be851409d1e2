// What the host is told of an error.

function describe(error, name, line) {
  lost = 0;
  if (error && Object.hasOwn(error, 'thrown') && !(error instanceof Error)) {
    const text = typeof error.thrown === 'string' ? util.inspect(error.thrown) : shown(error.thrown);
    return ['Uncaught', shortened(text, MAX_MESSAGE), line, '', shortened(`Uncaught ${text}`, MAX_STACK), lost];
  }
  let kind = 'Error', message = '', stack = '', missing = '';
  try {
    kind = String(error.name || error.constructor?.name || 'Error');
    message = String(error.message ?? '');
    stack = String(error.stack ?? '');
    if (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND') {
      missing = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1] ?? '';
    }
    if (error.code === 'ERR_UNKNOWN_BUILTIN_MODULE') missing = /: (.*)$/.exec(message)?.[1] ?? '';
  } catch {}
  const lines = stack.split('\n');
  const end = lines.findIndex((l) => /\bat (?:takeCall|toolcell|Session\.post|evaluate|go |interruptible)|\(toolcell:|at toolcell:|node:inspector/.test(l));
  const own = (end < 0 ? lines : lines.slice(0, end)).filter((l) => !/\[eval\]/.test(l));
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (!line) line = Number(new RegExp(`${escaped}:(\\d+)`).exec(own.join('\n'))?.[1] ?? 0);
  if (line && !own.some((l) => l.includes(name))) own.push(`    at ${name}:${line}`);
  const report = shortened(own.join('\n') || `${kind}: ${message}`, MAX_STACK);
  return [shortened(kind, MAX_ID), shortened(message, MAX_MESSAGE), line, shortened(missing, MAX_ID), shortenedLines(report), lost];
}

// shortened leaves out the middle of what is longer than the limit in bytes,
// says so, and counts it.
let lost = 0;
function shortened(s, limit) {
  if (s.length <= limit / 3) return s;
  const b = Buffer.from(s);
  if (b.length <= limit) return s;
  const half = limit / 2 - 50;
  lost += b.length - 2 * half;
  return `${b.subarray(0, half)}\n[${b.length - 2 * half} bytes are left out]\n${b.subarray(b.length - half)}`;
}

function shortenedLines(s) {
  const lines = s.split('\n');
  if (lines.length <= MAX_LINES) return s;
  const half = MAX_LINES / 2 - 1;
  for (const l of lines.slice(half, -half)) lost += l.length + 1;
  return [...lines.slice(0, half), `[${lines.length - 2 * half} lines are left out]`, ...lines.slice(-half)].join('\n');
}
