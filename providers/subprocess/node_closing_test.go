//go:build unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const beforeEnd = "var fs = require('fs'), ended = false, no = () => { if (ended) { console.log('no'); fs.appendFileSync('no', 'x') } };\n"

// nodeUnderWay are programs that end while something of them is under way, whose end
// would call the program.
var nodeUnderWay = []string{
	"(async () => { for (;;) { await fs.promises.writeFile('a', 'x'); no() } })()",
	"fs.readFile('/dev/null', no); fs.stat('/', () => fs.stat('/', no))",
	"fs.promises.stat('/').then(no, no); fs.promises.open('/dev/null').then(no, no)",
	"require('child_process').exec('echo hi', () => { no(); require('child_process').exec('echo ho > no') })",
	"require('zlib').gzip('x', no); require('crypto').randomBytes(4, no); require('crypto').pbkdf2('a', 'b', 1, 8, 'sha1', no)",
	"require('stream').Readable.from(['a']).on('data', no).on('close', no); fs.createReadStream('a').on('data', no).on('end', no)",
	"require('dns').lookup('127.0.0.1', no); require('dns').promises.lookup('127.0.0.1').then(no, no)",
	"WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(no, no); crypto.subtle.digest('SHA-1', new Uint8Array(1)).then(no, no)",
	"Error.stackTraceLimit = 0; fs.stat('/', no)",
	"Error.prepareStackTrace = () => { no() }; fs.stat('/', no)",
	"const { AsyncLocalStorage } = require('async_hooks'); new AsyncLocalStorage().run(1, () => { fs.stat('/', no); fs.promises.stat('/').then(no) })",
	"require('async_hooks').createHook({ init() {}, before() {}, after() {}, destroy() {} }).enable(); fs.stat('/', no); fs.promises.stat('/').then(no)",
}

// nodeEnds are the ways in which such a program ends.
var nodeEnds = []struct{ code, want string }{
	{"ended = true; throw 5", "error error=Uncaught: 5"},
	{"ended = true; process.exit(0)", "ok"},
	{"await null; ended = true; throw 5", "error error=Uncaught: 5"},
	{"setTimeout(() => { ended = true; process.nextTick(no); throw 5 }); 1", "error value=1 error=Uncaught: 5"},
}

// testNodeCallsNothing: what ends after the program has calls nothing of it, and the
// state stays.
func testNodeCallsNothing(t *testing.T, l subprocess.Language) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
	n.run(beforeEnd+"var kept = 1", nil)
	for i, code := range nodeUnderWay {
		for j, end := range nodeEnds {
			if !race.Takes(i+j, 4) {
				continue
			}
			code := "{" + code + "}\n" + end.code
			if res := n.run(code, nil); summary(res) != end.want || res.Stderr() != "" {
				t.Errorf("%s\ngot  %s %s\nwant %s", code, summary(res), res.Stderr(), end.want)
			}
			check := "ended = false; Error.stackTraceLimit = 10; Error.prepareStackTrace = undefined; await fs.promises.stat('/'); [kept, fs.existsSync('no')].join()"
			if res := n.run(check, nil); summary(res) != "ok value=1,false" || len(res.Outputs) != 1 {
				t.Errorf("after %s: %s %s", code, summary(res), res.Stderr())
				n.run(beforeEnd+"var kept = 1; fs.rmSync('no', { force: true })", nil)
			}
		}
	}
	if res := n.run("process.once('beforeExit', () => console.log('empty')); kept", nil); summary(res) != "ok out=empty\n value=1" {
		t.Errorf("a handler of beforeExit: %s %s", summary(res), res.Stderr())
	}
}

func TestNodeCallsNothing(t *testing.T) {
	testNodeCallsNothing(t, subprocess.JavaScript())
	if !testing.Short() {
		testNodeCallsNothing(t, newerNode(t))
	}
}

// nodeOpenImports are programs that end while an import() is under way, and what has to
// be there for the next ones.
var nodeOpenImports = []struct{ code, want, then string }{
	{"await Promise.all([import('nosuchpkg'), import('node:url')])", "error error=Error: Cannot find package 'nosuchpkg'", "(await import('node:url')).URL.name"},
	{"import('dns'); await null; throw 5", "error error=Uncaught: 5", "import { lookup } from 'node:dns'; lookup.name"},
	{"import('path'); throw 5", "error error=Uncaught: 5", "(await import('path')).sep"},
	{"import('zlib').then(() => console.log('no')); process.exit(0)", "ok", "(await import('zlib')).gzip.name"},
	{"import('./a.mjs'); await null; throw 5", "error error=Uncaught: 5", "(await import('./a.mjs')).X"},
	{"setTimeout(() => { import('./b.mjs').then(() => console.log('no')); throw 5 }); 1", "error value=1 error=Uncaught: 5", "(await import('./b.mjs')).Y"},
	{"import('./c.mjs'); throw 5", "error error=Uncaught: 5", "import { Y } from './c.mjs'; Y"},
	{"void Promise.reject(5); void import('./d.mjs')", "error error=Uncaught: 5", "(await import('./d.mjs')).X"},
}

// testNodeOpenImports: a module whose import() was under way as a program ended is there
// for the next ones.
func testNodeOpenImports(t *testing.T, l subprocess.Language) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
	n.run("for (const f of 'ad') require('fs').writeFileSync(f + '.mjs', 'export const X = 4'); for (const f of 'bc') require('fs').writeFileSync(f + '.mjs', `import { X } from './${f}x.mjs'; import 'node:tty'; export const Y = X + await 1`);"+
		"for (const f of 'bc') require('fs').writeFileSync(f + 'x.mjs', 'export const X = 4'); var kept = 1", nil)
	for _, tt := range nodeOpenImports {
		if res := n.run(tt.code, nil); summary(res) != tt.want || res.Stderr() != "" {
			t.Errorf("%s\ngot  %s %s\nwant %s", tt.code, summary(res), res.Stderr(), tt.want)
		}
		if res := n.run(tt.then, nil); !res.OK() || len(res.Outputs) != 1 {
			t.Errorf("after %s: %s %s", tt.code, summary(res), res.Stderr())
		}
		if res := n.run("kept", nil); summary(res) != "ok value=1" {
			t.Errorf("after %s: %s %s", tt.code, summary(res), res.Stderr())
		}
	}
	// What goes on beside an import() cannot be ended without the process.
	for _, code := range []string{
		"import('./e.mjs'); (async () => { for (;;) { await null; console.log('no') } })(); await null; throw 5",
		"require('fs').writeFileSync('e.mjs', 'await new Promise(() => {})'); import('./e.mjs'); throw 5",
	} {
		if res := n.run(code, nil); res.ExitCode != 1 || !res.StateLost || res.Error == nil || res.Error.Name != "Uncaught" {
			t.Errorf("%s: %s, state lost: %v", code, summary(res), res.StateLost)
		}
	}
}

func TestNodeImportsGoOn(t *testing.T) {
	testNodeOpenImports(t, subprocess.JavaScript())
	testNodeOpenImports(t, newerNode(t))
}

// TestNodeWaitsAfterErrors: what a handler of beforeExit starts is waited for, also behind
// a run that ended by an error.
func TestNodeWaitsAfterErrors(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript()}}), "javascript")
	const code = "process.once('beforeExit', () => { const c = require('child_process').spawn('sh', ['-c', 'sleep 0.3; printf hi'], { stdio: ['ignore', 'pipe', 'ignore'] }); c.unref(); c.stdout.on('data', (d) => console.log('got ' + d)) }); 1"
	for _, before := range []string{"1", "throw 1", "process.exit(3)"} {
		n.run(before, nil)
		if res := n.run(code, nil); summary(res) != "ok out=got hi\n value=1" {
			t.Errorf("after %s: %s %s", before, summary(res), res.Stderr())
		}
	}
}
