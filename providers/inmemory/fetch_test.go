package inmemory_test

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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/fetch"
)

func fetchServer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/slow":
		<-r.Context().Done()
	case "/away":
		http.Redirect(w, r, "/echo", http.StatusFound)
	case "/evil":
		http.Redirect(w, r, "http://evil.test/", http.StatusFound)
	case "/bytes":
		w.Write([]byte{0, 255, 128, 10})
	case "/404":
		http.Error(w, "nothing", http.StatusNotFound)
	default:
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		fmt.Fprintf(w, `{"method":%q,"type":%q,"x":%q,"body":%q,"auth":%q}`, r.Method, r.Header.Get("Content-Type"), r.Header.Get("X-A"), body, r.Header.Get("Authorization"))
	}
}

// fetching returns an interpreter whose programs reach api.test and key.test.
func fetching(t *testing.T) *inmemory.Stateful {
	srv := httptest.NewServer(http.HandlerFunc(fetchServer))
	t.Cleanup(srv.Close)
	network, err := fetch.New(&egress.Options{
		Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{
			{Hosts: []string{"api.test"}}, {Hosts: []string{"key.test"}, Paths: []string{"/k/*"}, Credential: true, Insecure: true},
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
	ci, err := inmemory.NewStateful(&inmemory.Options{Network: network})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	return ci
}

// fetch, Request, Response and Headers are as in node, within the policy.
func TestFetch(t *testing.T) {
	ci := fetching(t)
	for code, want := range map[string]string{
		`const r = await fetch("http://api.test/x", { headers: { "X-A": "é" } }); [r.status, r.ok, r.statusText, r.url, r.redirected, (await r.json()).x, r.bodyUsed]`:                    `[200, true, "OK", "http://api.test/x", false, "é", true]`,
		`const r = await fetch(new URL("http://api.test/x"), { method: "post", body: JSON.stringify({ ü: "😀" }) }); const j = await r.json(); [j.method, j.type, j.body]`:                 `["POST", "text/plain;charset=UTF-8", "{\"ü\":\"😀\"}"]`,
		`(await (await fetch("http://api.test/", { method: "PUT", body: new URLSearchParams({ a: "b c" }) })).json()).type + (await (await fetch("http://api.test/away")).json()).method`: `"application/x-www-form-urlencoded;charset=UTF-8GET"`,
		`const r = await fetch("http://api.test/away"); [r.redirected, r.url, (await fetch("http://api.test/away", { redirect: "manual" })).status]`:                                      `[true, "http://api.test/echo", 302]`,
		`[...new Uint8Array(await (await fetch("http://api.test/bytes")).arrayBuffer())]`:                                                                                                 `[0, 255, 128, 10]`,
		`const r = await fetch("http://api.test/404"); [r.ok, r.status, (await r.text()).trim()]`:                                                                                         `[false, 404, "nothing"]`,
		`(await fetch("http://api.test/")).headers.getSetCookie().concat((await fetch("http://api.test/")).headers.get("content-type"))`:                                                  `["a=1", "b=2", "text/plain; charset=utf-8"]`,
		`let e; try { await fetch("http://evil.test/") } catch (x) { e = x }; [e.name, e.message, e.cause.message]`:                                                                       `["TypeError", "fetch failed", "evil.test:80 is not a host that this program may reach; allowed: api.test, key.test"]`,
		`let e; try { await fetch("http://api.test/evil") } catch (x) { e = x }; e.cause.message.slice(0, 12)`:                                                                            `"evil.test:80"`,
		`let e; try { await fetch("nonsense") } catch (x) { e = x }; [e.name, e.message]`:                                                                                                 `["TypeError", "Failed to parse URL from nonsense"]`,
		`let e; try { await fetch("http://api.test/slow", { signal: AbortSignal.timeout(30) }) } catch (x) { e = x }; e.name`:                                                             `"TimeoutError"`,
		`const c = new AbortController(); const p = fetch("http://api.test/slow", { signal: c.signal }); c.abort(); let e; try { await p } catch (x) { e = x }; e.name`:                   `"AbortError"`,
		`(await (await fetch("http://key.test/k/x", { headers: { Authorization: "mine" } })).json()).auth`:                                                                                `"Bearer *************"`,
		`const q = new Request("http://api.test/", { method: "POST", body: "b" }); const c = q.clone(); [await q.text(), await (await fetch(c)).json().then((j) => j.body)]`:              `["b", "b"]`,
		`let n = ""; for await (const b of (await fetch("http://api.test/404")).body) n += new TextDecoder().decode(b); n.trim()`:                                                         `"nothing"`,
		`const r = Response.json({ a: 1 }, { status: 201 }); [r.status, r.headers.get("content-type"), (await r.json()).a]`:                                                               `[201, "application/json", 1]`,
		`const h = new Headers([["b", "1"], ["A", "2"], ["b", "3"]]); [...h].join("|") + h.has("B")`:                                                                                      `"a,2|b,1, 3true"`,
		`(await Promise.all([1, 2, 3].map((i) => fetch("http://api.test/" + i)))).map((r) => r.status)`:                                                                                   `[200, 200, 200]`,
	} {
		res, err := ci.RunCode(t.Context(), "javascript", "console.log(JSON.stringify(await (async () => { "+lastReturn(code)+" })()))", nil)
		got := strings.TrimSpace(res.Stdout())
		if err != nil || strings.ReplaceAll(got, ", ", ",") != strings.ReplaceAll(want, ", ", ",") {
			t.Errorf("%s\n got %s %v %v\nwant %s", code, got, res.Error, err, want)
		}
	}
}

// lastReturn returns code that returns the value of its last statement.
func lastReturn(code string) string {
	i := strings.LastIndex(code, "; ")
	return code[:i+1] + " return " + strings.TrimSpace(code[i+1:])
}

// What the policy refuses is in the Result, a run can only narrow it, and a timeout ends
// a request.
func TestFetchRefused(t *testing.T) {
	ci := fetching(t)
	if i := ci.Describe().Isolation; i.Network != codeinterp.ReachLimited || fmt.Sprint(i.Hosts) != "[api.test key.test]" {
		t.Errorf("%+v", i)
	}
	res, err := ci.RunCode(t.Context(), "javascript", `await fetch("http://evil.test/").catch(() => {})`, nil)
	if err != nil || len(res.Refusals) != 1 || !strings.HasPrefix(res.Refusals[0], "evil.test:80 is not a host") {
		t.Errorf("%q %v", res.Refusals, err)
	}
	res, _ = ci.RunCode(t.Context(), "javascript", `await fetch("http://api.test/")`, &codeinterp.RunOptions{Network: &codeinterp.NetworkLimit{Off: true}})
	if res.Status != codeinterp.StatusError || len(res.Refusals) != 1 {
		t.Errorf("%+v", res)
	}
	start := time.Now()
	res, _ = ci.RunCode(t.Context(), "javascript", `await fetch("http://api.test/slow")`, &codeinterp.RunOptions{Timeout: 200 * time.Millisecond})
	if res.Status != codeinterp.StatusTimeout || time.Since(start) > time.Minute {
		t.Errorf("%v after %v", res.Status, time.Since(start))
	}
	off, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	if res, _ := off.RunCode(t.Context(), "javascript", `console.log(typeof fetch, typeof Headers)`, nil); res.Stdout() != "undefined function\n" {
		t.Errorf("%q", res.Stdout())
	}
}

// The requests of all contexts together have a bound. Package fetch
func TestFetchBound(t *testing.T) {
	const bound, contexts = 256, 6
	var now, most atomic.Int64
	full := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == bound {
			close(full)
		}
		<-full
		now.Add(-1)
	}))
	defer srv.Close()
	rule, err := egress.ParseRule(strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	network, err := fetch.New(&egress.Options{Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{rule}}})
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.New(&inmemory.Options{Network: network, MaxRunning: contexts})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	var wg sync.WaitGroup
	for range contexts {
		wg.Go(func() {
			code := fmt.Sprintf(`(await Promise.all(Array.from({ length: 64 }, () => fetch(%q)))).length`, srv.URL)
			if res, err := ci.RunCode(t.Context(), "javascript", "console.log("+code+")", nil); err != nil || res.Stdout() != "64\n" {
				t.Errorf("%+v %v", res, err)
			}
		})
	}
	wg.Wait()
	if n := most.Load(); n != bound {
		t.Errorf("%d requests in progress", n)
	}
}

// A context that has no request open costs no goroutine for its network, and next to no
// memory, also if it has made one before. docs/network.md
func TestFetchIdle(t *testing.T) {
	contexts := 100
	if tier.Full {
		contexts = 1000
	}
	cost := func(networked bool) (bytes, goroutines int) {
		code, o := "1", inmemory.Options{MaxMemory: 8 << 30}
		if networked {
			srv := httptest.NewServer(http.HandlerFunc(fetchServer))
			defer srv.Close()
			rule, err := egress.ParseRule(strings.TrimPrefix(srv.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if o.Network, err = fetch.New(&egress.Options{Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{rule}}}); err != nil {
				t.Fatal(err)
			}
			code = fmt.Sprintf("(await (await fetch(%q)).text()).length", srv.URL)
		}
		ci, err := inmemory.NewStateful(&o)
		if err != nil {
			t.Fatal(err)
		}
		defer ci.Close()
		var before int
		for i := range contexts + 2 {
			if i == 2 { // what is made once is there
				before, goroutines = heap(), runtime.NumGoroutine()
			}
			id, err := ci.CreateContext(t.Context(), "javascript", nil)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := ci.RunInContext(t.Context(), id, code, nil); err != nil || !res.OK() {
				t.Fatal(res, err)
			}
		}
		return (heap() - before) / contexts, runtime.NumGoroutine() - goroutines
	}
	bytes, goroutines := cost(false)
	netBytes, netGoroutines := cost(true)
	t.Logf("%d contexts: %d bytes each and %d goroutines; with a network %d and %d", contexts, bytes, goroutines, netBytes, netGoroutines)
	if netGoroutines > goroutines+10 || netBytes > bytes+4<<10 {
		t.Errorf("%d bytes each and %d goroutines; with a network %d and %d", bytes, goroutines, netBytes, netGoroutines)
	}
}

// heap returns what live objects and stacks of the host take.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}
