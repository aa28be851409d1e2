//go:build unix

package subprocess_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// nodeFirstRequests are programs that end by an error or process.exit while what later
// requests need is under way, and whether that costs the state however quick it is.
var nodeFirstRequests = []struct {
	code, then string
	lost       bool
}{
	{"new Headers(); throw 5", "await (await fetch(U)).text()", false},
	{"await fetch('http://127.0.0.1:1/')", "await (await fetch(U)).text()", false},
	{"await Promise.all([fetch(U), (async () => { await null; null.x })()])", "await (await fetch(U)).text()", false},
	{"fetch(U).then(console.log, console.log); process.exit(3)", "await (await fetch(U)).text()", false},
	{"setTimeout(() => { void new Response('x'); throw 5 }); 1", "await (await fetch(U)).text()", false},
	{"get(U); throw 5", "await get(U)", true},
	{"get(U); await null; throw 5", "await get(U)", true},
	{"agent.maxSockets = Infinity; get(U); await null; throw 5", "await get(U)", false},
}

// testNodeFirstRequests: where a program's end leaves node's own machinery waiting for ever,
// the run says that the state is lost.
func testNodeFirstRequests(t *testing.T, l subprocess.Language) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer srv.Close()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{l}, Network: true})
	begin := "var kept = 1, U = '" + srv.URL + "/', http = require('http'), agent = new http.Agent({ keepAlive: true, maxSockets: 1 })\n" +
		"var get = (url) => new Promise((ok, no) => http.get(url, { agent }, (r) => { let s = ''; r.on('data', (d) => s += d).on('end', () => ok(s)) }).on('error', no)); 0"
	for _, tt := range nodeFirstRequests {
		n := newNotebook(t, ci, l.Name)
		n.run(begin, nil)
		res := n.run(tt.code, nil)
		if res.ExitCode == 0 || tt.lost && !res.StateLost || strings.Contains(res.Stdout(), "Response") {
			t.Errorf("%s: %s", tt.code, summary(res))
		}
		if res.StateLost {
			n.run(begin, nil)
		}
		if res := n.run(tt.then, &codeinterp.RunOptions{Timeout: 20 * time.Second}); summary(res) != "ok value=hello" {
			t.Errorf("after %s: %s %s", tt.code, summary(res), res.Stderr())
		}
		if res := n.run("kept", nil); summary(res) != "ok value=1" {
			t.Errorf("after %s: %s", tt.code, summary(res))
		}
	}
}

func TestNodeFirstRequests(t *testing.T) {
	testNodeFirstRequests(t, subprocess.JavaScript())
	if !testing.Short() {
		testNodeFirstRequests(t, newerNode(t))
	}
}

// TestNodeShowsPromises: what a program prints while an import() is under way has nothing
// that the driver keeps of it.
func TestNodeShowsPromises(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		for _, tt := range []struct{ code, want string }{
			{"console.log(import('node:os')); 1", "ok out=Promise { <pending> }\n value=1"},
			{"[1].map(async (x) => typeof (await import('node:os')).EOL + x)", "ok value=[ Promise { <pending> } ]"},
			{"const p = import('node:os'), q = (async () => { await null })(); await p; console.log(q, Object.getOwnPropertySymbols(p).length); 1", "ok out=Promise { undefined } 0\n value=1"},
			{"await import('nosuch').catch((e) => /AsyncLocalStorage|async_hooks/.test(e.stack))", "ok value=false"},
		} {
			if res := n.run(tt.code, nil); summary(res) != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.code, summary(res), tt.want)
			}
		}
		if res := n.run("import 'nosuch'", nil); res.Error == nil || strings.Contains(strings.Join(res.Error.Traceback, "\n"), "node:") {
			t.Errorf("%+v", res.Error)
		}
	}
}
