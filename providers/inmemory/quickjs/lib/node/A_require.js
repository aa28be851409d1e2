// require, and what the library exports.

const cache = Object.create(null), builtin = new Map();
const missing = (spec) => Object.assign(error(Error, "MODULE_NOT_FOUND", `Cannot find module '${spec}'`), { specifier: spec, requireStack: [] });
function find(spec, dir) {
  const full = path.resolve(dir, spec);
  for (const suffix of ["", ".js", ".cjs", ".json", "/index.js"]) {
    try { if (!host.fs("stat", full + suffix)[0]) return full + suffix; } catch {}
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
    if (cache[full] !== undefined) return cache[full].exports;
    const text = host.decode(host.fs("open", full), false);
    const module = { id: full, filename: full, path: path.dirname(full), exports: {}, loaded: false, children: [], paths: [] };
    cache[full] = module;
    try {
      if (full.endsWith(".json")) module.exports = JSON.parse(text);
      else {
        const inner = requireFrom(path.dirname(full));
        host.evalModule(text, full).call(module.exports, module.exports, inner, module, full, path.dirname(full));
      }
    } catch (e) {
      delete cache[full];
      throw e;
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

const meta = { __proto__: null, dirname: "/", filename: "/program.js", main: true, resolve: (spec) => require.resolve(spec), url: "file:///program.js" };
return { process, Buffer, require, module, exports: module.exports, __filename: "/program.js", __dirname: "/", __esm__meta: meta,
  atExit, atFault, beforeExit, onUncaught, onRejection };
