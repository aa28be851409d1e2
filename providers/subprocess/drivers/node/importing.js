// import, as programs call it, and the errors of modules that cannot be loaded.

const importer = (spec, options) => (options === undefined ? import(spec) : import(spec, options));

async function imported(spec, options) {
  const at = {}, own = current;
  Error.captureStackTrace(at, imported);
  if (own) own.imports++;
  try {
    return await importer(target(String(spec)), options);
  } catch (e) {
    throw placed(e, at);
  } finally {
    if (own) own.imports--;
  }
}
hidden('__impt', imported);

// What stands for import.meta, which only modules have: that of the script, if the
// program is one. It is as long, so that columns stay.
hidden('__esm__meta', Object.create(null, {
  url: { enumerable: true, get: () => require('url').pathToFileURL(ownFile()).href },
  filename: { enumerable: true, get: () => ownFile() },
  dirname: { enumerable: true, get: () => path.dirname(ownFile()) },
  resolve: { enumerable: true, value: (spec) => target(String(spec)) },
}));
const ownFile = () => (path.isAbsolute(process.argv[1] ?? '') ? process.argv[1] : anchor());

// target is what the loader is asked for: what is relative is so to the directory.
function target(spec) {
  const { pathToFileURL } = require('url');
  if (/^\.{0,2}\//.test(spec)) return new URL(spec, pathToFileURL(anchor())).href;
  if (require('module').builtinModules.includes(spec.replace(/^node:/, '')) || /^[a-z]+:/.test(spec)) return spec;
  try {
    return pathToFileURL(createRequire(anchor()).resolve(spec)).href;
  } catch (e) {
    if (e.code === 'MODULE_NOT_FOUND' && e.requireStack) {
      throw Object.assign(new Error(`Cannot find package '${spec}'`), { code: 'ERR_MODULE_NOT_FOUND' });
    }
    throw e;
  }
}

// placed gives an error of node's own loader, which knows no code of the program, the
// frames of the import.
const heads = new WeakMap(); // of such errors, which the loader keeps for the next import
function placed(e, at) {
  try {
    if (!util.types.isNativeError(e)) return e;
    const frames = String(at.stack).split('\n').filter(isFrame);
    if (heads.has(e)) {
      e.stack = [heads.get(e), ...frames].join('\n');
      return e;
    }
    const lines = String(e.stack).split('\n'), head = lines.findIndex(isFrame);
    if (head < 0 || lines.slice(head).some((l) => isFrame(l) && !ofLoader(l))) return e; // thrown by code of a module
    const by = / imported from .*\[eval\d*\]$/m; // the driver
    if (by.test(e.message)) e.message = e.message.replace(by, '');
    const title = lines.slice(0, head).join('\n').replace(by, '');
    heads.set(e, title);
    e.stack = [title, ...frames].join('\n');
  } catch {} // it is as it was
  return e;
}

function detailsOf(e) {
  // The inspector takes no values, only expressions.
  Object.defineProperty(globalThis, '__toolcell', { value: e, configurable: true });
  const { objectId } = post('Runtime.evaluate', { expression: '__toolcell' }).result.result;
  delete globalThis.__toolcell;
  const { exceptionDetails } = post('Runtime.getExceptionDetails', { errorObjectId: objectId }).result;
  post('Runtime.releaseObject', { objectId });
  return exceptionDetails;
}

const isFrame = (line) => /^\s+at /.test(line);
const ofLoader = (line) => /\bnode:(?:internal\/(?:modules|vm|process\/execution)|diagnostics_channel)\b/.test(line);
