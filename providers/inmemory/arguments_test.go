package inmemory_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestArgumentsAreJSON compares what a function gets with what JSON.stringify
// makes of the same value in the same program.
func TestArgumentsAreJSON(t *testing.T) {
	var got string
	raw := codeinterp.Function{Name: "raw", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		got = string(c.Args)
		return nil, nil
	}}
	for _, value := range []string{
		`{}`, `{a: 1}`, `{a: -1, b: 2147483647, c: -2147483648, d: 2147483648}`,
		`{t: true, f: false, n: null, u: undefined, g() {}, s: Symbol("s")}`,
		`{nan: NaN, inf: -Infinity, zero: -0, half: 0.5, big: 1e21, small: 1e-7}`,
		`{"": "", " ": " ", "a\"b\\c": "\"\\/", "\b\t\n\f\r\0\x1f\x7f": "\b\t\n\f\r\0\x1f\x7f"}`,
		`{"é": "\x80ÿ", b: "ü\u2028€", c: "\ud83d\ude00", d: "\ud800", "\u0101": 1}`,
		`{b: 1, 1: 2, a: 3, 0: 4, "-1": 5, "01": 6, "4294967294": 7, "4294967295": 8}`,
		`{a: {b: {c: {d: {e: {f: {g: {h: {i: {j: 1}}}}}}}}}}`,
		`{a: [1, [2, {b: 3}], , undefined], m: new Map([[1, 2]]), d: new Date(0), e: new Error("x"), r: /x/}`,
		`{[Symbol.toStringTag]: "x", a: 1}`,
		`{get a() { return 1 }, b: 2}`,
		`{toJSON() { return {mine: 1} }}`,
		`{a: {toJSON(key) { return key }}}`,
		`{toJSON: 1, a: 2}`,
		`{a: Object(1), b: Object("s"), c: Object(true)}`,
		`{__proto__: null, a: 1}`,
		`{__proto__: {inherited: 1}, own: 2}`,
		`new (class A { x = 1; #y = 2; get z() { return 3 } })`,
		`new Proxy({a: 1}, {get: () => 2})`,
		`(() => { const o = {a: 1, b: 2, c: 3}; delete o.b; return o })()`,
		`Object.defineProperty({a: 1}, "hidden", {value: 2})`,
		`Object.freeze({a: 1})`,
		`(() => { const one = {x: 1}; return {a: one, b: one} })()`,
		`(() => { let o = {x: 1}; for (let i = 0; i < 7; i++) o = {a: o, b: o}; return o })()`,
		`(() => { const o = {}; for (let i = 0; i < 300; i++) o["k" + i] = "v".repeat(i); return o })()`,
		`{a: "x".repeat(100000)}`, `{a: "x".repeat(3000) + "y".repeat(3000) + 1}`,
		`{a: JSON.parse('{"b":1}'), c: structuredClone({d: 2}), ...{e: 3}}`,
		`(Object.prototype.toJSON = () => ({everywhere: 1}), {a: 1})`,
	} {
		t.Run("", func(t *testing.T) {
			res, err := open(t, nil).RunCode(t.Context(), "javascript", "const value = "+value+";\nawait tools.raw(value);\nJSON.stringify(value)",
				&codeinterp.RunOptions{Functions: []codeinterp.Function{raw}})
			if err != nil || !res.OK() {
				t.Fatalf("%.100s: %v %v", value, res.Error, err)
			}
			var want string
			v, _ := res.Value()
			if err := json.Unmarshal(v.Value, &want); err != nil || got != want {
				t.Errorf("%.100s: the function got %.200q, JSON.stringify makes %.200q: %v", value, got, want, err)
			}
		})
	}
}
