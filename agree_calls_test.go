//go:build linux && real

package toolcell_test

import (
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// agreedJavaScript compares the embedded engine with node. Values are those of
// contract row 23.
var agreedJavaScript = []agreedCall{
	{name: "output and value", once: true, programs: []string{`console.log("out"); console.error("err"); ({ b: [1, "é"], a: null })`}},
	{name: "the last value", fresh: true, programs: []string{"typeof _", "[1]", "_.push(2); _", "undefined", "_", "_ = 7", "8", "_", "let _ = 9", "5", "_"}},
	{name: "no value", programs: []string{"const x = 1;", "undefined", ""}},
	{name: "values without JSON", programs: []string{"NaN", "new Map([[1, 2]])", "[undefined]", "10n", "(() => 1)"}},
	{name: "values that JSON gives back", programs: []string{"-0", "[-0]", "new (class P { x = 1 })()", "Object.create(null)", "({ get a() { return 1 } })",
		"new Proxy({ a: 1 }, {})", "new Proxy([1], {})", "[, 1]", "(function () { return arguments })(1)", "'x'.repeat(2 ** 20 - 2).length", "Object.assign([1], { x: 1 })"}},
	{name: "a promise as the value", programs: []string{"Promise.resolve({ a: 1 })", "Promise.resolve()", "Promise.reject(new RangeError('no'))", "Promise.reject(5)"}},
	{name: "thrown values", programs: []string{"throw 5", "throw 'text'", "throw { a: 1 }", "throw undefined", "throw null", "throw [1, 'x']", "throw { [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 } }"}},
	{name: "handlers of uncaught errors", full: true, fresh: true, programs: []string{`process.on("uncaughtException", (e) => console.log("caught", e.message)); setTimeout(() => { throw new Error("late") }, 10); void 0`}},
	{name: "handlers of what the program throws", full: true, fresh: true, programs: []string{`process.on("uncaughtException", (e) => console.log("caught", e.message)); throw new Error("now")`}},
	{name: "handlers of rejections", full: true, fresh: true, programs: []string{`process.on("unhandledRejection", (e) => console.log("rejected", e.message)); void Promise.reject(new Error("late"))`}},
	{name: "handlers of the end", full: true, fresh: true, programs: []string{`process.on("exit", (n) => console.log("leaving", n)); process.exit(3)`}},
	{name: "exports", once: true, programs: []string{"export default function () { return 1 }\n(2)", "export default () => 1", "export default class {}", "export default async function () {}", "export default { a: 1 }", "export * from 'fs'", "export * as ns from 'fs'", "export { readFileSync } from 'fs'",
		"export default class extends Array {}\n[1]", "export default async () => 2", "export default function named() { return 1 }\nnamed()", "export const x = 1, y = 2; x"}},
	{name: "a value and what comes later", programs: []string{`setTimeout(() => console.log("later"), 20); "value"`}},
	{name: "errors", programs: []string{`throw new RangeError("two\nlines")`, "\n\nnull.f()", "const ok = 1;"}},
	{name: "state after errors", programs: []string{"var kept = 1;", "throw new Error()", "kept"}},
	{name: "state after a timeout", programs: []string{"var kept = 1;", `console.log("x"); await new Promise(() => setTimeout(() => 0, 3600000))`, "kept"}, opts: codeinterp.RunOptions{Timeout: time.Second}},
	{name: "a loop that times out", programs: []string{`console.log("x"); for (;;) {}`}, opts: codeinterp.RunOptions{Timeout: time.Second}},
	{name: "cancellation", once: true, fresh: true, programs: []string{`console.log("x"); await new Promise(() => setTimeout(() => 0, 3600000))`}, canceled: true},
	{name: "promises", programs: []string{"await Promise.resolve(7)", `await Promise.reject(new TypeError("no"))`}},
	{name: "timers", programs: []string{`setTimeout(() => console.log("later"), 50); console.log("first"); void 0`}},
	{name: "modules", programs: []string{`require("toolcell_no_such_module")`}},
	{name: "the end of the program", once: true, programs: []string{"console.log('before');\n1 +", "`abc", "x => {\n"}},
	{name: "exits", once: true, fresh: true, programs: []string{"process.exit(0)", "process.exit(256)", "process.exitCode = 5; 'value'", "process.exitCode = 4; process.exit()"}},
	{name: "line ends", once: true, programs: []string{"\ufeffconsole.log('bom')", "var a = 1\r\nconsole.log(a)\r\nnull.x"}},
	{name: "recursion", full: true, fresh: true, programs: []string{"function f() { f() }; f()", "1"}},
	{name: "input", once: true, programs: []string{"require('fs').readFileSync(0, 'utf8')", "for await (const c of process.stdin) console.log(c.length)"}, opts: codeinterp.RunOptions{Stdin: []byte("one\ntwo")}},
	{name: "environment", once: true, programs: []string{"process.env.A", "process.env.A = 'changed'", "process.env.A"}, opts: codeinterp.RunOptions{Env: map[string]string{"A": "b é"}}},
	{name: "files", once: true, programs: []string{"const fs = require('fs'); console.log(fs.readFileSync('in/a', 'utf8')); fs.writeFileSync('out.csv', '1,2')", "require('fs').unlinkSync('in/a')", "null.x"},
		opts: codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in/a": {Data: []byte("given"), Mode: 0o644}}}},
	{name: "functions", programs: []string{"await tools.echo({ a: 1, b: 'é', c: [null, 1.5] })", "await tools.fails({})", "await tools.secret({})", "await tools.panics({})", "tools.echo({ a: 1 })", "await tools.echo(() => 1).catch((e) => e.name + e.message)",
		"try { await tools.fails({}) } catch (e) { console.log(e.name, e.tool, e.message) }"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions that programs change", programs: []string{"delete tools.echo", "await tools.echo({ a: 1 })", "tools.echo = 5; tools.more = 6", "await tools.echo({ a: 2 })", "tools.more", "Object.freeze(tools); await tools.echo({ a: 3 })", "tools.echo = 5; await tools.echo({ a: 4 })"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions at the end", fresh: true, programs: []string{"tools.waits({}); throw new RangeError('no')"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions at once", full: true, programs: []string{"const all = await Promise.allSettled([...Array(5000).keys()].map((v) => tools.echo({ v }))); [all.filter((r) => r.value).length, `${all[4096].reason}`]"},
		opts: codeinterp.RunOptions{Functions: agreedFunctions(), FunctionLimits: codeinterp.FunctionLimits{Calls: -1}}},
	{name: "displays", programs: []string{"display('text/html', '<b>', { id: 'd' }); display('text/html', '<i>', { id: 'd', update: true })", "display({ 'text/plain': 'x', 'text/html': '<b>' }, { id: 'd', metadata: { a: 1 } }); updateDisplay('d', 'text/plain', 'y')",
		"updateDisplay('', 'text/plain', 'y')", "console.log('gone'); clearOutput(); console.log('kept')", "console.log('gone'); clearOutput({ wait: true }); console.log('kept'); clearOutput(true)",
		"display('image/png', 'iVBORw==')", "display('image/png', 'no base64!')", "display('no type', 'x')", "display('application/json', { a: 1 })"}},
	{name: "displays of values", programs: []string{"display('x')", "display(5)", "display({})", "display([1, 'a'])", "display({ a: 1 })", "display(new Map([[1, 2]]))", "display(NaN); display(-0)", "display(5, { id: 'd' }); updateDisplay('d', 6)"}},
	{name: "displays of unknown types", programs: []string{"display('application/sql', 'select 1')", "display('application/x-foo', '/wA=')", "display('application/x-foo', new Uint8Array([255, 0]))", "display('application/json; v=1', 'no')"}},
	{name: "truncation", programs: []string{"console.error('x'.repeat(5000)); console.error('e'.repeat(5000))", "'x'.repeat(5000)"}, opts: codeinterp.RunOptions{MaxOutput: 1000}},
	{name: "interrupt", fresh: true, programs: []string{`console.log("x"); for (;;) {}`}, interrupted: true},
	{name: "restart", fresh: true, programs: []string{`console.log("x"); for (;;) {}`}, restarted: true},
	{name: "deletion", fresh: true, programs: []string{`console.log("x"); for (;;) {}`}, deleted: true},
}

var agreedTypeScript = []agreedCall{
	{name: "erased", programs: []string{"let x: number = 1; x", "interface I { a: number }; const i: I = { a: x }; i", "type T = string; 's' as T", "({ a: 1 }) satisfies object",
		"abstract class A { constructor(public x: number) {} }; class B extends A {}; new B(2)", "let wrong: number = 'not checked'; wrong"}},
	{name: "enums and namespaces", programs: []string{"enum E { A = 1, B }; E.B", "namespace N { export const a = 1 }; N.a", "const enum C { A = 'a' }; C.A", "E[2]"}},
	{name: "errors", programs: []string{"\n\nlet w: string = null.x", "let z: = 1", "enum E {", "throw new RangeError('no')", "require('toolcell_no_such_module')"}},
	{name: "state after a timeout", programs: []string{"var kept: number = 1;", `console.log("x"); for (;;) {}`, "kept"}, opts: codeinterp.RunOptions{Timeout: time.Second}},
}

// The kernel for bash has one stream, ends what is printed with a newline and
// tells no errors; it takes a second to start.
var agreedBash = []agreedCall{
	{name: "exit codes and state", programs: []string{"echo out", "", "false", "(exit 7)", "nosuch_command 2>/dev/null", "kept=1; f() { echo f; }", "echo $kept; f",
		"cat <<E\nhere $((1 + 1))\nE", "a\x00b", "echo '\xff'"}},
}
