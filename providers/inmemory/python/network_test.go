//go:build real

package python_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/fetch"
)

// networked returns an interpreter whose programs reach api.test, and secure.test with a
// credential.
func networked(t *testing.T) *inmemory.Stateful {
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/away":
			http.Redirect(w, r, "http://evil.test/", http.StatusFound)
		case "/bytes":
			w.Write([]byte{0, 255, 128, 10})
		case "/large":
			w.Write(make([]byte, 17<<20))
		case "/zeros":
			w.Write(make([]byte, 8<<20))
		case "/404":
			http.Error(w, "nothing", http.StatusNotFound)
		default:
			fmt.Fprintf(w, "%s %s %q %s %s", r.Method, r.RequestURI, body, r.Header.Get("X-A"), r.Header.Get("Authorization"))
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(srv.Close)
	network, err := fetch.New(&egress.Options{
		Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{
			{Hosts: []string{"api.test"}}, {Hosts: []string{"key.test"}, Credential: true, Insecure: true},
		}},
		Secrets: egress.Static{"key.test": egress.Bearer("key", "sk-0123456789")},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 216, 34})}, nil
		},
		Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			return net.Dial("tcp", srv.Listener.Addr().String())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Network = network
	ci, err := inmemory.NewStateful(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	return ci
}

// TestNetwork: http.client and urllib reach what the policy allows, in copies of a context
// too, and say why they reach nothing else.
func TestNetwork(t *testing.T) {
	ci := networked(t)
	first := newContext(t, ci)
	stdout(t, ci, first, "import http.client, urllib.error, urllib.request as u")
	id := fork(t, ci, first)
	for code, want := range map[string]string{
		"print(u.urlopen('http://api.test/x?y=1').read().decode())":                                                                    `GET /x?y=1 ""  `,
		"print(u.urlopen(u.Request('http://api.test:80/p', b'a=b', {'X-A': 'v'})).read().decode())":                                    `POST /p "a=b" v `,
		"print(u.urlopen(u.Request('http://api.test/', iter([b'a', b'bc']), method='PUT')).read().decode())":                           `PUT / "abc"  `,
		"r = u.urlopen('http://api.test/bytes'); print(r.status, r.reason, r.headers['Content-Length'], r.read())":                     `200 OK 4 b'\x00\xff\x80\n'`,
		"try: u.urlopen('http://api.test/404')\nexcept urllib.error.HTTPError as e: print(e.code, e.read())":                           `404 b'nothing\n'`,
		"try: u.urlopen('http://evil.test/')\nexcept urllib.error.URLError as e: print(e.reason)":                                      "evil.test:80 is not a host that this program may reach; allowed: api.test, key.test",
		"try: u.urlopen('https://evil.test/')\nexcept urllib.error.URLError as e: print(e.reason)":                                     "evil.test:443 is not a host that this program may reach; allowed: api.test, key.test",
		"try: u.urlopen('http://api.test/away')\nexcept OSError as e: print(str(e)[:30])":                                              "<urlopen error evil.test:80 is",
		"try: u.urlopen('http://api.test/slow', timeout=0.05)\nexcept OSError as e: print(repr(e.reason))":                             "TimeoutError('timed out')",
		"try: u.urlopen('http://api.test/large')\nexcept OSError as e: print(e.reason)":                                                "the answer has more than 16777216 bytes",
		"try: u.urlopen('http://api.test/', bytes(17 << 20))\nexcept OSError as e: print(e.reason)":                                    "a request of more than 16777216 bytes",
		"print(u.urlopen(u.Request('http://key.test/', headers={'Authorization': 'mine'})).read().decode())":                           `GET / ""  Bearer *************`,
		"print(len(u.urlopen('http://api.test/zeros').read()))":                                                                        "8388608",
		"import math; print(u.urlopen('http://api.test/x', timeout=math.inf).status)":                                                  "200",
		"c = http.client.HTTPConnection('api.test')\nfor p in 'ab': c.request('GET', '/' + p); print(c.getresponse().read().decode())": "GET /a \"\"  \nGET /b \"\"  ",
		"import socket\ntry: socket.create_connection(('api.test', 80))\nexcept OSError as e: print(e.strerror)":                       "there is no network here",
	} {
		if got := stdout(t, ci, id, code); got != want+"\n" {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
	before := runtime.NumGoroutine()
	stdout(t, ci, id, `
import _toolcell, json
q = json.dumps({'id': 1, 'url': 'http://api.test/slow', 'method': 'GET', 'redirect': 'manual', 'headers': []}).encode()
body = b'U' + b''.join(b'%08x%b' % (len(f), f) for f in (b'0', b'2', q))
for _ in range(3000): _toolcell.request(b'%08x%b' % (len(body), body))
`)
	if n := runtime.NumGoroutine() - before; n > 100 {
		t.Errorf("forged requests leave %d goroutines", n)
	}
	res, err := ci.RunInContext(t.Context(), id, "try: u.urlopen('http://evil.test/')\nexcept OSError: pass", nil)
	if err != nil || len(res.Refusals) != 1 || !strings.HasPrefix(res.Refusals[0], "evil.test:80 is not a host") {
		t.Errorf("%q %v", res.Refusals, err)
	}
	res, _ = ci.RunInContext(t.Context(), id, "u.urlopen('http://api.test/')", &codeinterp.RunOptions{Network: &codeinterp.NetworkLimit{Off: true}})
	if res.Status != codeinterp.StatusError || len(res.Refusals) != 1 {
		t.Errorf("%+v", res)
	}
	res, _ = ci.RunInContext(t.Context(), id, "u.urlopen('http://api.test/slow')", &codeinterp.RunOptions{Timeout: 200 * time.Millisecond})
	if res.Status != codeinterp.StatusTimeout || res.StateLost {
		t.Errorf("%+v", res)
	}
}
