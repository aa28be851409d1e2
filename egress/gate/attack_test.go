package gate_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
)

// inspected opens TLS, which the gate ends, to api.test.
func (l *lab) inspected() *tls.Conn {
	l.t.Helper()
	c, err := net.Dial("tcp", l.proxy)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, "CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n")
	_, _ = io.ReadFull(c, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n")))
	pool := l.roots.Clone()
	pool.AppendCertsFromPEM(l.gate.Certificate())
	return tls.Client(c, &tls.Config{ServerName: "api.test", RootCAs: pool})
}

// A request whose target names another host does not pass a rule that inspects.
func TestTargetOfAnotherHost(t *testing.T) {
	var seen atomic.Value
	p := egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"api.test"}, Inspect: true}}}
	l := newLab(t, p, func(w http.ResponseWriter, r *http.Request) { seen.Store(r.RequestURI) })
	for _, target := range []string{"x:http://evil.test/y", "https:evil.test/y", "x:y", "http://evil.test/y", "x://evil.test/y"} {
		got := converse(t, l.inspected(), "GET "+target+" HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 403 ") || seen.Load() != nil {
			t.Errorf("%s: the server saw %v; %q", target, seen.Load(), got)
		}
	}
	r, _ := http.NewRequest(http.MethodConnect, "https://api.test/x", nil)
	if _, err := l.session.RoundTrip(r); err == nil || seen.Load() != nil {
		t.Errorf("CONNECT: %v, the server saw %v", err, seen.Load())
	}
}

// A credential that a server sends back where HTTP does not expect it is in no answer,
// error, event or refusal.
func TestEchoesOfBadServers(t *testing.T) {
	l := newLab(t, policy, echo)
	answers := []string{
		"%s\r\n\r\n", "HTTP/1.1 %s\r\n\r\n", "HTTP/%s 200 OK\r\n\r\n", "HTTP/1.1 200 %s\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nBad %s\r\n\r\n", "HTTP/1.1 200 OK\r\n%s: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: x\r\nContent-Length: 25\r\n\r\n%s",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: %s\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nbad %s\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;%[1]s\r\nx\r\n0\r\nX: %[1]s\r\n\r\n",
		"HTTP/1.1 103 %[1]s\r\nLink: %[1]s\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 101 %[1]s\r\nUpgrade: %[1]s\r\nConnection: Upgrade\r\n\r\n%[1]s", "HTTP/1.1 302 Found\r\nLocation: https://api.test/%s\r\nContent-Length: 0\r\n\r\n",
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate(t, l.roots, "api.test")}}
	var which atomic.Int32
	l.servers[apiAddr+":443"] = listen(t, func(c net.Conn) {
		c = tls.Server(c, config)
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			fmt.Fprintf(c, answers[which.Load()], theSecret)
		}
		c.Close()
	})
	clean := func(where, got string) {
		t.Helper()
		for i := range len(theSecret) - 7 {
			if piece := theSecret[i : i+8]; strings.Contains(strings.ToLower(got), strings.ToLower(piece)) {
				t.Errorf("%q: %s: %s", answers[which.Load()], where, got)
				return
			}
		}
	}
	for i := range answers {
		which.Store(int32(i))
		clean("answer", converse(t, l.inspected(), "GET /v1/x HTTP/1.1\r\nHost: api.test\r\nUpgrade: websocket\r\nConnection: close, Upgrade\r\n\r\n"))
		r, _ := http.NewRequest("GET", "https://api.test/v1/x", nil)
		resp, err := l.session.RoundTrip(r)
		if err != nil {
			clean("error", err.Error())
			continue
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		clean("response", fmt.Sprint(resp.Status, resp.Header, resp.Trailer, string(b), err, resp.Request.Header))
	}
	l.session.Close()
	clean("refusals", fmt.Sprint(l.session.EndRun()))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		clean("event", fmt.Sprint(e))
	}
}

// A narrower run ends what an earlier one has in progress, also without a tunnel.
func TestNarrowInProgress(t *testing.T) {
	l := newLab(t, policy, func(w http.ResponseWriter, r *http.Request) {
		c, rw, _ := http.NewResponseController(w).Hijack()
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(c, rw)
	})
	l.session.BeginRun("c1", nil, nil)
	c, err := net.Dial("tcp", l.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(c, "GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
	in := bufio.NewReader(c)
	if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	fmt.Fprint(c, "1")
	if b, err := in.ReadByte(); b != '1' {
		t.Fatal(b, err)
	}
	l.session.BeginRun("c1", &codeinterp.NetworkLimit{Off: true}, nil)
	fmt.Fprint(c, "2")
	if b, err := in.ReadByte(); err == nil {
		t.Errorf("the server has answered %q", b)
	}
}

// A connection that was allowed before a narrower run, and is made in it, is refused.
func TestNarrowMeanwhile(t *testing.T) {
	looking, look := make(chan bool, 1), make(chan bool)
	var dialled atomic.Int32
	g, err := gate.New(&egress.Options{Policy: policy,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			looking <- true
			<-look
			return []netip.Addr{netip.MustParseAddr(dbAddr)}, nil
		},
		Secrets: egress.Static{},
		Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			dialled.Add(1)
			a, _ := net.Pipe()
			return a, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	s := g.Session()
	proxy := listen(t, func(c net.Conn) { s.Serve(c, netip.AddrPort{}) })
	c, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(c, "CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test\r\n\r\n")
	<-looking
	s.BeginRun("c1", &codeinterp.NetworkLimit{Off: true}, nil)
	close(look)
	b, _ := io.ReadAll(c)
	s.Close()
	if dialled.Load() != 0 || strings.Contains(string(b), " 200 ") {
		t.Errorf("dialled %d times: %q", dialled.Load(), b)
	}
}

// A context has no more requests in progress than connections, however it makes them.
func TestLimitsOfRequests(t *testing.T) {
	var now, most atomic.Int32
	p := policy
	p.Limits.Connections = 4
	l := newLab(t, p, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
	})
	var wg sync.WaitGroup
	c := l.client(true)
	if status, body := get(t, c, "https://api.test/v1/x"); status != 200 { // the others use its connection
		t.Fatal(status, body)
	}
	for i := range 60 {
		wg.Go(func() {
			r, _ := http.NewRequest("GET", "https://api.test/v1/x", nil)
			var resp *http.Response
			var err error
			if i%2 == 0 {
				resp, err = l.session.RoundTrip(r)
			} else {
				resp, err = c.Do(r)
			}
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		})
	}
	wg.Wait()
	if most.Load() > 4 {
		t.Errorf("%d requests in progress", most.Load())
	}
}

// A request that waits for another one, and is canceled, was not refused.
func TestCanceledWait(t *testing.T) {
	p := policy
	p.Limits.Connections = 1
	l := newLab(t, p, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, "GET", "https://api.test/v1/x", nil)
			if _, err := l.session.RoundTrip(r); err == nil {
				t.Error("no error")
			}
		})
	}
	wg.Wait()
	if refusals := l.session.EndRun(); len(refusals) > 0 || len(l.events) != 3 {
		t.Errorf("%q %v", refusals, l.events)
	}
}

// Bytes of programs in the host process count.
func TestLimitOfBytesInside(t *testing.T) {
	p := policy
	p.Limits.Bytes = 64 << 10
	l := newLab(t, p, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("x", 200<<10)) })
	l.session.BeginRun("c1", nil, nil)
	r, _ := http.NewRequest("GET", "https://api.test/v1/long", nil)
	resp, err := l.session.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err == nil || len(b) > 128<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// What one context was allowed, or has resolved, is not another's.
func TestSiblings(t *testing.T) {
	l := newLab(t, egress.Policy{Mode: egress.Hosts}, echo)
	l.answers = []egress.Answer{egress.AllowContext}
	other := l.gate.Session()
	defer other.Close()
	r, _ := http.NewRequest("GET", "http://api.test/", nil)
	resp, err := l.session.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp, err := other.RoundTrip(r); err == nil {
		resp.Body.Close()
		t.Error("a host that another context was allowed is reached")
	}
	query := []byte("\x01\x02\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03api\x04test\x00\x00\x01\x00\x01")
	if a := l.session.DNS(query); len(a) < 4 || a[7] != 1 {
		t.Fatalf("%q", a)
	}
	here, there := net.Pipe()
	defer here.Close()
	go other.Serve(there, netip.MustParseAddrPort("198.18.0.1:80"))
	fmt.Fprint(here, "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
	b := make([]byte, 12)
	if _, err := io.ReadFull(here, b); err != nil || string(b) != "HTTP/1.1 403" {
		t.Errorf("%q %v", b, err)
	}
}
