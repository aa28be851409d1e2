// What the library exports.

// json returns a value's JSON text, "" where that would not say the same. The
// prototypes are those of the program's realm.
const json = __JSVALUE__;

const dir = (v, opts) => {
  const ctx = options(opts);
  ctx.plain = true;
  return value(v, ctx, 0);
};

return { inspect, format, table, json, dir };
