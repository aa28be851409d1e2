package inmemory_test

import (
	"strings"
	"testing"
)

// neighbours writes the files that the programs of TestModules import.
const neighbours = `const fs = require("fs"); fs.mkdirSync("/n/deep", { recursive: true });
	fs.writeFileSync("/n/meta.mjs", "export const { url, dirname, filename } = import.meta; export const r = import.meta.resolve('./lib.ts'); export const d = new URL('./d.json', import.meta.url)");
	fs.writeFileSync("/n/loop.mjs", "export async function f(g) { for await (const x of g()) { if (x) break }\n\nnull.x }");
	fs.writeFileSync("/n/loop.cjs", "exports.f = async function f(g) { for await (const x of g()) { if (x) break } null.x }");
	fs.writeFileSync("/n/lib.ts", "import { k } from './deep/index.js';\nexport const t: number = 1; export enum E { A }\nexport function boom(x?: string): void {   (null as any).foo }\nexport async function f(g: () => AsyncIterable<number>) { for await (const x of g()) { if (x as number) break } }\nexport { k };");
	fs.writeFileSync("/n/deep/index.ts", "export const k: string = 'deep'"); fs.writeFileSync("/n/bad.ts", "let x: number = 1\nconst a: = 5");
	fs.writeFileSync("/n/req.ts", "const v: number = 7; module.exports = { v }");
	fs.writeFileSync("/n/strict.js", "globalThis.strict = this === undefined; export {}");
	fs.writeFileSync("/n/assigned.js", "exports.X = 4; module.exports.f = () => exports.X; exports['Y'] = 5; if (exports.no === 1) exports.never = 1; // exports.comment = 1");
	fs.writeFileSync("/n/object.js", "module.exports = { a: 1, b: () => 2 }"); fs.writeFileSync("/n/again.cjs", "module.exports = require('./object')");
	fs.writeFileSync("/n/transpiled.js", "'use strict'; Object.defineProperty(exports, '__esModule', { value: true }); Object.defineProperty(exports, 'y', { enumerable: true, get: function () { return 8 } }); exports.default = 7");
	fs.writeFileSync("/n/value.js", "module.exports = function g() { return 'g' }"); fs.writeFileSync("/n/waits.js", "globalThis.waited = await Promise.resolve(9)");
	fs.writeFileSync("/n/named.js", "export const v = 1; export { nope } from './assigned.js'");
	async function* rows() { try { yield 1 } finally { await null; await null; console.log("closed") } };`

var modulePrograms = []struct{ name, language, code, out string }{
	{"import.meta", "javascript", `const m = await import("/n/meta.mjs"); console.log(m.url, m.dirname, m.filename, m.r, m.d.pathname)`, "file:///n/meta.mjs /n /n/meta.mjs file:///n/lib.ts /n/d.json"},
	{"import.meta of the program", "javascript", `console.log(import.meta.url, import.meta.resolve("fs"), import.meta.resolve("node:path"), import.meta.resolve("./n/lib.ts"))`, "file:///program.js node:fs node:path file:///n/lib.ts"},
	{"loop of a module", "javascript", `try { await (await import("/n/loop.mjs")).f(rows) } catch (e) { console.log(e.stack.split("\n")[1]) }`, "closed\n    at f (/n/loop.mjs:3:5)"},
	{"loop of a required file", "javascript", `try { await require("/n/loop.cjs").f(rows) } catch (e) { console.log(e.stack.split("\n")[1]) }`, "closed\n    at f (/n/loop.cjs:1:144)"},
	{"a program's own TypeScript", "typescript", `for (const s of ["/n/lib", "/n/lib.ts", "/n/lib.js"]) { const m: any = await import(s); console.log(m.t, m.E.A, m.k) }`, "1 0 deep\n1 0 deep\n1 0 deep"},
	{"an import declaration", "typescript", "import { t, type X } from '/n/lib';\nconsole.log(t as number)", "1"},
	{"places in it", "typescript", `const m = await import("/n/lib"); try { m.boom() } catch (e: any) { console.log(e.stack.split("\n")[1]) }`, "    at boom (/n/lib.ts:3:57)"},
	{"its loops", "typescript", `await (await import("/n/lib")).f(rows); console.log("behind")`, "closed\nbehind"},
	{"required", "typescript", `console.log(require("/n/req").v, require("/n/req.ts").v as number)`, "7 7"},
	{"its errors", "typescript", `await import("/n/bad").catch((e) => console.log(e.stack, e instanceof SyntaxError))`, "SyntaxError: Unexpected token '='\n    at /n/bad.ts:2:10 true"},
	{"names assigned to exports", "javascript", `import { X, f, Y } from "/n/assigned.js"; import whole from "/n/assigned.js"; console.log(X, f(), Y, whole === require("/n/assigned.js"), Object.keys(await import("/n/assigned.js")).join())`, "4 4 5 true X,Y,default,f"},
	{"an object as exports", "javascript", `import { a, b } from "/n/object.js"; import * as again from "/n/again.cjs"; console.log(a, b(), again.a, again.default === require("/n/object.js"))`, "1 2 1 true"},
	{"exports of what was a module", "javascript", `import d, { y } from "/n/transpiled.js"; console.log(d.default, y)`, "7 8"},
	{"a function as exports", "javascript", `import g from "/n/value.js"; console.log(g(), require("/n/value.js") === g)`, "g true"},
	{"modules in .js", "javascript", `await import("/n/waits.js"); await import("/n/strict.js"); console.log(waited, strict)`, "9 true"},
	{"a name that is not there", "javascript", `for (const f of ["fs", "/n/assigned.js", "/n/meta.mjs"]) fs.writeFileSync("/n/t.mjs", "import { nope } from '" + f + "'"), await import("/n/t.mjs?".slice(0, -1)).catch((e) => console.log(e.name)), fs.renameSync("/n/t.mjs", "/n/t2.mjs")`, "SyntaxError\nSyntaxError\nSyntaxError"},
	{"TypeScript of a JavaScript program", "javascript", `await import("/n/lib").catch((e) => console.log(e.code)); await import("/n/lib.ts").catch((e) => console.log(e.name))`, "ERR_MODULE_NOT_FOUND\nSyntaxError"},
}

// TestModules: files that a program imports are run as it is itself.
func TestModules(t *testing.T) {
	s := open(t, both())
	for _, tt := range modulePrograms {
		t.Run(tt.name, func(t *testing.T) {
			id := create(t, s, tt.language)
			defer func() { _ = s.DeleteContext(t.Context(), id) }()
			if res := run(t, s, id, neighbours, nil); !res.OK() {
				t.Fatal(res.Error)
			}
			res := run(t, s, id, tt.code, nil)
			if got := strings.TrimSuffix(res.Stdout(), "\n"); !res.OK() || got != tt.out {
				t.Errorf("%v\ngot  %s\nwant %s", res.Error, got, tt.out)
			}
		})
	}
}

// TestNamesNotExported: what a program imports by a name that the module does not have
// is a SyntaxError, before anything behind it has run.
func TestNamesNotExported(t *testing.T) {
	s := open(t, both())
	id := create(t, s, "javascript")
	if res := run(t, s, id, neighbours, nil); !res.OK() {
		t.Fatal(res.Error)
	}
	for _, tt := range []struct{ code, want string }{
		{`import { readFileSync, nope } from "fs"; console.log("ran")`, "The requested module 'fs' does not provide an export named 'nope'"},
		{`import { nope as x } from 'node:path'; console.log("ran")`, "The requested module 'node:path' does not provide an export named 'nope'"},
		{`import nope from "/n/meta.mjs"; console.log("ran")`, "The requested module '/n/meta.mjs' does not provide an export named 'default'"},
		{`import f, { "x y" as z } from "/n/assigned.js"; console.log("ran")`, "The requested module '/n/assigned.js' does not provide an export named 'x y'"},
	} {
		res := run(t, s, id, tt.code, nil)
		if res.Error == nil || res.Error.Name != "SyntaxError" || res.Error.Message != tt.want || res.Stdout() != "" {
			t.Errorf("%s: %v, %s", tt.code, res.Error, res.Stdout())
		}
	}
	if res := run(t, s, create(t, s, "typescript"), `import { readFileSync, Stats } from "fs"; let s: Stats; 1`, nil); res.Text() != "1" {
		t.Errorf("of a type: %v", res.Error)
	}
}

func TestMissingImportLine(t *testing.T) {
	t.Parallel()
	ci := open(t, both())
	for _, tt := range []struct {
		language, code string
		line           int
	}{
		{"javascript", "// nope-y\nlet a = 1\nimport x from 'nope-y'\nx", 3},
		{"typescript", "interface A {\n  b: number\n}\nimport { c } from \"nope-y\"\nc", 4},
	} {
		res, err := ci.RunCode(t.Context(), tt.language, tt.code, nil)
		if err != nil || res.Error == nil || res.Error.MissingModule != "nope-y" || res.Error.Line != tt.line {
			t.Errorf("%s: %+v, %v", tt.language, res.Error, err)
		}
	}
}
