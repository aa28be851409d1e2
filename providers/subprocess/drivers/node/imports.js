// Modules: import and require in a program that is not one.

const anchor = () => path.join(process.cwd(), 'cell.js');
function need(id) { return createRequire(anchor())(id); }
need.resolve = (id, o) => createRequire(anchor()).resolve(id, o);
Object.defineProperty(need, 'cache', { get: () => createRequire(anchor()).cache });
Object.defineProperty(need, 'main', { get: () => globalThis.module });
hidden('require', need);
const ownModule = { exports: {}, children: [], paths: [], id: '<cell>', loaded: true, require: need };
hidden('exports', ownModule.exports);

// dynamicImports replaces import( by __import( where it is a call. It knows
// strings, templates, comments and, well enough, regular expressions.
function dynamicImports(code) {
  if (!/\bimport\s*\(/.test(code)) return code;
  const token = /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|`|[}{]|(?:\bimport(?=\s*\())|[\w$]+|\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|[^\s]/gu;
  const out = [], stack = [];
  let last = '', at = 0, m;
  const template = () => {
    const re = /\\[^]|\$\{|`/g;
    re.lastIndex = token.lastIndex;
    for (let t; (t = re.exec(code));) {
      if (t[0] === '`' || t[0] === '${') { token.lastIndex = re.lastIndex; return t[0]; }
    }
    token.lastIndex = code.length;
  };
  while ((m = token.exec(code))) {
    let s = m[0];
    if (s.startsWith('//') || s.startsWith('/*')) continue;
    if (s[0] === '/' && s.length > 1 && /^(?:[\w$]+|[)\]}])$/.test(last) && !/^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/.test(last)) {
      token.lastIndex = m.index + 1;
      s = '/';
    }
    if (s === '`') { if (template() === '${') stack.push('`'); last = ')'; continue; }
    if (s === '{') stack.push('{');
    if (s === '}' && stack.pop() === '`') { if (template() === '${') stack.push('`'); last = ')'; continue; }
    if (s === 'import' && last !== '.' && last !== '#') {
      out.push(code.slice(at, m.index), '__import');
      at = m.index + 6;
    }
    last = s;
  }
  return out.join('') + code.slice(at);
}

const NAME = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
const STATIC = new RegExp(`import\\s*(?:(?:(${NAME})\\s*(?:,\\s*)?)?(?:(\\*\\s*as\\s+(${NAME}))|(\\{[^}]*\\}))?\\s*from\\s*)?(["'])((?:\\\\.|(?!\\5).)*)\\5(\\s*(?:with|assert)\\s*\\{[^}]*\\})?[^\\S\\n]*;?`, 'uy');

// staticImport turns the import declaration at the offset into a dynamic
// one, on as many lines. It returns undefined where there is none.
function staticImport(code, offset) {
  STATIC.lastIndex = offset;
  const m = STATIC.exec(code);
  if (!m) return undefined;
  const [all, name, , star, named, , from, attributes] = m;
  const options = attributes ? `, { with: ${attributes.replace(/^\s*(with|assert)\s*/, '')} }` : '';
  const load = `await __import(${JSON.stringify(from)}${options})`;
  let to;
  if (star) to = name ? `const ${star} = ${load}, { default: ${name} } = ${star};` : `const ${star} = ${load};`;
  else if (named || name) {
    const list = (named ?? '').replace(/\s+as\s+/g, ': ').replace(/^\{|\}$/g, '').replace(/\btype\s+(?=[\p{ID_Start}$_])/gu, '').trim();
    to = `const { ${[name ? `default: ${name}` : '', list].filter(Boolean).join(', ')} } = ${load};`;
  } else to = `${load}; void 0;`;
  return replaced(code, offset, all, to);
}

// replaced puts something else in place of what is at the offset, on as many lines.
function replaced(code, offset, old, to) {
  const lines = old.split('\n').length - to.split('\n').length;
  return code.slice(0, offset) + to + '\n'.repeat(Math.max(lines, 0)) + code.slice(offset + old.length);
}

const FROM = new RegExp(`export\\s*(?:\\*(?:\\s*as\\s+${NAME})?|\\{[^}]*\\})\\s*from\\s*(["'])((?:\\\\.|(?!\\1).)*)\\1[^\\S\\n]*;?`, 'uy');
const NAMELESS = /export\s+default(\s+(?:(?:async\s+)?function\s*\*?(?=\s*\()|class(?=\s*\{|\s+extends\b)))/y;
const EXPORT = /export(\s+default(?=\s+(?:async\s+)?(?:function|class)\b)|\s+default\b|(?=\s+(?:const|let|var|function|class|async)\b)|\s*\{[^}]*\}\s*(?:;|$|\n))?/y;

// withoutExport takes the word out at the offset: what it exports stays.
function withoutExport(code, offset) {
  const at = (re) => { re.lastIndex = offset; return re.exec(code); };
  const from = at(FROM);
  if (from) return replaced(code, offset, from[0], `await __import(${JSON.stringify(from[2])}); void 0;`);
  const nameless = at(NAMELESS);
  if (nameless) { // it stays a declaration, which no semicolon ends
    const kind = nameless[1].includes('class') ? 'class' : 'function'; // V8 does not declare a function's name as a class's
    return replaced(code, offset, nameless[0], `;${nameless[1]} __default_${kind}_${offset}`);
  }
  const object = at(/export\s+default(?=\s*\{)/y);
  if (object) return replaced(code, offset, object[0], ';0,'); // else it were a block
  const found = at(EXPORT);
  return found && replaced(code, offset, found[0], found[0].replace(/[^\n]/g, ' ').replace(' ', ';'));
}
