// Modules: import and require in a program that is not one.

const anchor = () => path.join(process.cwd(), 'cell.js');
function need(id) { return createRequire(anchor())(id); }
need.resolve = (id, o) => createRequire(anchor()).resolve(id, o);
Object.defineProperty(need, 'cache', { get: () => createRequire(anchor()).cache });
Object.defineProperty(need, 'main', { get: () => globalThis.module });
hidden('require', need);
const ownModule = {
  exports: {}, children: [], id: '<cell>', loaded: true, require: need,
  get filename() { return ownFile(); },
  get paths() { return require('module')._nodeModulePaths(path.dirname(ownFile())); },
};
hidden('exports', ownModule.exports);

const NAME = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
const COMMENT = String.raw`\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/[^\n]*(?=\n|$)`, STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const _ = `(?:\\s|${COMMENT})*`; // what may stand between two words
const LIST = `\\{(?:[^}"'/]|${STRING}|${COMMENT})*\\}`;
const ATTRIBUTES = `(?:${_}\\b(?:with|assert)${_}(?<attributes>${LIST}))?[^\\S\\n]*;?`;
const FROM = `(?<from>${STRING})${ATTRIBUTES}`;
const STATIC = new RegExp(`import\\b${_}(?:(?!from${_}["'])(?:(?<name>${NAME})(?:${_},${_}(?=[*{])|(?=${_}\\bfrom)))?(?:\\*${_}as\\b${_}(?<star>${NAME})|(?<list>${LIST}))?${_}\\bfrom${_})?${FROM}`, 'uy');
const loading = ({ from, attributes, list, name }) => {
  const load = `await __impt(${from}${attributes ? `, { with: ${attributes} }` : ''})`;
  const names = [...(name ? ['"default"'] : []), ...Array.from(withoutComments(list).matchAll(IMPORTED), ([, n]) => (/^["']/.test(n) ? n : `"${n}"`))];
  return names.length ? `__impt.named(${[load, from, ...names].join(', ')})` : load;
};
const IMPORTED = new RegExp(`(${STRING}|${NAME})(?:\\s+as\\s+(?:${STRING}|${NAME}))?`, 'gu');
const withoutComments = (list = '') => list.replace(COMMENTS, (s) => (s[0] === '/' ? ' ' : s));

// named throws what a module's linking does where a name is not there. What a module has
// its import give instead of itself is not looked at.
imported.named = function named(module, from, ...names) {
  const missing = util.types.isModuleNamespaceObject(module) ? names.find((n) => !Reflect.has(module, n)) : undefined;
  if (missing === undefined) return module;
  const e = new SyntaxError(`The requested module '${from}' does not provide an export named '${missing}'`);
  Error.captureStackTrace(e, named);
  throw e;
};

// staticImport turns the import declaration at the offset into a dynamic
// one, on as many lines. It returns undefined where there is none.
function staticImport(code, offset) {
  STATIC.lastIndex = offset;
  const m = STATIC.exec(code);
  if (!m) return undefined;
  const { name, star, list } = m.groups, load = loading(m.groups);
  let to;
  if (star) to = name ? `const ${star} = ${load}, { default: ${name} } = ${star};` : `const ${star} = ${load};`;
  else if (list || name) {
    const names = withoutComments(list).replace(/(?<=[\p{ID_Continue}$"'])\s+as\s+/gu, ': ').replace(/^\{|\}$/g, '').trim();
    to = `const { ${[name ? `default: ${name}` : '', names].filter(Boolean).join(', ')} } = ${load};`;
  } else to = `${load}; void 0;`;
  return replaced(code, offset, m[0], to);
}
const COMMENTS = new RegExp(`${STRING}|${COMMENT}`, 'gu');

// replaced puts something else in place of what is at the offset, on as many lines.
function replaced(code, offset, old, to) {
  const lines = old.split('\n').length - to.split('\n').length;
  return code.slice(0, offset) + to + '\n'.repeat(Math.max(lines, 0)) + code.slice(offset + old.length);
}

const EXPORT_FROM = new RegExp(`export\\b${_}(?:\\*${_}(?:as\\b${_}(?:${NAME}|${STRING})${_})?|(?<list>${LIST})${_})from${_}${FROM}`, 'uy');
const NAMELESS = new RegExp(`export${_}default(\\s+(?:(?:async\\s+)?function\\s*\\*?(?=\\s*\\()|class(?=\\s*\\{|\\s+extends\\b)))`, 'uy');
const OBJECT = new RegExp(`export${_}default(?=\\s*\\{)`, 'uy');
const EXPORT = new RegExp(`export(?:${_}default\\b|(?=\\s+(?:const|let|var|function|class|async)\\b)|${_}${LIST}\\s*(?:;|$|\\n))?`, 'uy');

// withoutExport takes the word out at the offset: what it exports stays.
function withoutExport(code, offset) {
  const at = (re) => { re.lastIndex = offset; return re.exec(code); };
  const from = at(EXPORT_FROM);
  if (from) return replaced(code, offset, from[0], `${loading(from.groups)}; void 0;`);
  const nameless = at(NAMELESS);
  if (nameless) { // it stays a declaration, which no semicolon ends
    const kind = nameless[1].includes('class') ? 'class' : 'function'; // V8 does not declare a function's name as a class's
    return replaced(code, offset, nameless[0], `;${nameless[1]} __default_${kind}_${offset}`);
  }
  const object = at(OBJECT);
  if (object) return replaced(code, offset, object[0], ';0,'); // else it were a block
  const found = at(EXPORT);
  return found && replaced(code, offset, found[0], found[0].replace(/[^\n]/g, ' ').replace(' ', ';'));
}
