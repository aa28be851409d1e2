//go:build real

package jsvalue_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/jsvalue"
)

// TestValues compares the rule with what node's own functions say.
func TestValues(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := []struct{ value, want string }{
		{"null", "null"}, {"true", "true"}, {"0", "0"}, {"-0", ""}, {"1e300", "1e+300"}, {"NaN", ""}, {"-Infinity", ""},
		{"'hi'", `"hi"`}, {"''", `""`}, {`'\ud800'`, ""}, {`'\\ud800'`, `"\\ud800"`}, {`'\\\ud800'`, ""}, {`'🙂'`, `"🙂"`},
		{"undefined", ""}, {"10n", ""}, {"Symbol()", ""}, {"(() => 1)", ""},
		{"[]", "[]"}, {"[1, [null]]", "[1,[null]]"}, {"[, 1]", ""}, {"[undefined]", ""}, {"[-0]", ""}, {"new Array(5)", ""},
		{"Object.assign([1], { x: 1 })", ""}, {"Object.assign([, 1], { x: 1 })", ""}, {"new (class extends Array {})()", ""},
		{"({})", "{}"}, {"({ b: 1, a: [2] })", `{"b":1,"a":[2]}`}, {"({ a: undefined })", ""}, {"({ a: NaN })", ""},
		{"new (class P { x = 1 })()", ""}, {"Object.create(null)", ""}, {"Object.create({ a: 1 })", ""},
		{"({ get a() { return 1; } })", `{"a":1}`}, {"({ get a() { throw 1; } })", ""},
		{"new Proxy({ a: 1 }, {})", `{"a":1}`}, {"new Proxy([1], {})", "[1]"}, {"new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; } })", ""},
		{"Object.defineProperty({}, 'a', { value: 1 })", "{}"}, {"({ [Symbol()]: 1 })", ""}, {"({ __proto__: null })", ""}, {`JSON.parse('{"__proto__":1}')`, `{"__proto__":1}`},
		{"new Date(0)", ""}, {"new Map([[1, 2]])", ""}, {"new Set()", ""}, {"/x/", ""}, {"new Error('x')", ""}, {"Object(1)", ""}, {"Object('x')", ""},
		{"(function () { return arguments; })(1)", ""}, {"new Uint8Array(2)", ""}, {"({ toJSON() { return 1; } })", ""},
		{"(() => { const o = {}; o.o = o; return o; })()", ""}, {"(() => { const o = {}; return [o, o]; })()", "[{},{}]"},
		{nested(100), nested(100)}, {nested(101), ""},
		{"'x'.repeat(2 ** 20 - 2)", `"` + strings.Repeat("x", 1<<20-2) + `"`}, {"'x'.repeat(2 ** 20 - 1)", ""}, {"'é'.repeat(2 ** 19)", ""},
		{"'é'.repeat(2 ** 18)", `"` + strings.Repeat("é", 1<<18) + `"`}, {"'🙂'.repeat(2 ** 18)", ""}, {"Array(2 ** 31)", ""},
	}
	program := jsvalue.Into(`
const { isDeepStrictEqual } = require('util'), { parse, stringify } = JSON, { forEach, push } = Array.prototype;
const toJSON = __JSVALUE__;
const plain = (v) => { try { const s = stringify(v); return s !== undefined && isDeepStrictEqual(parse(s), v); } catch { return false; } };
const out = [], write = process.stdout.write.bind(process.stdout);
const seen = (v) => { const s = toJSON(v); out[out.length] = [s, s === '' || plain(v)]; };
`)
	for i, tc := range cases {
		if i == len(cases)/2 { // what programs do to their built-ins does not matter
			program += "String.prototype.indexOf = Array.prototype.push = RegExp.prototype.exec = () => { throw 1; };\n"
		}
		program += "seen(" + tc.value + ");\n"
	}
	program += "write(stringify(out));"
	got, err := exec.Command(node, "-e", program).Output()
	if err != nil {
		t.Fatalf("node: %v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var list [][2]any
	if err := json.Unmarshal(got, &list); err != nil || len(list) != len(cases) {
		t.Fatalf("%d answers for %d values: %v", len(list), len(cases), err)
	}
	for i, tc := range cases {
		if list[i][0] != tc.want || list[i][1] != true {
			t.Errorf("%s: got %.60q, equal %v, want %.60q", tc.value, list[i][0], list[i][1], tc.want)
		}
	}
}
