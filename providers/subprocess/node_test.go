//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

var nodePrograms = []struct{ name, code, want string }{
	{"import default", "import fs from 'fs';\ntypeof fs.readFileSync", "ok value=function"},
	{"imports", "import fs, { existsSync as has } from 'node:fs'\nimport * as path from 'path'\nimport {\n  join,\n  sep,\n} from \"path\";\nimport 'os';\n[typeof fs, has('/'), path.sep, join('a', 'b'), sep].join()", "ok value=object,true,/,a/b,/"},
	{"dynamic import", "const { join } = await import('path');\nconst s = 'import(\"x\")', t = `import(${1})`; /* import( */ // import(\njoin(s, t)", "ok value=import(\"x\")/import(1)"},
	{"imports of both kinds", "import fs /* of files */ from 'fs'; import {\n  join, // } from 'x'\n  sep as /* as */ s,\n} from 'path'; const m = await import('path');\nnull.x // import('x')", "error error=TypeError: Cannot read properties of null (reading 'x')"},
	{"members called import", "class A { import(x) { return x } }\nconst o = { import: 5, a: { import(x) { return [x] } } }; await import('path');\n[o.import, Object.keys(o), o.a.import(1), new A().import(2)].join()", "ok value=5,import,a,1,2"},
	{"import behind a division", "const half = a => a++ / 2; const m = await import('path'); if (m) /import('x')/.test(m.sep + '/'); m.sep", "ok value=/"},
	{"attributes", "import p from '/usr/share/nodejs/none.json' with /* of */ { type: 'json' }", "error error=Error: Cannot find module '/usr/share/nodejs/none.json'"},
	{"import's column", "await import('path'); throw new Error(new Error().stack.match(/:1:(\\d+)/)[1])", "error error=Error: 39"},
	{"export", "export const a = 1;\nexport default function f() { return a + 1 }\nexport { a };\nf()", "ok value=2"},
	{"exports without names", "export default function () { return 1 }\nexport default async function* () {}\nexport default class {}\nexport default class extends Array {}\nexport default { a: 1 }", "ok value={ a: 1 }"},
	{"exports of others'", "export * from 'fs'\nexport * as files from \"fs\";\nexport {\n  join,\n} from 'path'; const a = 7\nexport default () => a;\nnull.x", "error error=TypeError: Cannot read properties of null (reading 'x')"},
	{"standard input that is let go", "process.stdin.unref().ref() === process.stdin", "ok value=true"},
	{"local esm", "require('fs').writeFileSync('m.mjs', 'export const v = 7');\n(await import('./m.mjs')).v", "ok value=7"},
	{"timers run out", "setTimeout(() => console.log('t'), 20);\nsetImmediate(() => console.log('i'));\n'v'", "ok out=i\nt\n value=v"},
	{"exit in a timer", "setTimeout(() => { console.log('a'); process.exit(0); console.log('b') }, 5)", "ok out=a\n value=Timeout"},
	{"exit is not caught", "try { process.exit(2) } catch { console.log('caught') } finally { console.log('finally') }", "error"},
	{"value, then exit", "setTimeout(() => process.exit(3), 5); 42", "error value=42"},
	{"value, then throw", "setTimeout(() => { throw new TypeError('late') }, 5); 42", "error value=42 error=TypeError: late"},
	{"promise of a promise", "new Promise((r) => setTimeout(() => r(Promise.resolve([1])), 5))", "ok value=[ 1 ]"},
	{"module", "module.exports.f = 1;\nconsole.log(module.exports, exports === module.exports, require.main === module)", "ok out={ f: 1 } true true\n"},
	{"handler of a throw", "process.on('uncaughtException', (e, where) => { console.log(e.message, where); setTimeout(() => console.log('t'), 5) });\nthrow new Error('now')", "ok out=now uncaughtException\nt\n"},
	{"handler of a thrown value", "process.on('uncaughtException', (v) => console.log(v));\nawait null;\nthrow 5", "ok out=5\n"},
	{"handler, and a syntax error", "process.on('uncaughtException', () => {});\n1 +", "error error=SyntaxError: Unexpected end of input"},
	{"before the exit", "process.once('beforeExit', async () => { console.log('b'); await null; setTimeout(() => console.log('t'), 5) });\n1", "ok out=b\nt\n value=1"},
	{"names of node's", "function process(x) { return x + 1 }\nconst ArrayBuffer = 1, Uint8Array = 2, URL = 3, Date = 4, Math = 5, BigInt = 6;\nconsole.log(process(1));\nprocess(2)", "ok out=2\n value=3"},
	{"arguments of node's", "process.execArgv", "ok value=[]"},
	{"this of a module", "import fs from 'node:fs';\nconst f = () => { this.x = 1 }; console.log(typeof this, typeof function () { return this }.call(1), (() => this)());\nf()", "error out=undefined number undefined\n error=TypeError: Cannot set properties of undefined (setting 'x')"},
	{"this of an export", "export const a = this;\na === undefined", "ok value=true"},
	{"this of a script", "const s = 'import'; this === globalThis", "ok value=true"},
}

func TestNode(t *testing.T) {
	t.Parallel()
	testNode(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript(), subprocess.TypeScript()}}))
}

func testNode(t *testing.T, ci *subprocess.Stateful) {
	t.Log(ci.Describe().Languages[0].Runtime)
	for _, tt := range nodePrograms {
		t.Run(tt.name, func(t *testing.T) {
			got := summary(run(t, ci, "javascript", tt.code, nil))
			if tt.name == "exit in a timer" && strings.HasPrefix(got, "ok out=a\n value=Timeout") {
				return
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("context", func(t *testing.T) { testNodeContext(t, newNotebook(t, ci, "javascript")) })
}

func testNodeContext(t *testing.T, n *notebook) {
	for _, tt := range []struct{ code, want string }{
		{"const a = 1; let b = 2; class C {}; function f() { return 1 }", "ok"},
		{"const a = 3; let b = 4; class C { x = 5 }; function f() { return 2 }", "ok"},
		{"[a, b, new C().x, f()].join()", "ok value=3,4,5,2"},
		{"setTimeout(() => console.log('t'), 20); 1", "ok out=t\n value=1"},
		{"require('child_process').exec('sleep 0.02; echo c', (e, out) => console.log(out)); 2", "ok out=c\n\n value=2"},
		{"require('zlib').gzip('x'.repeat(1e6), (e, b) => console.log(b.length > 0)); 3", "ok out=true\n value=3"},
		{"module.exports.a = 1; 5", "ok value=5"},
		{"module.exports", "ok value={ a: 1 }"},
		{"const { sep } = require('path'); sep", "ok value=/"},
		{"import { sep } from 'path'; import * as os from 'os'; sep", "ok value=/"},
		{"const { sep } = await import('path'), os = require('os'); sep", "ok value=/"},
		{"new Promise(() => {})", "error error=Error: a top-level await waits for a promise that nothing can settle any more"},
		{"process.exitCode = 3", "error value=3"},
		{"Promise.reject(new Error('floating')); await new Promise((r) => setTimeout(r, 20))", "error error=Error: floating"},
	} {
		if got := summary(n.run(tt.code, nil)); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.code, got, tt.want)
		}
	}
	n.run("var kept = 1", nil)
	if res := n.run("await 1; console.log('b'); process.exit(200)", nil); res.Status != codeinterp.StatusError || res.ExitCode != 200 || res.Stdout() != "b\n" || !res.StateLost {
		t.Errorf("exit after an await: %s, exit %d", summary(res), res.ExitCode)
	}
	if res := n.run("typeof kept", nil); res.Text() != "undefined" || res.StateLost {
		t.Errorf("after an exit after an await: %s", summary(res))
	}
	if res := n.run("process.getActiveResourcesInfo = () => { throw 1 };\n5", nil); !res.StateLost {
		t.Errorf("a broken driver: got %s", summary(res))
	}
	if got := summary(n.run("[1].push(2)", nil)); got != "ok value=2" {
		t.Errorf("after a broken driver: got %s", got)
	}
	res := n.run("function g() {\n  null.x;\n}\n\ng()", nil)
	if res.Error == nil || res.Error.Line != 2 || strings.Contains(strings.Join(res.Error.Traceback, "\n"), "inspector") {
		t.Errorf("got %+v", res.Error)
	}
}

// TestNodeServers: a server that listens holds no run, and serves the next ones.
func TestNodeServers(t *testing.T) {
	ci := open(t, subprocess.Options{Network: true, Languages: []subprocess.Language{subprocess.JavaScript()}})
	const fetched = "const http = require('http'); const s = http.createServer((q, r) => r.end('hi')).listen(0, '127.0.0.1'); " +
		"await new Promise((r) => s.on('listening', r)); (await fetch(`http://127.0.0.1:${s.address().port}/`)).text()"
	if got := summary(run(t, ci, "javascript", fetched, nil)); got != "ok value=hi" {
		t.Error(got)
	}
	n := newNotebook(t, ci, "javascript")
	for _, tt := range []struct{ code, want string }{
		{"var server = require('net').createServer((s) => s.end('served')).listen(0, '127.0.0.1'); await new Promise((r) => server.on('listening', r))", "ok"},
		{"let got = ''; const s = require('net').connect(server.address().port, '127.0.0.1').on('data', (b) => got += b); await new Promise((r) => s.on('end', r)); got", "ok value=served"},
		{fetched, "ok value=hi"},
	} {
		if got := summary(n.run(tt.code, nil)); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.code, got, tt.want)
		}
	}
}
