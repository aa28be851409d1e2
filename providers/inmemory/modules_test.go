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
	async function* rows() { try { yield 1 } finally { await null; await null; console.log("closed") } };`

var modulePrograms = []struct{ name, language, code, out string }{
	{"import.meta", "javascript", `const m = await import("/n/meta.mjs"); console.log(m.url, m.dirname, m.filename, m.r, m.d.pathname)`, "file:///n/meta.mjs /n /n/meta.mjs file:///n/lib.ts /n/d.json"},
	{"import.meta of the program", "javascript", `console.log(import.meta.url, import.meta.resolve("fs"), import.meta.resolve("node:path"), import.meta.resolve("./n/lib.ts"))`, "file:///program.js node:fs node:path file:///n/lib.ts"},
	{"loop of a module", "javascript", `try { await (await import("/n/loop.mjs")).f(rows) } catch (e) { console.log(e.stack.split("\n")[1]) }`, "closed\n    at f (/n/loop.mjs:3:6)"},
	{"loop of a required file", "javascript", `try { await require("/n/loop.cjs").f(rows) } catch (e) { console.log(e.stack.split("\n")[1]) }`, "closed\n    at f (/n/loop.cjs:1:84)"},
	{"a program's own TypeScript", "typescript", `for (const s of ["/n/lib", "/n/lib.ts", "/n/lib.js"]) { const m: any = await import(s); console.log(m.t, m.E.A, m.k) }`, "1 0 deep\n1 0 deep\n1 0 deep"},
	{"an import declaration", "typescript", "import { t, type X } from '/n/lib';\nconsole.log(t as number)", "1"},
	{"places in it", "typescript", `const m = await import("/n/lib"); try { m.boom() } catch (e: any) { console.log(e.stack.split("\n")[1]) }`, "    at boom (/n/lib.ts:3:58)"},
	{"its loops", "typescript", `await (await import("/n/lib")).f(rows); console.log("behind")`, "closed\nbehind"},
	{"required", "typescript", `console.log(require("/n/req").v, require("/n/req.ts").v as number)`, "7 7"},
	{"its errors", "typescript", `await import("/n/bad").catch((e) => console.log(e.stack, e instanceof SyntaxError))`, "SyntaxError: Unexpected token '='\n    at /n/bad.ts:2:10 true"},
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

// TestHiddenGlobals: what programs are rewritten with is seen by those alone.
func TestHiddenGlobals(t *testing.T) {
	s := open(t, nil)
	res, err := s.RunCode(t.Context(), "javascript", `Object.getOwnPropertyNames(globalThis).filter((n) => /__.*__/.test(n)).length`, nil)
	if err != nil || !res.OK() || res.Text() != "0" {
		t.Errorf("%s, %v, %v", res.Text(), res.Error, err)
	}
}
