package typescript_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/typescript"
)

// A program with import and export declarations becomes a script, with its lines where
// they were: contract row 20.
func TestScript(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`import a from "m"`, `const { default: a } = await import("m");`},
		{`import a, { b as c, d } from 'm';x`, `const { b: c, d: d, default: a } = await import('m');x`},
		{"import {\n  a,\n  b,\n} from 'm'\na", "const { a: a, b: b } = await import('m');\n\n\n\na"},
		{`import * as ns from "m"`, `const ns = await import("m");`},
		{`import a, * as ns from "m"`, `const ns = await import("m"); const a = ns.default;`},
		{`import "m"; import 'n'`, `await import("m"); void 0; await import('n'); void 0;`},
		{`import { default as a, "x-y" as b } from "m" with { type: "json" };`, `const { default: a, "x-y": b } = await import("m");`},
		{`import from from "m"`, `const { default: from } = await import("m");`},
		{`import {} from "m"`, `const {  } = await import("m");`},
		{`export const a = 1; export default a; export { a as b }; export function f() {}`, `const a = 1; ;0, a; ; function f() {}`},
		{"export default function* (a = { b: 1 }) { import.meta }\n(1)", "; function* __default_24 (a = { b: 1 }) { __esm__meta }\n(1)"},
		{"export default async function () {\n}\nf()", "; async function __default_29 () {\n}\nf()"},
		{`export default async (a) => 1`, `;0, async (a) => 1`},
		{`export default class extends f({}) { g() {} } 5`, `; class __default_20 extends f({}) { g() {} } 5`},
		{`export default class A {}`, `; class A {}`},
		{`export * from "m"`, `await import("m"); void 0;`},
		{`export * as a from "m"; a`, `await import("m"); void 0; a`},
		{`f(() => { import.meta.url })`, `f(() => { __esm__meta.url })`},
		{`export * from`, ""}, {`import("m")`, ""}, {`x.import.meta`, ""}, {`"import a from 'm'"`, ""}, {"`${import}`", ""},
		{`/import a from "m"/`, ""}, {`// import a from "m"`, ""}, {`{ import a from "m" }`, ""}, {`import a`, ""}, {`import {`, ""}, {``, ""},
		{`a / 2; import b from "m" // c`, `a / 2; const { default: b } = await import("m"); // c`},
	} {
		pr, err := typescript.Script(t.Context(), c.code, typescript.Stands{Meta: "__esm__meta"})
		got := ""
		if err == nil && pr != nil {
			// Blanks keep the columns.
			got = strings.Join(strings.FieldsFunc(pr.Code, func(r rune) bool { return r == ' ' }), " ")
		}
		if want := strings.Join(strings.FieldsFunc(c.want, func(r rune) bool { return r == ' ' }), " "); got != want {
			t.Errorf("%s:\n got %q\nwant %q", c.code, got, want)
		}
	}
}

// With a function for it, what is imported is checked.
func TestScriptChecksNames(t *testing.T) {
	const code, want = `import a, { b as c, "x-y" as d } from "m"`, `const { b: c, "x-y": d, default: a } = named(await import("m"), "m", "b", "x-y", "default");`
	if pr, err := typescript.Script(t.Context(), code, typescript.Stands{Named: "named"}); err != nil || pr.Code != want {
		t.Errorf("got %v, %v", pr, err)
	}
}
