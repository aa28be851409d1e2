(() => {
  "use strict";
  // The text of a value that JSON.parse(JSON.stringify(value)) gives back deeply
  // equal, "" for any other. It asks for each property once, so that a getter or
  // a proxy cannot answer differently where it is compared, and uses nothing that
  // a program can replace.
  const { stringify } = JSON, { isArray } = Array;
  const { keys, getPrototypeOf, getOwnPropertySymbols, is } = Object;
  const own = (f) => Function.prototype.bind.call(Function.prototype.call, f);
  const tagOf = own(Object.prototype.toString), isEnumerable = own(Object.prototype.propertyIsEnumerable);
  const indexOf = own(String.prototype.indexOf), codeAt = own(String.prototype.charCodeAt);
  const MAX_BYTES = 1 << 20, MAX_DEPTH = 100;
  const none = {}; // thrown where there is no faithful text

  // textOf writes a string, which must have no lone surrogates: those come out
  // as \ud..., which only an even number of backslashes may precede otherwise.
  function textOf(s, left) {
    if (s.length > left) throw none;
    const text = stringify(s);
    for (let i = indexOf(text, "\\ud"); i >= 0; i = indexOf(text, "\\ud", i + 1)) {
      let n = i;
      while (codeAt(text, n - 1) === 92) n--;
      if ((i - n) % 2 === 0) throw none;
    }
    return text;
  }

  function bytes(text) {
    let n = text.length;
    if (n * 3 <= MAX_BYTES) return n;
    for (let i = 0; i < text.length && n <= MAX_BYTES; i++) {
      const c = codeAt(text, i);
      if (c >= 0x80) n += c < 0x800 || c >= 0xd800 && c <= 0xdfff ? 1 : 2; // half of a pair has two of four
    }
    return n;
  }

  return (value, objectProto = Object.prototype, arrayProto = Array.prototype) => {
    let out = "";
    const write = (s) => {
      out += s;
      if (out.length > MAX_BYTES) throw none;
    };
    function walk(v, depth) {
      switch (typeof v) {
        case "string": return write(textOf(v, MAX_BYTES - out.length));
        case "boolean": return write(v ? "true" : "false");
        case "number":
          if (v - v !== 0 || is(v, -0)) throw none;
          return write(`${v}`);
        case "object": break;
        default: throw none;
      }
      if (v === null) return write("null");
      if (depth === MAX_DEPTH) throw none; // cycles too
      const list = isArray(v);
      if (getPrototypeOf(v) !== (list ? arrayProto : objectProto) || !list && tagOf(v) !== "[object Object]") throw none;
      if (list && v.length > MAX_BYTES || typeof v.toJSON === "function") throw none;
      const symbols = getOwnPropertySymbols(v);
      for (let i = 0; i < symbols.length; i++) if (isEnumerable(v, symbols[i])) throw none;
      const names = keys(v);
      if (list && names.length !== v.length) throw none;
      write(list ? "[" : "{");
      for (let i = 0; i < names.length; i++) {
        if (i > 0) write(",");
        if (!list) write(textOf(names[i], MAX_BYTES - out.length) + ":");
        else if (names[i] !== `${i}`) throw none;
        walk(v[names[i]], depth + 1);
      }
      write(list ? "]" : "}");
    }
    try {
      walk(value, 0);
      return bytes(out) <= MAX_BYTES ? out : "";
    } catch {
      return "";
    }
  };
})()
