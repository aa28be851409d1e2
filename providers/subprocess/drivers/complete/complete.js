// What could stand at the end of the code. Properties are looked up one by one:
// getters and proxies are left alone. evaluate returns what a let, const or class of
// the program's is, known are globals of node's that are getters.
(({ post, evaluate, known, isProxy, names, descriptor, parent }) => {
  const keywords = `async await break case catch class const continue debugger default delete do else export extends false finally for function
    if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while with yield`.split(/\s+/);
  const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
  const most = 1000;

  const chain = function* (v) {
    for (let o = Object(v), deep = 0; o !== null && deep < 1000 && !isProxy(o); o = parent(o), deep++) yield o;
  };
  // long reports whether there is a name for each of many elements: of an array, a
  // string, or arguments.
  const long = (o) => {
    const length = descriptor(o, 'length');
    return typeof length?.value === 'number' && !length.enumerable && length.value > most;
  };
  const members = (v) => {
    const found = new Set();
    if (v === undefined || v === null) return found;
    for (const o of chain(v)) {
      if (ArrayBuffer.isView(o)) continue; // a name for each byte
      if (long(o)) found.add('length');
      else for (const name of names(o)) found.add(name);
    }
    return found;
  };
  const member = (v, name) => {
    if (v === undefined || v === null) return undefined;
    for (const o of chain(v)) {
      const d = descriptor(o, name);
      if (d) return d.value;
    }
    return undefined;
  };
  const lexical = () => post('Runtime.globalLexicalScopeNames', {}).result?.names ?? [];
  const global = (name) => {
    if (!identifier.test(name)) return undefined;
    if (lexical().includes(name)) return evaluate(name);
    return Object.hasOwn(known, name) && descriptor(globalThis, name)?.get ? known[name] : member(globalThis, name);
  };
  // resolved returns the object that a path of names leads to.
  const resolved = ([head, ...rest]) => rest.reduce(member, global(head));

  return (code) => {
    const at = code.search(/(?:\?\.|[\p{ID_Continue}$.\u200c\u200d])*$/u);
    const path = code.slice(at).replaceAll('?.', '.').split('.');
    const word = path.pop();
    const end = Buffer.byteLength(code);
    let found = [];
    if (path.length) found = path[0] === '' || /^\d/.test(path[0]) ? [] : members(resolved(path));
    else if (!/[\])}'"`]\s*$/.test(code.slice(0, at)) || word) found = [...keywords, ...lexical(), ...members(globalThis)];
    const hidden = word ? '' : '_';
    const list = [...new Set(found)].filter((k) => typeof k === 'string' && k.startsWith(word) && identifier.test(k) && !(hidden && k.startsWith(hidden)));
    const late = (k) => (k.startsWith('_') ? 1 : 0);
    list.sort((a, b) => late(a) - late(b) || (a < b ? -1 : 1));
    return [end - Buffer.byteLength(word), end, list.slice(0, most).join('\n')];
  };
})
