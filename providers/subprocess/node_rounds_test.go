//go:build unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// nodeBeforeExits are programs whose handlers of beforeExit start what no list of node's
// has, and what they print under node: also how often the handlers are called.
var nodeBeforeExits = []struct{ name, code, out string }{
	{"work of crypto", "process.once('beforeExit', () => require('crypto').pbkdf2('a', 'b', 100000, 8, 'sha1', () => console.log('pb')))", "pb\n"},
	{"short work", "process.once('beforeExit', () => require('crypto').randomBytes(4, () => console.log('random')))", "random\n"},
	{"work of subtle", "process.once('beforeExit', async () => { await crypto.subtle.digest('SHA-1', new Uint8Array(1e6)); console.log('digest') })", "digest\n"},
	{"work of zlib", "process.once('beforeExit', async () => { const z = await require('util').promisify(require('zlib').gzip)('x'.repeat(1e6)); await require('fs').promises.writeFile('cache.gz', z); console.log('saved') })", "saved\n"},
	{"a worker", "process.once('beforeExit', () => { const { Worker } = require('worker_threads'); new Worker(\"setTimeout(() => require('worker_threads').parentPort.postMessage('worked'), 50)\", { eval: true }).on('message', (m) => console.log(m)) })", "worked\n"},
	{"prepended", "process.prependOnceListener('beforeExit', () => require('crypto').pbkdf2('a', 'b', 50000, 8, 'sha1', () => console.log('pb')))", "pb\n"},
	{"again and again", "var n = 0; process.on('beforeExit', function f() { console.log(++n); if (n < 4) require('crypto').randomBytes(4, () => {}); else process.off('beforeExit', f) })", "1\n2\n3\n4\n"},
	{"immediates", "var n = 0; process.on('beforeExit', function f() { console.log(++n); if (n < 4) setImmediate(() => {}); else process.off('beforeExit', f) })", "1\n2\n3\n4\n"},
	{"requests", "var n = 0; process.on('beforeExit', function f() { console.log(++n); if (n < 4) require('fs').stat('/', () => {}); else process.off('beforeExit', f) })", "1\n2\n3\n4\n"},
	{"nothing", "process.on('beforeExit', async function f() { await null; console.log('b'); process.nextTick(() => Promise.resolve().then(() => process.nextTick(() => console.log('c', process.emit.name, Object.hasOwn(process, 'emit'))))) })", "b\nc emit false\n"},
	{"nothing, of a later run", "1", "b\nc emit false\n"},
	{"an error", "process.removeAllListeners('beforeExit'); process.once('beforeExit', () => require('crypto').pbkdf2('a', 'b', 50000, 8, 'sha1', () => { throw new Error(process.emit.length + 'x' + Object.hasOwn(process, 'emit')) })); process.once('uncaughtException', (e) => console.log(e.message))", "1xfalse\n"},
}

// TestNodeBeforeExit: a run waits for what a handler of beforeExit starts, whatever it is,
// and calls the handlers again behind it.
func TestNodeBeforeExit(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		for _, tt := range nodeBeforeExits {
			if res := n.run(tt.code+"; void 0", nil); !res.OK() || res.Stdout() != tt.out || res.Stderr() != "" {
				t.Errorf("%s: %s %s, want %s", tt.name, summary(res), res.Stderr(), tt.out)
			}
		}
	}
}
