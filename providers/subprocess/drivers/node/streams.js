// The streams write at once, so that nothing is lost or held back.

// What console gives each of its writes looks for an error, and does nothing without:
// a tick of it would have the program have left something.
const ofConsole = new Set([console._stdoutErrorHandler, console._stderrErrorHandler]);

// stream writes past the machinery of Writable, which an interrupt would
// leave waiting for the end of a write for ever.
const { from: bytesOf } = Buffer;
function stream(fd) {
  const s = new Writable({ write: (chunk, encoding, done) => done() });
  s.fd = fd;
  s._type = 'pipe';
  s.write = (chunk, encoding, done) => {
    // Programs may replace the iterator of arrays: no destructuring here.
    if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
    if (typeof chunk === 'string') chunk = bytesOf(chunk, encoding);
    else if (!(chunk instanceof Uint8Array)) throw new TypeError('The "chunk" argument must be of type string or an instance of Buffer, TypedArray, or DataView.');
    let failed = null;
    try {
      writeAll(fd, chunk);
    } catch (e) {
      failed = e;
    }
    if (typeof done === 'function' && (failed !== null || !ofConsole.has(done))) process.nextTick(done, failed);
    return true;
  };
  s.end = (chunk, encoding, done) => {
    if (typeof chunk === 'function') { done = chunk; chunk = undefined; }
    else if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
    if (chunk !== undefined && chunk !== null) s.write(chunk, encoding);
    if (typeof done === 'function') process.nextTick(done);
    return s;
  };
  s.destroy = s.destroySoon = () => s;
  return s;
}
for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
  const s = stream(fd);
  Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => s });
}
