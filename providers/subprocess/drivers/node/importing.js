// import, as programs call it, and the errors of modules that cannot be loaded.

const importer = (spec, options) => (options === undefined ? import(spec) : import(spec, options));

async function imported(spec, options) {
  const at = {}, own = current;
  Error.captureStackTrace(at, imported);
  if (own) own.imports++;
  let url;
  try {
    url = target(String(spec));
    return await importer(url, options);
  } catch (e) {
    throw placed(e, at, url);
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

// placed gives an error of node's own loader, which knows of no code of the
// program, the place in a module that it is about and the frames of the import.
const heads = new WeakMap(); // of such errors, which the loader keeps for the next import
function placed(e, at, url) {
  try {
    if (!util.types.isNativeError(e)) return e;
    const frames = String(at.stack).split('\n').filter(isFrame);
    if (heads.has(e)) {
      e.stack = [...heads.get(e), ...frames].join('\n');
      return e;
    }
    const lines = String(e.stack).split('\n'), head = lines.findIndex(isFrame);
    if (head < 0 || lines.slice(head).some((l) => isFrame(l) && !ofLoader(l))) return e; // thrown by code of a module
    const by = / imported from .*\[eval\d*\]$/m; // the driver
    if (by.test(e.message)) e.message = e.message.replace(by, '');
    const title = lines.slice(0, head).join('\n').replace(by, '');
    const inModule = e instanceof SyntaxError && title.startsWith('SyntaxError') ? faultOf(e, url) : [];
    heads.set(e, [title, ...inModule]);
    e.stack = [title, ...inModule, ...frames].join('\n');
  } catch {} // it is as it was
  return e;
}

// faultOf returns the frame of a module's syntax error, of which the inspector knows the
// line, and not the module: it is looked for in what the url leads to.
function faultOf(e, url) {
  const { lineNumber: line, columnNumber: column } = detailsOf(e), modules = new Set([url]);
  for (const url of modules) {
    let code = '';
    try { code = fs.readFileSync(new URL(url), 'utf8'); } catch {}
    const lines = code.split('\n').length, fault = lines > line ? faultIn(code) : undefined;
    const same = e.message === 'Unexpected end of input' ? lines === line + 1 && fault?.line >= line : fault?.line === line && fault.message === e.message;
    if (same) return [`    at ${url}:${line + 1}:${column + 1}`];
    for (const [, , to] of code.matchAll(/\b(?:import|export|from)\s*(["'])(\.{0,2}\/[^'"\n]+)\1/g)) {
      if (modules.size < 256) modules.add(new URL(to, url).href);
    }
  }
  return [];
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

// faultIn returns the line and the message of the syntax error in a module's code,
// which is compiled as that of a function.
function faultIn(code) {
  for (;;) {
    try {
      new vm.Script(`(async () => {'use strict';\n${code}\n})`);
      return undefined;
    } catch (e) {
      const d = detailsOf(e), again = repaired(code, { ...d, lineNumber: d.lineNumber - 1 });
      if (again === undefined || again === code) return { line: d.lineNumber - 1, message: e.message };
      code = again;
    }
  }
}

const isFrame = (line) => /^\s+at /.test(line);
const ofLoader = (line) => /\bnode:(?:internal\/(?:modules|vm|process\/execution)|diagnostics_channel)\b/.test(line);
