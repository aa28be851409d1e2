//go:build real && linux

package subprocess_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const networkSecret = "sk-live-0123456789abcdef"

// A network is servers that answer as api.test and key.test, over HTTP and TLS, and a
// policy for them.
type network struct {
	opts egress.Options

	mu     sync.Mutex
	events []egress.Event
	auth   []string // what key.test was sent
}

func newNetwork(t *testing.T) *network {
	n := &network{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		n.auth = append(n.auth, r.Header.Get("Authorization"))
		n.mu.Unlock()
		fmt.Fprintf(w, "%s %s%s auth=%s body=%s\n", r.Method, r.Host, r.URL.Path, r.Header.Get("Authorization"), body)
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	n.opts = egress.Options{
		Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{
			{Hosts: []string{"api.test"}}, {Hosts: []string{"127.0.0.1"}, Ports: []int{18080}}, {Hosts: []string{"example.com"}, Ports: []int{443}, Paths: []string{"/k/*"}, Credential: true},
		}},
		Secrets: egress.Static{"example.com": egress.Bearer("key", networkSecret)},
		OnEvent: func(e egress.Event) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.events = append(n.events, e)
		},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 216, 34})}, nil
		},
		Dial: func(_ context.Context, a netip.AddrPort) (net.Conn, error) {
			if a.Port() == 443 {
				return net.Dial("tcp", secure.Listener.Addr().String())
			}
			return net.Dial("tcp", plain.Listener.Addr().String())
		},
		RootCAs: roots,
	}
	return n
}

// Programs of each language and commands reach what the policy allows, with the
// credential outside, in both modes, in runs, contexts and warm processes.
func TestNetworkPolicy(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		for _, warm := range []*subprocess.Warm{nil, {Pool: 1, Preload: []string{"json"}}} {
			t.Run(fmt.Sprintf("%v/warm=%v", mode, warm != nil), func(t *testing.T) { networkPolicy(t, mode, warm) })
		}
	}
}

func networkPolicy(t *testing.T, mode subprocess.Mode, warm *subprocess.Warm) {
	n := newNetwork(t)
	ci, err := subprocess.NewStateful(&subprocess.Options{Egress: &n.opts, Sandbox: subprocess.Sandbox{Mode: mode}, Warm: warm})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if i := ci.Describe().Isolation; i.Network != codeinterp.ReachLimited || fmt.Sprint(i.Hosts) != "[api.test 127.0.0.1:18080 example.com:443]" {
		t.Errorf("%+v", i)
	}
	python := `
import urllib.request, os, urllib.error
def get(u):
    try: return urllib.request.urlopen(u, timeout=20).read().decode().strip()
    except Exception as e: return repr(e)
print(get("http://api.test/a"))
print(get("https://example.com/k/1"))
print(get("https://example.com/other"))
print(get("http://evil.test/"))
print([k for k, v in os.environ.items() if "sk-live" in v])`
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	// An address of loopback that a rule names is reached without the proxy.
	direct, err := ci.RunInContext(t.Context(), id, "import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:18080/z').read())", nil)
	if !strings.Contains(direct.Stdout(), "GET 127.0.0.1:18080/z") {
		t.Errorf("direct: %s %s %v", direct.Stdout(), direct.Stderr(), err)
	}
	wants := []string{"GET api.test/a auth= body=", "GET example.com/k/1 auth=Bearer ***", "is not one that this program may make", "evil.test:80 is not a host", "[]"}
	ctx := t.Context()
	check := func(name string, res codeinterp.Result, err error) {
		t.Helper()
		out := res.Stdout()
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in %s %s %v", name, want, out, res.Stderr(), err)
			}
		}
		if strings.Contains(out, networkSecret) {
			t.Errorf("%s: the secret is in the output", name)
		}
		if all := strings.Join(res.Refusals, "|"); len(res.Refusals) != 2 || !strings.Contains(all, "evil.test:80 is not a host that this program may reach; allowed: api.test, 127.0.0.1:18080, example.com:443") {
			t.Errorf("%s: refusals %q", name, res.Refusals)
		}
	}
	res, err := ci.RunCode(ctx, "python", python, nil)
	check("python", res, err)
	for range 2 {
		res, err = ci.RunInContext(ctx, id, python, nil)
		check("python context", res, err)
	}
	res, err = ci.RunInContext(ctx, id, `print(get("http://api.test/"))`, &codeinterp.RunOptions{Network: &codeinterp.NetworkLimit{Off: true}})
	if !strings.Contains(res.Stdout(), "this run may reach") || len(res.Refusals) != 1 {
		t.Errorf("narrowed: %s %q %v", res.Stdout(), res.Refusals, err)
	}
	if warm != nil {
		return
	}
	wants[3] = "evil.test"
	node := `
const get = async (u) => { try { const r = await fetch(u); return await r.text() } catch (e) { return String(e) + e.cause } };
for (const u of ["http://api.test/a", "https://example.com/k/1", "https://example.com/other", "http://evil.test/"]) console.log(u, await get(u));
console.log(Object.values(process.env).filter((v) => v.includes("sk-live")));`
	res, err = ci.RunCode(ctx, "javascript", node, nil)
	if out := res.Stdout(); !strings.Contains(out, wants[0]) || !strings.Contains(out, wants[1]) || !strings.Contains(out, wants[2]) || strings.Contains(out, networkSecret) {
		t.Errorf("node: %s %s %v", out, res.Stderr(), err)
	}
	wants[3] = "evil.test:80 is not a host"
	shell, ok := codeinterp.Commands(ci)
	if !ok {
		t.Fatal("no commands")
	}
	res, err = shell.RunCommand(ctx, `for u in http://api.test/a https://example.com/k/1 https://example.com/other http://evil.test/; do curl -s -m 20 $u; done; env | grep -c sk-live; echo "[]"`, nil)
	check("curl", res, err)
	n.mu.Lock()
	defer n.mu.Unlock()
	if all := strings.Join(n.auth, "|"); !strings.Contains(all, "Bearer "+networkSecret) {
		t.Errorf("the server was sent %q", all)
	}
	contexts := map[string]bool{}
	for _, e := range n.events {
		if strings.Contains(fmt.Sprint(e), networkSecret) {
			t.Errorf("event %+v", e)
		}
		contexts[e.Context] = true
	}
	if !contexts[string(id)] || !contexts[""] {
		t.Errorf("contexts of events: %v", contexts)
	}
}

// A policy is refused where nothing can keep it, and connections end with the program.
func TestNetworkRefused(t *testing.T) {
	n := newNetwork(t)
	if _, err := subprocess.New(&subprocess.Options{Egress: &n.opts, Sandbox: subprocess.Sandbox{Mode: subprocess.None, AllowNone: true}}); err == nil {
		t.Error("none mode keeps a policy")
	}
	if _, err := subprocess.New(&subprocess.Options{Egress: &n.opts, Network: true}); err == nil {
		t.Error("both Network and Egress")
	}
	before, _ := os.ReadDir("/proc/self/fd")
	ci, err := subprocess.New(&subprocess.Options{Egress: &n.opts, Languages: []subprocess.Language{subprocess.Python()}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		res, err := ci.RunCode(t.Context(), "python", "import socket\ns = [socket.create_connection(('127.0.0.1', 3128)) for i in range(20)]\nprint(len(s))", nil)
		if err != nil || res.Stdout() != "20\n" {
			t.Errorf("%+v %v", res, err)
		}
	}
	if err := ci.Close(); err != nil {
		t.Error(err)
	}
	deadline := time.Now().Add(time.Minute)
	after, _ := os.ReadDir("/proc/self/fd")
	for len(after) > len(before)+2 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
		after, _ = os.ReadDir("/proc/self/fd")
	}
	if len(after) > len(before)+2 {
		t.Errorf("%d descriptors before, %d after", len(before), len(after))
	}
}
