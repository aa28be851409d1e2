package gate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
)

// A lab has servers on loopback that answer for names with public addresses, a gate, and
// a proxy's port in front of one session.
type lab struct {
	t       *testing.T
	gate    *gate.Gate
	session *gate.Session
	proxy   string
	roots   *x509.CertPool
	names   map[string][]string // by name, addresses of one look-up each, space separated
	servers map[string]string   // by address and port, the server's own

	mu      sync.Mutex
	lookups []string
	dialled []string
	events  []egress.Event
	asked   []egress.Question
	answers []egress.Answer
}

func (l *lab) approve(_ context.Context, q egress.Question) egress.Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.answers) == 0 {
		return egress.Refuse
	}
	l.asked = append(l.asked, q)
	a := l.answers[0]
	l.answers = l.answers[1:]
	return a
}

const (
	apiAddr   = "93.184.216.34"
	cdnAddr   = "93.184.216.35"
	dbAddr    = "93.184.216.36"
	theSecret = "sk-12345-ABCDEF-67890/+=x"
)

// newLab starts a lab for a policy. The server api.test answers by handler, over HTTP
// and TLS, as does cdn.test; db.test speaks first.
func newLab(t *testing.T, p egress.Policy, handler http.HandlerFunc) *lab {
	l := &lab{t: t, roots: x509.NewCertPool(), servers: map[string]string{}, names: map[string][]string{
		"api.test": {apiAddr}, "cdn.test": {cdnAddr}, "db.test": {dbAddr}, "x.api.test": {apiAddr},
	}}
	plain := httptest.NewServer(handler)
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(handler)
	secure.EnableHTTP2 = true
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(t, l.roots, "api.test", "x.api.test", "cdn.test")}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, a := range []string{apiAddr, cdnAddr} {
		l.servers[a+":80"], l.servers[a+":443"] = plain.Listener.Addr().String(), secure.Listener.Addr().String()
	}
	db := listen(t, func(c net.Conn) {
		fmt.Fprint(c, "hello from db\n")
		var b [5]byte
		n, _ := c.Read(b[:])
		fmt.Fprintf(c, "got %s\n", b[:n])
	})
	l.servers[dbAddr+":5432"] = db

	o := &egress.Options{Policy: p, Secrets: l, OnEvent: l.event, Lookup: l.lookup, Dial: l.dial, RootCAs: l.roots}
	if p.Rules == nil {
		o.Approve = l.approve
	}
	g, err := gate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	l.gate = g
	l.session = g.Session()
	t.Cleanup(l.session.Close)
	l.proxy = listen(t, func(c net.Conn) { l.session.Serve(c, netip.AddrPort{}) })
	return l
}

// listen serves each connection on its own goroutine.
func listen(t *testing.T, serve func(net.Conn)) string {
	n, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	go func() {
		for {
			c, err := n.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return n.Addr().String()
}

func (l *lab) For(_ context.Context, host, _, path string) (egress.Credential, error) {
	if path == "/none" {
		return egress.Credential{}, errors.New("vault is locked: " + theSecret)
	}
	return egress.Bearer("key of "+host, theSecret), nil
}

func (l *lab) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookups = append(l.lookups, host)
	answers := l.names[host]
	if len(answers) == 0 {
		return nil, errors.New("no such host")
	}
	if len(answers) > 1 {
		l.names[host] = answers[1:]
	}
	var list []netip.Addr
	for a := range strings.FieldsSeq(answers[0]) {
		list = append(list, netip.MustParseAddr(a))
	}
	return list, nil
}

func (l *lab) dial(_ context.Context, a netip.AddrPort) (net.Conn, error) {
	l.mu.Lock()
	l.dialled = append(l.dialled, a.String())
	to := l.servers[a.String()]
	l.mu.Unlock()
	if to == "" {
		return nil, errors.New("no route in the lab")
	}
	return net.Dial("tcp", to)
}

func (l *lab) event(e egress.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// stray returns what was dialled beside the addresses of the lab's servers.
func (l *lab) stray() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.dialled {
		if l.servers[a] == "" {
			list = append(list, a)
		}
	}
	return list
}

// client returns a client that uses the proxy and trusts the gate.
func (l *lab) client(http2 bool) *http.Client {
	pool := l.roots.Clone()
	pool.AppendCertsFromPEM(l.gate.Certificate())
	proxy := &url.URL{Scheme: "http", Host: l.proxy}
	tr := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2, DisableCompression: true}
	l.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// raw sends bytes to the proxy and returns all that it answers.
func (l *lab) raw(parts ...string) string {
	l.t.Helper()
	c, err := net.Dial("tcp", l.proxy)
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	return converse(l.t, c, parts...)
}
