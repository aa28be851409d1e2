// assert

class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message);
    this.name = "AssertionError";
    Object.assign(this, { code: "ERR_ASSERTION", generatedMessage: false, actual, expected, operator });
  }
}
const assertFail = (actual, expected, message, operator, text) => {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message ?? text, actual, expected, operator });
};
const shown = (v) => host.inspect(v, { depth: 5 });
const ok = (v, message) => { if (!v) assertFail(v, true, message, "==", "The expression evaluated to a falsy value"); };
const check = (operator, test, words) => (a, b, message) => {
  if (!test(a, b)) assertFail(a, b, message, operator, `${words}:\n\n${shown(a)}\n\n${operator.startsWith("not") ? "and" : "should equal"}\n\n${shown(b)}`);
};
const matches = (e, want) => {
  if (want === undefined) return true;
  if (want instanceof RegExp) return want.test(String(e));
  if (typeof want === "function") return want.prototype !== undefined && e instanceof want || (!Error.isPrototypeOf(want) && want !== Error && want.call({}, e) === true);
  return Object.keys(want).every((k) => (want[k] instanceof RegExp ? want[k].test(e[k]) : deepEqual(e[k], want[k], true)));
};
const rejected = (e, want, message, operator) => {
  if (typeof want === "string") { message = want; want = undefined; }
  if (!matches(e, want)) { if (want instanceof RegExp || typeof want === "object") assertFail(e, want, message, operator, `The error does not match:\n\n${shown(e)}`); throw e; }
};
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
  fail(message = "Failed") { assertFail(undefined, undefined, message, "fail", "Failed"); },
  throws(f, want, message) {
    try { f(); } catch (e) { rejected(e, want, message, "throws"); return; }
    assertFail(undefined, want, typeof want === "string" ? want : message, "throws", "Missing expected exception.");
  },
  doesNotThrow(f, want, message) { try { f(); } catch (e) { assertFail(e, want, message, "doesNotThrow", `Got unwanted exception.\nActual message: "${e?.message}"`); } },
  async rejects(p, want, message) {
    try { await (typeof p === "function" ? p() : p); } catch (e) { rejected(e, want, message, "rejects"); return; }
    assertFail(undefined, want, typeof want === "string" ? want : message, "rejects", "Missing expected rejection.");
  },
  async doesNotReject(p, want, message) { try { await (typeof p === "function" ? p() : p); } catch (e) { assertFail(e, want, message, "doesNotReject", `Got unwanted rejection.\nActual message: "${e?.message}"`); } },
  match(s, re, message) { if (!re.test(s)) assertFail(s, re, message, "match", `The input did not match the regular expression ${re}. Input:\n\n${shown(s)}\n`); },
  doesNotMatch(s, re, message) { if (re.test(s)) assertFail(s, re, message, "doesNotMatch", `The input was expected to not match the regular expression ${re}. Input:\n\n${shown(s)}\n`); },
  ifError(v) { if (v !== null && v !== undefined) throw v; },
});
strict.strict = strict;
const assert = Object.assign((v, m) => ok(v, m), strict, {
  equal: check("==", (a, b) => a == b || a !== a && b !== b, "Expected values to be loosely equal"),
  notEqual: check("!=", (a, b) => a != b, 'Expected "actual" to be loosely unequal to'),
  deepEqual: check("deepEqual", (a, b) => deepEqual(a, b, false), "Expected values to be loosely deep-equal"),
  notDeepEqual: check("notDeepEqual", (a, b) => !deepEqual(a, b, false), 'Expected "actual" not to be loosely deep-equal to'),
});
