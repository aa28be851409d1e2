//go:build linux && real

package toolcell_test

import (
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

var agreedJavaScript = []agreedCall{
	{name: "output and value", programs: []string{`console.log("out"); console.error("err"); ({ b: [1, "é"], a: null })`}},
	{name: "no value", programs: []string{"const x = 1;", "undefined", ""}},
	{name: "values without JSON", programs: []string{"NaN", "new Map([[1, 2]])", "[undefined]", "10n", "(() => 1)"}},
	{name: "values that JSON gives back", programs: []string{"-0", "[-0]", "new (class P { x = 1 })()", "Object.create(null)", "({ get a() { return 1 } })",
		"new Proxy({ a: 1 }, {})", "new Proxy([1], {})", "[, 1]", "(function () { return arguments })(1)", "'x'.repeat(2 ** 20 - 2).length", "Object.assign([1], { x: 1 })"}},
	{name: "values that cannot be shown", programs: []string{"console.log('before'); ({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new RangeError('no') } })", "({ toJSON() { throw new RangeError('no') } })",
		"({ get a() { throw new RangeError('no') } })", "new Proxy({}, { get() { throw new RangeError('no') } })"}},
	{name: "a promise as the value", programs: []string{"Promise.resolve({ a: 1 })", "Promise.resolve()", "Promise.reject(new RangeError('no'))", "Promise.reject(5)"}},
	{name: "thrown values", programs: []string{"throw 5", "throw 'text'", "throw { a: 1 }", "throw undefined", "throw null", "throw [1, 'x']", "throw { [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 } }"}},
	{name: "toJSON of every object", programs: []string{"Object.prototype.toJSON = function () { return 1 }; 2", "({ a: 1 })", "delete Object.prototype.toJSON; ({ a: 1 })"}},
	{name: "handlers of uncaught errors", programs: []string{`process.on("uncaughtException", (e) => console.log("caught", e.message)); setTimeout(() => { throw new Error("late") }, 10); void 0`}},
	{name: "handlers of what the program throws", programs: []string{`process.on("uncaughtException", (e) => console.log("caught", e.message)); throw new Error("now")`}},
	{name: "a name of node's", programs: []string{"function process(x) { return x + 1 }\nprocess(1)"}},
	{name: "the module", programs: []string{`module.exports.f = 1; console.log(module.exports, require.main === module)`, "module.exports.f"}},
	{name: "handlers of rejections", programs: []string{`process.on("unhandledRejection", (e) => console.log("rejected", e.message)); void Promise.reject(new Error("late"))`}},
	{name: "handlers of the end", programs: []string{`process.on("exit", (n) => console.log("leaving", n)); process.exit(3)`}},
	{name: "handlers of an end that comes by itself", programs: []string{`process.on("exit", (n) => console.log("leaving", n)); 1`, "process.exitCode = 3; 2", "process.exit(4)"}},
	{name: "exports", programs: []string{"export default function () { return 1 }\n(2)", "export default () => 1", "export default class {}", "export default async function () {}", "export default { a: 1 }", "export * from 'fs'", "export * as ns from 'fs'", "export { readFileSync } from 'fs'",
		"export default class extends Array {}\n[1]", "export default async () => 2", "export default function named() { return 1 }\nnamed()", "export const x = 1, y = 2; x"}},
	{name: "a value and what comes later", programs: []string{`setTimeout(() => console.log("later"), 20); "value"`}},
	{name: "no listeners", programs: []string{`process.removeAllListeners(); setTimeout(() => { throw new RangeError("late") }, 10); void 0`}},
	{name: "errors", programs: []string{`throw new RangeError("two\nlines")`, "\n\nnull.f()", "const ok = 1;"}},
	{name: "state after errors", programs: []string{"var kept = 1;", "throw new Error()", "kept"}},
	{name: "state after a timeout", programs: []string{"var kept = 1;", `console.log("x"); await new Promise(() => setTimeout(() => 0, 3600000))`, "kept"}, opts: codeinterp.RunOptions{Timeout: 3 * time.Second}},
	{name: "a loop that times out", programs: []string{`console.log("x"); for (;;) {}`}, opts: codeinterp.RunOptions{Timeout: 3 * time.Second}},
	{name: "cancellation", programs: []string{`console.log("x"); await new Promise(() => setTimeout(() => 0, 3600000))`}, canceled: true},
	{name: "malformed", programs: []string{"a\x00b"}},
	{name: "promises", programs: []string{"await Promise.resolve(7)", `await Promise.reject(new TypeError("no"))`}},
	{name: "timers", programs: []string{`setTimeout(() => console.log("later"), 50); console.log("first"); void 0`}},
	{name: "modules", programs: []string{`require("toolcell_no_such_module")`}},
	{name: "errors of the web's", programs: []string{`throw new DOMException("m", "AbortError")`, "structuredClone(() => 1)", "AbortSignal.abort().throwIfAborted()"}},
	{name: "the end of the program", programs: []string{"console.log('before');\n1 +", "`abc", "x => {\n"}},
	{name: "exits", programs: []string{"process.exit(0)", "process.exit(256)", "process.exitCode = 5; 'value'", "process.exitCode = 4; process.exit()"}},
	{name: "exits within promises", programs: []string{"(async () => { process.exit(3) })(); console.log('never')", "new Promise(() => process.exit(4)); console.log('never')", "async function* g() { process.exit(5) }; g().next(); console.log('never')"}},
	{name: "what callbacks of timers are called on", programs: []string{"const t = setInterval(function () { console.log(this === t); clearInterval(this) }, 1); void 0", "const t = setTimeout(function () { console.log(this === t) }, 1); void 0"}, opts: codeinterp.RunOptions{Timeout: time.Minute}},
	{name: "the program's own file", programs: []string{"[import.meta.url === require('url').pathToFileURL(process.argv[1]).href, __filename === process.argv[1], __dirname === require('path').dirname(__filename), process.argv.length]"}},
	{name: "line ends", programs: []string{"\ufeffconsole.log('bom')", "var a = 1\r\nconsole.log(a)\r\nnull.x"}},
	{name: "recursion", programs: []string{"function f() { f() }; f()", "1"}},
	{name: "input", programs: []string{"require('fs').readFileSync(0, 'utf8')", "for await (const c of process.stdin) console.log(c.length)"}, opts: codeinterp.RunOptions{Stdin: []byte("one\ntwo")}},
	{name: "environment", programs: []string{"process.env.A", "process.env.A = 'changed'", "process.env.A"}, opts: codeinterp.RunOptions{Env: map[string]string{"A": "b é"}}},
	{name: "files", programs: []string{"const fs = require('fs'); console.log(fs.readFileSync('in/a', 'utf8')); fs.writeFileSync('out.csv', '1,2')", "require('fs').unlinkSync('in/a')", "null.x"},
		opts: codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in/a": {Data: []byte("given"), Mode: 0o644}}}},
	{name: "functions", programs: []string{"await tools.echo({ a: 1, b: 'é', c: [null, 1.5] })", "await tools.fails({})", "await tools.secret({})", "await tools.panics({})", "tools.echo({ a: 1 })", "await tools.echo(() => 1).catch((e) => e.name + e.message)",
		"try { await tools.fails({}) } catch (e) { console.log(e.name, e.tool, e.message) }"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions that programs change", stateful: true, programs: []string{"delete tools.echo", "await tools.echo({ a: 1 })", "tools.echo = 5; tools.more = 6", "await tools.echo({ a: 2 })", "tools.more", "Object.freeze(tools); await tools.echo({ a: 3 })", "tools.echo = 5; await tools.echo({ a: 4 })"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions at the end", programs: []string{"process.on('exit', () => { tools.echo({}).then(() => console.log('answered')) }); process.exit(3)", "tools.waits({}); throw new RangeError('no')",
		"tools.waits({}).then(console.log, console.log); process.exit(4)", "let v = []; for (let i = 0; i < 20000; i++) v = [v]; await tools.echo({ v })"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions at once", programs: []string{"const all = await Promise.allSettled([...Array(5000).keys()].map((v) => tools.echo({ v }))); [all.filter((r) => r.value).length, `${all[4096].reason}`]"},
		opts: codeinterp.RunOptions{Functions: agreedFunctions(), FunctionLimits: codeinterp.FunctionLimits{Calls: -1}}},
	{name: "displays", programs: []string{"display('text/html', '<b>', { id: 'd' }); display('text/html', '<i>', { id: 'd', update: true })", "display({ 'text/plain': 'x', 'text/html': '<b>' }, { id: 'd', metadata: { a: 1 } }); updateDisplay('d', 'text/plain', 'y')",
		"updateDisplay('', 'text/plain', 'y')", "console.log('gone'); clearOutput(); console.log('kept')", "console.log('gone'); clearOutput({ wait: true }); console.log('kept'); clearOutput(true)",
		"display('image/png', 'iVBORw==')", "display('image/png', 'no base64!')", "display('no type', 'x')", "display('application/json', { a: 1 })"}},
	{name: "displays of values", programs: []string{"display('x')", "display(5)", "display()", "display({})", "display(null)", "display([1, 'a'])", "display({ a: 1 })", "display({ 'no type': 1 })", "display(new Map([[1, 2]]))", "display(NaN); display(-0)", "display('x', undefined, { id: 'd' })",
		"display(5, { id: 'd' }); updateDisplay('d', 6)", "updateDisplay('d', { a: 1 })", "display({ 'application/json; v=1': NaN })", "display({ 'text/plain': 5, 'text/html': true })", "display(Object.assign(Object.create(null), { 'text/plain': 'x' }))"}},
	{name: "displays of what could call the program", programs: []string{"display({ get 'text/plain'() { for (;;); } })", "display({ 'text/html': 'x', get 'text/plain'() { throw new RangeError('g') } })", "display(new Proxy({ 'text/plain': 'x' }, {}))",
		"let v = []; for (let i = 0; i < 200000; i++) v = [v]; display('application/json', v)", "updateDisplay()", "display('text/plain', 'x', { update: true })", "display('text/plain', 'x', { id: 'd' }); display('text/plain', 'y', { id: 'd', update: 1 })"}},
	{name: "displays with metadata", programs: []string{"display('text/plain', 'x', { metadata: { a: NaN, b: undefined } })", "display('text/plain', 'x', { metadata: 'x' }); display('text/plain', 'x', { metadata: 5 })", "display('text/plain', 'x', { metadata: [] })", "display('text/plain', 'x', { metadata: () => 1 })",
		"display('text/plain', 'x', { metadata: { a: 'x'.repeat(70000) } })", "const a = {}; a.a = a; display('text/plain', 'x', { metadata: a })", "display('text/plain', 'x', { metadata: { a: 'x'.repeat(60000) } })"}},
	{name: "displays of what is no text", programs: []string{"display('text/html', 5)", "display('text/plain', null)", "display('text/plain', NaN); display('text/plain', 10n); display('text/plain', 1.5)", "display('image/png', 5)", "display('text/plain', {})", "display('text/plain', () => 1)", "display('text/plain', Symbol('x'))",
		"display('application/json', NaN)", "display('application/json', { a: undefined, b: NaN, c: [undefined, () => 1, -0], d: new Date(0) })", "display('application/json', { toJSON: () => [1] })", "display('application/json', 10n)", "const a = {}; a.a = a; display('application/json', a)", "display('application/json', null)",
		"display('application/json', Symbol('x'))", "display('application/json', true); display('application/json', 'x')", "display('', 'x')", "display('text/', 'x')", "display('text/' + 'x'.repeat(300), 'x')"}},
	{name: "displays of unknown types", programs: []string{"display('application/sql', 'select 1')", "display('application/sql', 'ZGF0YQ==')", "display('application/x-foo', '/wA=')", "display('application/x-foo', '/wA')",
		"display('application/x-foo', new Uint8Array([255, 0]))", "display('application/pdf; version=1', 'JVBERg')", "display('Application/JSON; v=1', '[1]')", "display('application/json; v=1', 'no')", "display('application/json', () => 1)", "display('text/plain', new Uint8Array([255]))",
		"display({ 'application/x-foo': 'é', 'application/sql': 'select' })"}},
	{name: "bundles of all kinds", programs: []string{"display({ get 'text/plain'() { return 'got' } })", "display({ get 'text/plain'() { throw new RangeError('no') } })", "display(new Proxy({ 'text/html': '<b>' }, {}))",
		"display(new Proxy({}, { ownKeys: () => ['text/plain'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (o, k) => k === 'text/plain' ? 'made' : undefined }))",
		"display(new Proxy([], {})); display(new Proxy(() => 1, {}))", "const r = Proxy.revocable({}, {}); r.revoke(); try { display(r.proxy) } catch (e) { console.log(e.name) }", "class B { constructor() { this['text/plain'] = 'class' } }; display(new B())",
		"display({ 'text/plain': 'x', [Symbol.toStringTag]: 'T' })", "display({ 'text/plain': 'x', [Symbol.toStringTag]: 'Object' })", "display(Object.assign([], { 'text/plain': 'x' })); display(Object.assign(new Error('e'), { 'text/plain': 'x' }).name)",
		"display(Object.defineProperty({ 'text/plain': 'x' }, 'text/html', { value: 'hidden' }))", "display({ 'text/plain': undefined })", "display({ 'text/plain': { a: 1 } })", "const b = {}; for (let i = 0; i < 65; i++) b['text/x' + i] = ''; display(b)",
		"display({ ['text/' + 'x'.repeat(300)]: 'x' })", "display('text/plain', { toString: () => 'x' })", "display('text/plain', new String('x'))", "display('text/plain', [])"}},
	{name: "options of displays", programs: []string{"display('x', undefined, { id: 'd', metadata: { a: NaN } })", "display(1, { metadata: 'text' }); display(2, { metadata: 5 }); display(3, { metadata: [1] }); display(4, { metadata: true })", "display(1, { metadata: 0 }); display(2, { metadata: NaN }); display(3, { metadata: null })",
		"display(1, { metadata: { a: 'x'.repeat(65530) } })", "display(1, { metadata: { a: 'x'.repeat(65528) } })", "display(1, { metadata: { a: 1n } })", "display(1, { metadata: () => 1 }); display(2, { metadata: { toJSON: () => ({ b: 1 }) } }); display(3, { get metadata() { return { g: 1 } } })",
		"display(1, { get metadata() { throw new EvalError('m') } })", "display(1, { id: 'd' }); display(2, { id: 'd', update: 1 })", "display(1, { id: 'd' }); display(2, { id: 'd', update: '' })", "display(1, Object.create({ id: 'd' })); updateDisplay('d', 2)", "display(1, { id: 7 }); updateDisplay(7, 2)",
		"display(1, { id: '' }); display(1, { id: undefined })", "display(1, { id: 'é'.repeat(513) })", "display(1, { id: 'é'.repeat(512) })", "display(1, 'options'); display(1, 5); display(1, null)", "display('text/plain', 'x', null); display('text/plain', 'x', 5)", "display({ 'text/plain': 'x' }, null, { id: 'd' })",
		"display(1, { get id() { console.log('id') }, get update() { console.log('update') }, get metadata() { console.log('metadata') } })", "display({ get 'text/plain'() { console.log('data'); return 'x' } }, { get id() { console.log('id'); return 'd' } })"}},
	{name: "updates of displays", programs: []string{"updateDisplay()", "updateDisplay('')", "updateDisplay(0, 1)", "updateDisplay(null, 1)", "display(1, { id: 'd' }); updateDisplay('d')", "display(1, { id: 'd' }); updateDisplay('d', 'text/plain')", "display(1, { id: 'd' }); updateDisplay('d', { 'text/html': '<i>' })",
		"display(1, { id: 'd' }); updateDisplay('d', 2, { id: 'e' })", "updateDisplay('é'.repeat(513), 1)", "display(1); clearOutput({ wait: true }); console.log(2)", "display(1); clearOutput(1); console.log(2)", "display(1); clearOutput({ get wait() { return true } }); console.log(2)", "display(1); clearOutput({ wait: 0 }); console.log(2)"}},
	{name: "displays of JSON", programs: []string{"display('application/json', { toJSON() { throw new RangeError('mine') } })", "display({ 'application/json': { toJSON: () => undefined } })", "display('application/json', new Uint8Array([91, 93]))", "display('application/json', new Uint8Array([91]))", "display('application/json', new Uint8Array([34, 255, 34]))",
		"display('application/json', new Uint16Array([1]))", "display('application/json', new ArrayBuffer(1))", "display('application/json', '\\ud800')", "display('application/json', { a: '\\ud800' })", "display({ 'application/json': [1, 2], 'text/plain': 'x' })", "let deep = []; for (let i = 0; i < 200000; i++) deep = [deep]; try { display('application/json', deep) } catch (e) { console.log(e.name) }",
		"display({ 'application/json': ['x'.repeat(12e6)] }); 1", "display(1, { get id() { return display('within') } })"}},
	{name: "truncation", programs: []string{"console.error('x'.repeat(5000)); console.error('e'.repeat(5000))", "'x'.repeat(5000)"}, opts: codeinterp.RunOptions{MaxOutput: 1000}},
	{name: "interrupt", programs: []string{`console.log("x"); for (;;) {}`}, stateful: true, interrupted: true},
	{name: "restart", programs: []string{`console.log("x"); for (;;) {}`}, stateful: true, restarted: true},
	{name: "deletion", programs: []string{`console.log("x"); for (;;) {}`}, stateful: true, deleted: true},
}

var agreedTypeScript = []agreedCall{
	{name: "erased", programs: []string{"let x: number = 1; x", "interface I { a: number }; const i: I = { a: x }; i", "type T = string; 's' as T", "({ a: 1 }) satisfies object",
		"abstract class A { constructor(public x: number) {} }; class B extends A {}; new B(2)", "let wrong: number = 'not checked'; wrong"}},
	{name: "enums and namespaces", programs: []string{"enum E { A = 1, B }; E.B", "namespace N { export const a = 1 }; N.a", "const enum C { A = 'a' }; C.A", "E[2]"}},
	{name: "errors", programs: []string{"\n\nlet w: string = null.x", "let z: = 1", "enum E {", "throw new RangeError('no')", "require('toolcell_no_such_module')"}},
	{name: "state after a timeout", programs: []string{"var kept: number = 1;", `console.log("x"); for (;;) {}`, "kept"}, opts: codeinterp.RunOptions{Timeout: 3 * time.Second}},
}

// The kernel for bash has one stream, ends what is printed with a newline and
// tells no errors; it takes a second to start.
var agreedBash = []agreedCall{
	{name: "exit codes and state", stateful: true, programs: []string{"echo out", "", "false", "(exit 7)", "nosuch_command 2>/dev/null", "kept=1; f() { echo f; }", "echo $kept; f",
		"cat <<E\nhere $((1 + 1))\nE", "a\x00b", "echo '\xff'"}},
}

// Deno's kernel tells no lines, loses what it had when it is interrupted, and takes
// seconds to start.
var agreedDeno = []agreedCall{
	{name: "output, values and state", stateful: true, programs: []string{`console.log("out"); console.error("err"); ({ b: [1], a: null })`, "var kept = 1;", "kept", "void 0", "await Promise.resolve(7)", "[1, 2, 3].map((x) => x ** 2)", "console.log('\u00e9'); undefined"}},
	{name: "errors", stateful: true, programs: []string{`throw new RangeError("two\nlines")`, "var kept = 2; null.f()", "kept", "await Promise.reject(new RangeError('no'))", "a\x00b"}},
	{name: "exits", stateful: true, programs: []string{"var kept = 1; process.exit(3)", "kept", "process.exit()", "2"}},
	{name: "truncation", stateful: true, programs: []string{"console.error('x'.repeat(5000)); console.error('e'.repeat(5000))"}, opts: codeinterp.RunOptions{MaxOutput: 1000}},
	{name: "restart", stateful: true, restarted: true, programs: []string{`console.log("x"); for (;;) {}`, "1"}},
	{name: "deletion", stateful: true, deleted: true, programs: []string{`console.log("x"); for (;;) {}`}},
}
