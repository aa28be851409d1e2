// require, and what the library exports.

const cache = Object.create(null), builtin = new Map();
const loading = new Map(); // by file the run that loads it; one that was stopped leaves it there
const missing = (spec) => Object.assign(error(Error, "MODULE_NOT_FOUND", `Cannot find module '${spec}'`), { specifier: spec, requireStack: [] });
function find(spec, dir) {
  const full = path.resolve(dir, spec);
  for (const name of host.candidates(full)) {
    try { if (!host.fs("stat", name)[0]) return name; } catch {}
  }
  return null;
}
function requireFrom(dir) {
  const require = (spec) => {
    if (typeof spec !== "string") throw badArgument("id", "of type string", spec);
    const name = spec.replace(/^node:/, "");
    if (Object.hasOwn(makers, name)) {
      if (!builtin.has(name)) builtin.set(name, makers[name]());
      return builtin.get(name);
    }
    const full = /^(\.{0,2}\/|\.{1,2}$)/.test(spec) ? find(spec, dir ?? host.cwd()) : null;
    if (full === null) throw missing(spec);
    if (cache[full] !== undefined && (!loading.has(full) || loading.get(full) === host.run())) return cache[full].exports;
    const text = host.decode(host.fs("open", full), false);
    const module = { id: full, filename: full, path: path.dirname(full), exports: {}, loaded: false, children: [], paths: [] };
    cache[full] = module;
    loading.set(full, host.run());
    try {
      if (full.endsWith(".json")) module.exports = JSON.parse(text);
      else {
        const inner = requireFrom(path.dirname(full));
        host.evalModule(text, full).call(module.exports, module.exports, inner, module, full, path.dirname(full));
      }
    } catch (e) {
      delete cache[full];
      throw e;
    } finally {
      loading.delete(full);
    }
    module.loaded = true;
    return module.exports;
  };
  require.cache = cache;
  require.resolve = (spec) => {
    if (Object.hasOwn(makers, spec.replace(/^node:/, ""))) return spec;
    const full = find(spec, dir ?? host.cwd());
    if (full === null) throw missing(spec);
    return full;
  };
  return require;
}
const require = requireFrom(null);
const module = { id: ".", exports: {}, loaded: false, children: [], paths: [] };
require.main = module;

// describeModule fills in what import.meta is in a file, whose URL ends in query.
function describeModule(meta, file, query = "") {
  const href = url.pathToFileURL(file).href + query, inner = requireFrom(path.dirname(file));
  const resolve = (spec) => {
    if (/^[a-z]+:/i.test(spec) && !spec.startsWith("node:")) return new globalThis.URL(spec).href;
    const found = inner.resolve(spec);
    return found.startsWith("/") ? url.pathToFileURL(found).href : found.startsWith("node:") ? found : `node:${found}`;
  };
  return Object.assign(meta, { dirname: path.dirname(file), filename: file, resolve, url: href });
}
// named returns a module where it exports all names.
function named(ns, spec, ...names) {
  for (const name of names) {
    if (!(name in ns)) throw new SyntaxError(`The requested module '${spec}' does not provide an export named '${name}'`);
  }
  return ns;
}
const meta = describeModule({ __proto__: null, main: true }, "/program.js");
return { process, Buffer, require, module, exports: module.exports, __filename: "/program.js", __dirname: "/", __esm__meta: meta, __esm__named: named,
  describeModule, atExit, atFault, beforeExit, onUncaught, onRejection };
