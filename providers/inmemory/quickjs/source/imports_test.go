package source

import (
	"runtime"
	"strings"
	"testing"
)

func TestRewriteImports(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`import a from "m"`, `const { default: a } = await import("m");`},
		{`import a, { b as c, d } from 'm';x`, `const { default: a, b: c, d } = await import('m');x`},
		{"import {\n  a,\n  b,\n} from 'm'\na", "const { a, b } = await import('m');\n\n\n\na"},
		{`import * as ns from "m"`, `const ns = await import("m");`},
		{`import a, * as ns from "m"`, `const ns = await import("m"); const a = ns.default;`},
		{`import "m"; import 'n'`, `await import("m"); void 0; await import('n'); void 0;`},
		{`import { default as a, "x-y" as b } from "m" with { type: "json" };`, `const { default: a, "x-y": b } = await import("m");`},
		{`import from from "m"`, `const { default: from } = await import("m");`},
		{`import {} from "m"`, `const {  } = await import("m");`},
		{`export const a = 1; export default a; export { a as b }; export function f() {}`, `const a = 1; ;0,            a; ; function f() {}`},
		{"export default function* (a = { b: 1 }) { import.meta }\n(1)", "; function* __default_function_14 (a = { b: 1 }) { __esm__meta }\n(1)"},
		{"export default async function () {\n}\nf()", "; async function __default_function_14 () {\n}\nf()"}, {`export default async (a) => 1`, `;0,            async (a) => 1`},
		{`export default class extends f({}) { g() {} } 5`, `; class __default_class_14 extends f({}) { g() {} } 5`}, {`export default class A {}`, ` class A {}`}, {`export default {a: 1}`, `;0,            {a: 1}`},
		{`export * from "m"`, `await import("m"); void 0;`}, {`export * as a from "m"; a`, `await import("m"); void 0; a`}, {`export * from`, ""}, {`import("m")`, ""}, {`import.meta`, `__esm__meta`}, {`f(() => { import.meta.url })`, `f(() => { __esm__meta.url })`}, {`x.import.meta`, ""}, {`x.import "m"`, ""}, {`"import a from 'm'"`, ""}, {"`${import}`", ""},
		{`/import a from "m"/`, ""}, {`// import a from "m"`, ""}, {`/* import a from "m" */`, ""}, {`{ import a from "m" }`, ""}, {`import a`, ""}, {`import {`, ""}, {``, ""},
		{`a / 2; import b from "m" // c`, `a / 2; const { default: b } = await import("m"); // c`},
	} {
		got, ok := RewriteImports(c.code, never, false)
		if c.want == "" {
			if ok {
				t.Errorf("%s: rewritten to %s", c.code, got)
			}
		} else if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.code, got, c.want)
		}
	}
}

func TestRewriteImportsChecked(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`import a, { b as c, "x-y" as d } from "m"`, `const { default: a, b: c, "x-y": d } = __esm__named(await import("m"), "m", "b", "x-y", "default");`},
		{`import {} from "m"; import * as ns from "m"; import "m"`, `const {  } = await import("m"); const ns = await import("m"); await import("m"); void 0;`},
	} {
		if got, _ := RewriteImports(c.code, never, true); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.code, got, c.want)
		}
	}
}

func TestExportedNames(t *testing.T) {
	const code = "exports.a = 1; module.exports.b = () => exports.c == 2 || exports.d === 3 || exports.e => 4\n" +
		"Object.defineProperty(exports, \"f\", {}); Object.defineProperty(module.exports, 'g', {}); f(exports, 'h'); exports['i'] = exports.j = 1\n" +
		"// exports.k = 1\n'exports.l = 1'; exports.a = 2; exports"
	if got := strings.Join(ExportedNames(code, never), " "); got != "a b f g i j" {
		t.Errorf("got %s", got)
	}
}

// TestRewriteImportsInDepth: templates in each other take no more stack than the
// engine has for them.
func TestRewriteImportsInDepth(t *testing.T) {
	nested := "import a from 'm';" + strings.Repeat("`${", 900) + strings.Repeat("}`", 900) + ";import 'n'"
	if got, ok := RewriteImports(nested, never, false); !ok || !strings.HasSuffix(got, "await import('n'); void 0;") {
		t.Errorf("got %.100q...", got)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	RewriteImports("import a from 'm';"+strings.Repeat("`${", 1<<20), never, false)
	runtime.ReadMemStats(&after)
	if n := after.StackSys - before.StackSys; n > 16<<20 && n < 1<<40 {
		t.Errorf("it took %d MiB of stack", n>>20)
	}
}

// Whatever the program, rewriting ends, keeps the lines, and leaves what has
// no such declarations alone. What parses as a script is never rewritten.
func FuzzRewriteImports(f *testing.F) {
	for _, s := range []string{"import a from 'm'", "export default 1", "`${`${'`'}`}`", "a /b/ c", "import {a as b", "/[/]/", "'\\", "export {", "import a, {", "((", "))", "<!--", "import\n'm'\n;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		got, ok := RewriteImports(code, never, false)
		if !ok && got != code {
			t.Errorf("%q became %q", code, got)
		}
		if a, b := strings.Count(code, "\n"), strings.Count(got, "\n"); a != b {
			t.Errorf("%q has %d lines, %q has %d", code, a, got, b)
		}
	})
}

func never() bool { return false }

// A program of megabytes is given up soon after its run is to end.
func TestRewriteImportsStops(t *testing.T) {
	asked := 0
	if _, ok := RewriteImports(strings.Repeat("import a from 'm';", 1<<16), func() bool { asked++; return asked == 3 }, false); ok || asked != 3 {
		t.Errorf("rewritten %v, asked %d times", ok, asked)
	}
}
