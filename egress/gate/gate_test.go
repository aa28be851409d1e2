package gate_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
)

var policy = egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{
	{Hosts: []string{"api.test"}, Methods: []string{"GET", "POST"}, Paths: []string{"/v1/*", "/echo/*", "/none"}, Credential: true, Ports: []int{443}},
	{Hosts: []string{"api.test"}, Ports: []int{80}},
	{Hosts: []string{"cdn.test", "*.cdn.test", "bad.test", "mixed.test", "rebind.test"}},
	{Hosts: []string{"db.test"}, Ports: []int{5432}, Raw: true},
}}

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s auth=%s body=%s", r.Proto, r.Host, r.URL.Path, r.Header.Get("Authorization"), body)
}

func get(t *testing.T, c *http.Client, u string) (int, string) {
	t.Helper()
	resp, err := c.Get(u)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// Unchanged clients reach the hosts that the policy allows: in the clear, through a
// tunnel, and inspected, over HTTP/1.1 and HTTP/2, with the credential added.
func TestClients(t *testing.T) {
	var auth string
	l := newLab(t, policy, func(w http.ResponseWriter, r *http.Request) { auth = r.Header.Get("Authorization"); echo(w, r) })
	for _, h2 := range []bool{false, true} {
		c := l.client(h2)
		for u, want := range map[string]string{
			"http://api.test/x": "HTTP/1.1 api.test /x auth= body=", "https://cdn.test/y": " cdn.test /y auth= body=", "https://api.test/v1/z": "HTTP/2.0 api.test /v1/z auth=Bearer ***",
		} {
			status, body := get(t, c, u)
			if status != 200 || !strings.Contains(body, want) || strings.Contains(body, theSecret) {
				t.Errorf("%s: %d %s", u, status, body)
			}
			if want := ""; strings.Contains(u, "/v1/") {
				want = "Bearer " + theSecret
				if auth != want {
					t.Errorf("the server got %q", auth)
				}
			}
		}
	}
	l.session.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	var seen []string
	for _, e := range l.events {
		seen = append(seen, fmt.Sprintf("%s %s:%d %s%s %v %s", e.Protocol, e.Host, e.Port, e.Method, e.Path, e.Allowed, e.Credential))
	}
	if all := strings.Join(seen, "\n"); !strings.Contains(all, "https api.test:443 GET/v1/z true key of api.test") || !strings.Contains(all, "connect cdn.test:443  true") {
		t.Errorf("events:\n%s", all)
	}
}

// What the policy does not allow is refused in words, and nothing is dialled for it.
func TestRefused(t *testing.T) {
	l := newLab(t, policy, echo)
	l.names["bad.test"] = []string{"169.254.169.254 10.0.0.1 ::1 ::ffff:127.0.0.1 64:ff9b::a00:1"}
	c := l.client(false)
	for u, want := range map[string]string{
		"http://evil.test/": "evil.test:80 is not a host", "https://evil.test/": "evil.test:443 is not a host", "http://api.test.evil.test/": "is not a host",
		"https://cdn.test:8443/": "cdn.test:8443 is not a host", "https://api.test/v2": "GET /v2 is not one", "https://api.test/v1/%2e%2e/v2": "plain form",
		"http://bad.test/": "has no public address", "https://bad.test/": "has no public address", "http://127.0.0.1/": "127.0.0.1:80 is not a host",
		"http://[::1]/": "is not a host", "http://2130706433/": "is not a host name", "http://0x7f.1/": "is not a host name", "http://db.test:5432/": "GET",
		"https://api.test/none": "credential is not available", "http://169.254.169.254/latest": "is not a host",
	} {
		if want == "GET" {
			continue
		}
		status, body := get(t, c, u)
		if status != 403 && status != 0 || !strings.Contains(body, want) || strings.Contains(body, theSecret) {
			t.Errorf("%s: %d %s", u, status, body)
		}
	}
	for _, m := range []string{"DELETE", "PUT", "TRACE", "PROPFIND"} {
		r, _ := http.NewRequest(m, "https://api.test/v1/x", nil)
		resp, err := c.Do(r)
		if err != nil || resp.StatusCode != 403 {
			t.Errorf("%s: %v %v", m, resp, err)
		}
	}
	if list := l.stray(); list != nil {
		t.Errorf("dialled %v", list)
	}
	for _, name := range l.lookups {
		if strings.Contains(name, "evil") {
			t.Errorf("looked up %s", name)
		}
	}
}

// A name that also leads to addresses that are not public, or does so the next time, is
// dialled at its public ones.
func TestRebinding(t *testing.T) {
	l := newLab(t, policy, echo)
	l.names["mixed.test"] = []string{"169.254.169.254 " + apiAddr + " 127.0.0.1"}
	l.names["rebind.test"] = []string{cdnAddr, "127.0.0.1", cdnAddr, "10.0.0.1"}
	if status, body := get(t, l.client(false), "http://mixed.test/a"); status != 200 {
		t.Errorf("mixed: %d %s", status, body)
	}
	for range 4 {
		c := l.client(false)
		get(t, c, "http://rebind.test/")
		l.raw("CONNECT rebind.test:443 HTTP/1.1\r\nHost: rebind.test\r\n\r\n", "x")
	}
	if list := l.stray(); list != nil {
		t.Errorf("dialled %v", list)
	}
}

// What is said in raw bytes: proxies in proxies, SOCKS, other protocols, and TLS hellos
// with another name or none.
func TestRaw(t *testing.T) {
	l := newLab(t, policy, echo)
	const connect = "CONNECT cdn.test:443 HTTP/1.1\r\nHost: cdn.test:443\r\n\r\n"
	socks := func(host string, port int) string {
		return "\x05\x01\x00\x03" + string(rune(len(host))) + host + string([]byte{byte(port >> 8), byte(port)})
	}
	for _, c := range []struct {
		name  string
		parts []string
		want  string
		not   string
	}{
		{"CONNECT to another", []string{"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n"}, "403 evil.test:443 is not a host", ""},
		{"CONNECT without a port", []string{"CONNECT cdn.test HTTP/1.1\r\nHost: x\r\n\r\n"}, "403 CONNECT needs", ""},
		{"CONNECT with a user", []string{"CONNECT u@cdn.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"}, " 40", "200"},
		{"bytes in a tunnel", []string{connect, "SSH-2.0-x\r\n"}, "200 Connection", "SSH"},
		{"a proxy in a tunnel", []string{connect, "CONNECT evil.test:443 HTTP/1.1\r\nHost: e\r\n\r\n"}, "403", ""},
		{"HTTP in a tunnel to 443", []string{connect, "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"}, "403 evil.test:443 is not the host connected to", ""},
		{"another Host", []string{"GET http://api.test/ HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"}, "HTTP/1.1 api.test /", "evil"},
		{"two Hosts", []string{"GET / HTTP/1.1\r\nHost: api.test\r\nHost: evil.test\r\n\r\n"}, "400 Bad Request", ""},
		{"length and chunks", []string{"POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: api.test\r\n\r\n"}, "HTTP/1.1", "smuggled"},
		{"h2c", []string{"GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n"}, "200 OK", "101"},
		{"an absolute https URL", []string{"GET https://api.test/v1/x HTTP/1.1\r\nHost: api.test\r\n\r\n"}, "403 a proxy request", ""},
		{"SOCKS5 to another", []string{"\x05\x01\x00", socks("evil.test", 443)}, "\x05\x02", "\x05\x00\x00\x01"},
		{"SOCKS5 with NUL", []string{"\x05\x01\x00", socks("cdn.test\x00.evil", 443)}, "\x05\x02", ""},
		{"SOCKS5 BIND", []string{"\x05\x01\x00", "\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50"}, "\x05\x07", ""},
		{"SOCKS5 to an address", []string{"\x05\x01\x00", "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"}, "\x05\x02", ""},
		{"SOCKS5 raw", []string{"\x05\x01\x00", socks("db.test", 5432), "ping!"}, "hello from db\ngot ping!", ""},
		{"SOCKS5 HTTP", []string{"\x05\x01\x00", socks("api.test", 80), "GET /s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n"}, "api.test /s", ""},
		{"SOCKS4", []string{"\x04\x01\x00\x50\x7f\x00\x00\x01\x00"}, "", "Z"},
		{"credential in the clear", []string{"GET http://api.test:443/v1/x HTTP/1.1\r\nHost: api.test\r\n\r\n"}, "403 its credential is sent over https only", theSecret},
	} {
		got := l.raw(c.parts...)
		if !strings.Contains(strings.ToLower(got), strings.ToLower(c.want)) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	for name, config := range map[string]*tls.Config{
		"another SNI": {ServerName: "evil.test", InsecureSkipVerify: true}, "no SNI": {InsecureSkipVerify: true},
		"an address as SNI": {ServerName: "93.184.216.35", InsecureSkipVerify: true},
	} {
		nc, err := net.Dial("tcp", l.proxy)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(nc, connect)
		if _, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil {
			t.Fatal(err)
		}
		if err := tls.Client(nc, config).Handshake(); err == nil || !strings.Contains(err.Error(), "access denied") {
			t.Errorf("%s: %v", name, err)
		}
		nc.Close()
	}
	if list := l.stray(); list != nil {
		t.Errorf("dialled %v", list)
	}
}

// Within inspected TLS, a request for another host is refused (fronting), over both
// versions of HTTP.
func TestFronting(t *testing.T) {
	l := newLab(t, policy, echo)
	for _, h2 := range []bool{false, true} {
		r, _ := http.NewRequest("GET", "https://api.test/v1/x", nil)
		r.Host = "evil.test"
		resp, err := l.client(h2).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 403 || !strings.Contains(string(b), "is not the host connected to") {
			t.Errorf("%d %s", resp.StatusCode, b)
		}
	}
}

// A redirect is a new request of the program's own.
func TestRedirect(t *testing.T) {
	l := newLab(t, policy, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://evil.test/take", http.StatusFound)
	})
	c := l.client(true)
	c.CheckRedirect = nil
	if status, body := get(t, c, "https://api.test/v1/x"); !strings.Contains(body, "evil.test:443 is not a host") {
		t.Errorf("%d %s", status, body)
	}
}

// A program that knows of no proxy asks DNS, and connects to the address that it gets.
func TestTransparent(t *testing.T) {
	l := newLab(t, policy, echo)
	query := func(name string, kind byte) []byte {
		b := []byte{1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
		for label := range strings.SplitSeq(name, ".") {
			b = append(append(b, byte(len(label))), label...)
		}
		return append(b, 0, 0, kind, 0, 1)
	}
	address := func(name string) netip.Addr {
		a := l.session.DNS(query(name, 1))
		if len(a) < 16 || a[7] != 1 {
			t.Fatalf("%s: %x", name, a)
		}
		return netip.AddrFrom4([4]byte(a[len(a)-4:]))
	}
	if a := l.session.DNS(query("secret.evil.test", 1)); a[3]&15 != 3 || a[7] != 0 {
		t.Errorf("evil: %x", a)
	}
	if a := l.session.DNS(query("api.test", 16)); a[3]&15 != 0 || a[7] != 0 {
		t.Errorf("TXT: %x", a)
	}
	if len(l.lookups) != 0 {
		t.Errorf("looked up %v", l.lookups)
	}
	talk := func(dst netip.AddrPort, parts ...string) string {
		here := listen(t, func(c net.Conn) { l.session.Serve(c, dst) })
		nc, err := net.Dial("tcp", here)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		return converse(t, nc, parts...)
	}
	api, cdn := address("api.test"), address("cdn.test")
	if api == cdn || address("api.test") != api || !gate.Addresses.Contains(api) {
		t.Errorf("addresses %s %s", api, cdn)
	}
	const request = "GET /t HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n"
	for _, c := range []struct {
		dst  netip.AddrPort
		send string
		want string
	}{
		{netip.AddrPortFrom(api, 80), request, "api.test /t"},
		{netip.AddrPortFrom(cdn, 80), request, "403 api.test:80 is not the host connected to"},
		{netip.AddrPortFrom(address("db.test"), 5432), "ping!", "hello from db\ngot ping!"},
		{netip.AddrPort{}, "\x00\x1a" + string(query("api.test", 1)), string(api.AsSlice())},
		{netip.AddrPort{}, "\xff\xff", ""},
	} {
		if got := talk(c.dst, c.send); !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %q", c.dst, c.send, got)
		}
	}
}

// A run can only narrow the policy: for requests on connections of earlier runs too,
// whose tunnels are closed.
func TestNarrow(t *testing.T) {
	l := newLab(t, policy, echo)
	c := l.client(false)
	l.session.BeginRun("c1", nil, nil)
	if status, body := get(t, c, "http://api.test/"); status != 200 {
		t.Fatal(status, body)
	}
	tunnel, err := net.Dial("tcp", l.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	fmt.Fprint(tunnel, "\x05\x01\x00")
	_, _ = io.ReadFull(tunnel, make([]byte, 2))
	fmt.Fprint(tunnel, "\x05\x01\x00\x03\x07db.test\x15\x38")
	_, _ = io.ReadFull(tunnel, make([]byte, 10+len("hello from db\n")))
	l.session.BeginRun("c1", &codeinterp.NetworkLimit{Hosts: []string{"cdn.test", "evil.test"}}, nil)
	for u, want := range map[string]string{"http://api.test/": "api.test:80 is not a host that this run may reach", "http://evil.test/": "is not a host", "http://cdn.test/ok": "/ok"} {
		if _, body := get(t, c, u); !strings.Contains(body, want) {
			t.Errorf("%s: %s", u, body)
		}
	}
	_ = tunnel.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := tunnel.Read(make([]byte, 1)); err == nil {
		t.Errorf("the tunnel of run 1 is open: %d", n)
	}
	l.session.BeginRun("c1", &codeinterp.NetworkLimit{Off: true}, nil)
	if _, body := get(t, c, "http://cdn.test/"); !strings.Contains(body, "may reach") {
		t.Error(body)
	}
	if refusals := l.session.EndRun(); len(refusals) != 1 || refusals[0] != "cdn.test:80 is not a host that this run may reach" {
		t.Errorf("refusals %q", refusals)
	}
	// What the run has left running keeps its limit.
	if _, body := get(t, c, "http://api.test/"); !strings.Contains(body, "may reach") {
		t.Error(body)
	}
	l.session.BeginRun("c1", nil, nil)
	if status, body := get(t, c, "http://api.test/"); status != 200 {
		t.Error(status, body)
	}
}

// A host that no rule allows can be approved: once, or for the context.
func TestApprove(t *testing.T) {
	l := newLab(t, egress.Policy{Mode: egress.Hosts}, echo)
	l.answers = []egress.Answer{egress.Refuse, egress.AllowOnce, egress.AllowContext}
	s := l.session
	s.BeginRun("c1", nil, nil)
	var got []int
	for range 4 {
		r, _ := http.NewRequest("GET", "http://api.test/", nil)
		resp, err := s.RoundTrip(r)
		if err != nil {
			got = append(got, 0)
			continue
		}
		got = append(got, resp.StatusCode)
		resp.Body.Close()
	}
	if fmt.Sprint(got) != "[0 200 200 200]" || len(l.asked) != 3 || l.asked[0] != (egress.Question{Context: "c1", Host: "api.test", Port: 80}) {
		t.Errorf("%v %v", got, l.asked)
	}
	// Nothing is asked about what is refused anyway.
	l.answers = []egress.Answer{egress.AllowContext}
	l.names["localhost"] = []string{"127.0.0.1"}
	for _, u := range []string{"http://localhost/", "http://169.254.169.254/", "http://10.0.0.1/", "http://127.0.0.1/", "http://[fe80::1]/", "http://[::ffff:192.168.0.1]/"} {
		if _, body := get(t, l.client(false), u); !strings.Contains(body, "public address") {
			t.Errorf("%s: %s", u, body)
		}
	}
	if len(l.asked) != 3 || l.stray() != nil {
		t.Errorf("%v %v", l.asked, l.stray())
	}
}

// Limits hold: connections open at a time, and bytes of a run.
func TestLimits(t *testing.T) {
	p := policy
	p.Limits = egress.Limits{Connections: 3, Bytes: 64 << 10}
	l := newLab(t, p, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("x", 100<<10)) })
	l.session.BeginRun("c1", nil, nil)
	if _, body := get(t, l.client(false), "https://cdn.test/"); len(body) > 64<<10 {
		t.Errorf("%d bytes", len(body))
	}
	ended := make(chan error, 8)
	for range 8 {
		c, err := net.Dial("tcp", l.proxy)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
	}
	for n := range 5 {
		if err := <-ended; err != io.EOF {
			t.Fatalf("%d of 8 connections were closed: %v", n, err)
		}
	}
}
