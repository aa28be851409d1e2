// assert

class AssertionError extends Error {
  constructor({ message, actual, expected, operator, generated }) {
    super(message);
    this.name = "AssertionError";
    Object.assign(this, { code: "ERR_ASSERTION", generatedMessage: generated === true, actual, expected, operator });
  }
}
const assertFail = (actual, expected, message, operator, text) => {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message ?? text, actual, expected, operator, generated: message === undefined });
};
const shown = (v) => host.inspect(v, { depth: 5 });
const ok = (v, message) => { if (!v) assertFail(v, true, message, "==", "The expression evaluated to a falsy value"); };
const textOf = (v) => host.inspect(v, { compact: false, depth: 1000, maxArrayLength: Infinity, maxStringLength: Infinity, breakLength: Infinity });
const plain = (v) => v === null || typeof v !== "object" && typeof v !== "function";
// difference is the two values line by line, but for those that are the same at both ends.
function difference(a, b) {
  const left = textOf(a).split("\n"), right = textOf(b).split("\n");
  if (left.length === 1 && right.length === 1 && left[0].length + right[0].length <= 12) return `\n\n${left[0]} !== ${right[0]}\n`;
  const same = (x, y) => x.replace(/,$/, "") === y.replace(/,$/, "");
  let i = 0, j = 0;
  while (i < left.length && i < right.length && same(left[i], right[i])) i++;
  while (j < left.length - i && j < right.length - i && left.at(-1 - j) === right.at(-1 - j)) j++;
  const lines = [...right.slice(0, i).map((l, k) => `  ${l.length < left[k].length ? left[k] : l}`), ...left.slice(i, left.length - j).map((l) => `+ ${l}`),
    ...right.slice(i, right.length - j).map((l) => `- ${l}`), ...left.slice(left.length - j).map((l) => `  ${l}`)];
  return `\n+ actual - expected\n\n${lines.join("\n")}`;
}
const wording = {
  "==": (a, b) => `${textOf(a)} == ${textOf(b)}`, "!=": (a, b) => `${textOf(a)} != ${textOf(b)}`,
  deepEqual: (a, b, words) => `${words}:\n\n${textOf(a)}\n\nshould loosely deep-equal\n\n${textOf(b)}`,
};
const unequal = (a, b, words) => { const text = textOf(a); return text.includes("\n") ? `${words}:\n\n${text}\n` : `${words}:${text.length > 5 ? "\n\n" : " "}${text}`; };
const check = (operator, test, words) => (a, b, message) => {
  if (test(a, b)) return;
  const say = wording[operator] ?? (operator.startsWith("not") ? unequal : () => `${words}:${difference(a, b)}`);
  assertFail(a, b, message, operator, message === undefined ? say(a, b, words) : "");
};
// unmatched says what is wrong with an error; undefined where nothing is.
function unmatched(e, want) {
  if (want === undefined) return undefined;
  if (want instanceof RegExp) return want.test(String(e)) ? undefined : `The input did not match the regular expression ${want}. Input:\n\n${host.inspect(String(e))}\n`;
  if (typeof want === "function") {
    if (want.prototype !== undefined && e instanceof want) return undefined;
    const isError = e instanceof Error;
    if (want === Error || Error.isPrototypeOf(want)) {
      return `The error is expected to be an instance of "${want.name}". Received ${isError ? `"${e.constructor?.name ?? e.name}"` : `"${host.inspect(e, { depth: -1 })}"`}${isError ? `\n\nError message:\n\n${e.message}` : ""}`;
    }
    const r = want.call({}, e);
    return r === true ? undefined : `The ${want.name ? `"${want.name}" ` : ""}validation function is expected to return "true". Received ${host.inspect(r)}${isError ? `\n\nCaught error:\n\n${e}` : ""}`;
  }
  const keys = [...Object.keys(want), ...(want instanceof Error ? ["name", "message"] : [])];
  const ok = plain(e) ? false : keys.every((k) => (want[k] instanceof RegExp && typeof e[k] === "string" ? want[k].test(e[k]) : k in e && deepEqual(e[k], want[k], true)));
  if (ok) return undefined;
  const pick = (o) => (plain(o) ? o : Object.fromEntries(keys.filter((k) => k in o).map((k) => [k, want[k] instanceof RegExp && typeof o[k] === "string" && want[k].test(o[k]) ? want[k] : o[k]])));
  return `Expected values to be strictly deep-equal:${difference(pick(e), pick(want))}`.replace(/^(  |[+-] )\{$/m, "$1Comparison {").replace(/^- \{$/m, "- Comparison {");
}
const rejected = (e, want, message, operator) => {
  if (typeof want === "string") { message = want; want = undefined; }
  const fault = unmatched(e, want);
  if (fault !== undefined) assertFail(e, want, message, operator, fault);
};
const absent = (what, want, message) => {
  if (typeof want === "string") message = want;
  return message instanceof Error ? message : `Missing expected ${what}${typeof want === "function" && want.name ? ` (${want.name})` : ""}${message ? `: ${message}` : "."}`;
};
const callable = (name, f) => { if (typeof f !== "function") throw badArgument(name, "of type function", f); };
const strict = Object.assign((v, m) => ok(v, m), {
  ok, AssertionError,
  equal: check("strictEqual", Object.is, "Expected values to be strictly equal"),
  notEqual: check("notStrictEqual", (a, b) => !Object.is(a, b), 'Expected "actual" to be strictly unequal to'),
  strictEqual: check("strictEqual", Object.is, "Expected values to be strictly equal"),
  notStrictEqual: check("notStrictEqual", (a, b) => !Object.is(a, b), 'Expected "actual" to be strictly unequal to'),
  deepEqual: check("deepStrictEqual", (a, b) => deepEqual(a, b, true), "Expected values to be strictly deep-equal"),
  deepStrictEqual: check("deepStrictEqual", (a, b) => deepEqual(a, b, true), "Expected values to be strictly deep-equal"),
  notDeepEqual: check("notDeepStrictEqual", (a, b) => !deepEqual(a, b, true), 'Expected "actual" not to be strictly deep-equal to'),
  notDeepStrictEqual: check("notDeepStrictEqual", (a, b) => !deepEqual(a, b, true), 'Expected "actual" not to be strictly deep-equal to'),
  fail(message) { assertFail(undefined, undefined, message, "fail", "Failed"); },
  throws(f, want, message) {
    callable("fn", f);
    try { f(); } catch (e) { rejected(e, want, message, "throws"); return; }
    assertFail(undefined, want, absent("exception", want, message), "throws");
  },
  doesNotThrow(f, want, message) { callable("fn", f); try { f(); } catch (e) { assertFail(e, want, message, "doesNotThrow", `Got unwanted exception.\nActual message: "${e?.message}"`); } },
  async rejects(p, want, message) {
    try { await (typeof p === "function" ? p() : p); } catch (e) { rejected(e, want, message, "rejects"); return; }
    assertFail(undefined, want, absent("rejection", want, message), "rejects");
  },
  async doesNotReject(p, want, message) { try { await (typeof p === "function" ? p() : p); } catch (e) { assertFail(e, want, message, "doesNotReject", `Got unwanted rejection.\nActual message: "${e?.message}"`); } },
  match(s, re, message) { if (!re.test(s)) assertFail(s, re, message, "match", `The input did not match the regular expression ${re}. Input:\n\n${shown(s)}\n`); },
  doesNotMatch(s, re, message) { if (re.test(s)) assertFail(s, re, message, "doesNotMatch", `The input was expected to not match the regular expression ${re}. Input:\n\n${shown(s)}\n`); },
});
strict.strict = strict;
const assert = Object.assign((v, m) => ok(v, m), strict, {
  equal: check("==", (a, b) => a == b || a !== a && b !== b, "Expected values to be loosely equal"),
  notEqual: check("!=", (a, b) => a != b, 'Expected "actual" to be loosely unequal to'),
  deepEqual: check("deepEqual", (a, b) => deepEqual(a, b, false), "Expected values to be loosely deep-equal"),
  notDeepEqual: check("notDeepEqual", (a, b) => !deepEqual(a, b, false), 'Expected "actual" not to be loosely deep-equal to'),
});
