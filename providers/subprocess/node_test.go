//go:build unix

package subprocess_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

var nodePrograms = []struct{ name, code, want string }{
	{"value", "const x = 2;\nx * 21", "ok value=42"},
	{"string", "'it'", "ok value=it"},
	{"object", "{ a: 1 }", "ok value={ a: 1 }"},
	{"block", "{ let a = 1; }", "ok"},
	{"await", "const { a } = await Promise.resolve({ a: 3 });\na", "ok value=3"},
	{"import default", "import fs from 'fs';\ntypeof fs.readFileSync", "ok value=function"},
	{"imports", "import fs, { existsSync as has } from 'node:fs'\nimport * as path from 'path'\nimport {\n  join,\n  sep,\n} from \"path\";\nimport 'os';\n[typeof fs, has('/'), path.sep, join('a', 'b'), sep].join()", "ok value=object,true,/,a/b,/"},
	{"dynamic import", "const { join } = await import('path');\nconst s = 'import(\"x\")', t = `import(${1})`; /* import( */ // import(\njoin(s, t)", "ok value=import(\"x\")/import(1)"},
	{"export", "export const a = 1;\nexport default function f() { return a + 1 }\nexport { a };\nf()", "ok value=2"},
	{"require", "const os = require('node:os');\ntypeof os.cpus", "ok value=function"},
	{"local module", "require('fs').writeFileSync('m.js', 'exports.v = 6');\nrequire('./m').v", "ok value=6"},
	{"local esm", "require('fs').writeFileSync('m.mjs', 'export const v = 7');\n(await import('./m.mjs')).v", "ok value=7"},
	{"console", "console.log('a', { b: [1] });\nconsole.info('c');\nconsole.error('d')", "ok out=a { b: [ 1 ] }\nc\n"},
	{"timers run out", "setTimeout(() => console.log('t'), 20);\nsetImmediate(() => console.log('i'));\n'v'", "ok out=i\nt\n value=v"},
	{"children", "require('child_process').execSync('echo c', { stdio: 'inherit' });\nvoid 0", "ok out=c\n"},
	{"exit", "process.exit(3)", "error"},
	{"exit in a timer", "setTimeout(() => { console.log('a'); process.exit(0); console.log('b') }, 5)", "ok out=a\n value=Timeout"},
	{"exit is not caught", "try { process.exit(2) } catch { console.log('caught') } finally { console.log('finally') }", "error"},
	{"rejection", "Promise.reject(new TypeError('r'));\nawait new Promise((r) => setTimeout(r, 50))", "error error=TypeError: r"},
	{"late throw", "setTimeout(() => { throw new TypeError('late') }, 5);\nawait new Promise((r) => setTimeout(r, 500))", "error error=TypeError: late"},
	{"thrown value", "throw { code: 1 }", "error error=Error: { code: 1 }"},
	{"thrown string", "throw 'text'", "error error=Error: text"},
	{"missing module", "import x from 'no-such'", "error error=Error: Cannot find package 'no-such'"},
	{"duplicate", "let a = 1;\nlet a = 2;", "error error=SyntaxError: Identifier 'a' has already been declared"},
	{"symbol", "Symbol('s')", "ok value=Symbol(s)"},
	{"bigint", "10n ** 20n", "ok value=100000000000000000000n"},
	{"negative zero", "-0", "ok value=-0"},
	{"class", "class A { #x = 1; get x() { return this.#x } }\nnew A().x", "ok value=1"},
	{"unsettled", "await new Promise(() => {})", "error error=Error: the event loop is empty, and the program still awaits"},
	{"json broken", "JSON.stringify = JSON.parse = undefined;\n({ a: 1 })", "ok value={ a: 1 }"},
	{"carriage returns", "const a = 1;\r\n\r\na", "ok value=1"},
}

func TestNode(t *testing.T) {
	testNode(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript(), subprocess.TypeScript()}}))
}

// TestNodeVersions runs the same with each interpreter that the variable
// TOOLCELL_TEST_NODES lists.
func TestNodeVersions(t *testing.T) {
	for _, path := range filepath.SplitList(os.Getenv("TOOLCELL_TEST_NODES")) {
		t.Run(path, func(t *testing.T) {
			js, ts := subprocess.JavaScript(), subprocess.TypeScript()
			js.Commands, ts.Commands = []string{path}, []string{path}
			testNode(t, open(t, subprocess.Options{Languages: []subprocess.Language{js, ts}}))
		})
	}
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
	t.Run("typescript", func(t *testing.T) { testTypeScript(t, ci) })
}

func testNodeContext(t *testing.T, n *notebook) {
	for _, tt := range []struct{ code, want string }{
		{"const a = 1; let b = 2; class C {}; function f() { return 1 }", "ok"},
		{"const a = 3; let b = 4; class C { x = 5 }; function f() { return 2 }", "ok"},
		{"[a, b, new C().x, f()].join()", "ok value=3,4,5,2"},
		{"import { join } from 'path'", "ok"},
		{"join('a', 'b')", "ok value=a/b"},
		{"process.exit(4)", "error"},
		{"a", "ok value=3"},
		{"throw new RangeError('x')", "error error=RangeError: x"},
		{"a + 1", "ok value=4"},
		{"Promise.reject(new Error('floating')); await new Promise((r) => setTimeout(r, 20))", "error error=Error: floating"},
		{"a + 2", "ok value=5"},
	} {
		if got := summary(n.run(tt.code, nil)); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.code, got, tt.want)
		}
	}
	if res := n.run("Array.prototype.push = undefined; Object.keys = undefined;\n5", nil); !res.StateLost {
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

// TestNodeCollects has garbage collected while a program awaits what cannot
// settle, and after one that did was stopped.
func TestNodeCollects(t *testing.T) {
	for _, ts := range []subprocess.Language{subprocess.TypeScript(), strippingNode(t)} {
		command := ts.Commands[0]
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{ts}}), "typescript")
		const garbage = "for (let i = 0; i < 300; i++) { console.log('tick'.repeat(100)); new Array(3e5).fill(i) }"
		for _, code := range []string{
			"for (;;) {}",
			"setInterval(() => { " + garbage + " }, 1); await new Promise(() => {})",
		} {
			res := n.run(code, &codeinterp.RunOptions{Timeout: 500 * time.Millisecond})
			if res.Status != codeinterp.StatusTimeout || res.StateLost {
				t.Errorf("%s: %q: got %s, %s", command, code, summary(res), res.Stderr())
			}
			if got := n.run(garbage+" 'next'", nil); got.Text() != "next" {
				t.Errorf("%s: after %q: got %s, %s", command, code, got.Status, got.Stderr())
			}
		}
	}
}
