// Package gate enforces an [egress.Policy]: it answers the connections of programs,
// which have no other way out, and makes those that the policy allows.
//
//	g, err := gate.New(&egress.Options{Policy: policy, Secrets: secrets})
//	s := g.Session()
//	s.Serve(conn, dst) // for each connection of the program
//
// A Session answers HTTP proxy requests, CONNECT (RFC 9110), SOCKS5 (RFC 1928), and
// connections of programs that know of no proxy, whose addresses stand for the names
// that the session's DNS has answered. The gate opens no port; a provider brings the
// connections. Programs inside the host process use [Session.RoundTrip].
package gate

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// How long the gate waits for a program's first byte, for the head of a request, for
// a server's connection and for the head of its answer.
const (
	helloTime  = time.Minute
	dialTime   = 30 * time.Second
	answerTime = 5 * time.Minute
	maxHeader  = 64 << 10
)

// A Gate enforces one policy. Its methods may be called concurrently.
type Gate struct {
	policy   egress.Policy
	opts     egress.Options
	ca       *authority // nil where nothing is inspected
	bundle   string     // file of WriteBundle
	server   http.Server
	conns    queue // of the server
	inner    *tls.Config
	upstream http.Transport
}

// New returns a gate. Close ends it.
func New(opts *egress.Options) (*Gate, error) {
	p := opts.Policy
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Mode == egress.Host {
		return nil, fmt.Errorf("%w: the mode host has no gate", egress.ErrPolicy)
	}
	p.Limits.Connections = cmp.Or(p.Limits.Connections, 64)
	g := &Gate{policy: p, opts: *opts, conns: newQueue()}
	g.setDefaults()
	for i := range p.Rules {
		if p.Rules[i].Credential && g.opts.Secrets == nil {
			return nil, fmt.Errorf("%w: rule %d needs a credential, and there are no secrets", egress.ErrPolicy, i+1)
		}
		if p.Rules[i].Inspects() && g.ca == nil {
			var err error
			if g.ca, err = newAuthority(); err != nil {
				return nil, err
			}
		}
	}
	protocols := []string{"h2", "http/1.1"}
	if g.ca != nil {
		g.inner = &tls.Config{NextProtos: protocols, GetCertificate: g.ca.certificate}
	}
	g.upstream = http.Transport{
		DialContext: g.dialRequest, TLSClientConfig: &tls.Config{RootCAs: g.opts.RootCAs}, ForceAttemptHTTP2: true,
		DisableCompression: true, MaxIdleConnsPerHost: 4, MaxIdleConns: 64, IdleConnTimeout: 30 * time.Second,
		ResponseHeaderTimeout: answerTime, MaxResponseHeaderBytes: 1 << 20, TLSHandshakeTimeout: dialTime,
	}
	g.server = http.Server{
		Handler: http.HandlerFunc(g.serve), ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: maxHeader,
		TLSConfig: &tls.Config{NextProtos: protocols}, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100},
		ReadHeaderTimeout: helloTime, IdleTimeout: 5 * time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if t, ok := c.(*tls.Conn); ok {
				c = t.NetConn()
			}
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	go func() { _ = g.server.Serve(g.conns) }()
	return g, nil
}

func (g *Gate) setDefaults() {
	if g.opts.Lookup == nil {
		g.opts.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if g.opts.Dial == nil {
		d := &net.Dialer{Timeout: dialTime / 3}
		g.opts.Dial = func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
			return d.DialContext(ctx, "tcp", a.String())
		}
	}
}

type connKey struct{} // of a *conn

// Close ends every connection, and removes what WriteBundle has written. A nil Gate has
// nothing to close.
func (g *Gate) Close() error {
	if g == nil {
		return nil
	}
	_ = g.server.Close()
	g.upstream.CloseIdleConnections()
	if g.bundle == "" {
		return nil
	}
	return os.RemoveAll(filepath.Dir(g.bundle))
}

// Ports returns the ports that the policy has rules for, 80 and 443 first.
func (g *Gate) Ports() []int {
	ports := []int{80, 443}
	for _, r := range g.policy.Rules {
		for _, p := range r.Ports {
			if !slices.Contains(ports, p) {
				ports = append(ports, p)
			}
		}
	}
	return ports
}

// A target is where a connection or a request leads.
type target struct {
	host    string
	port    int
	tls     bool
	settled bool // against the policy
	rules   egress.Rules
	addrs   []netip.Addr // resolved and checked, if that came first
}

// authority is the target as in a URL.
func (t *target) authority() string {
	if !t.tls && t.port == 80 || t.tls && t.port == 443 {
		if isAddress(t.host) && net.ParseIP(t.host).To4() == nil {
			return "[" + t.host + "]"
		}
		return t.host
	}
	return net.JoinHostPort(t.host, strconv.Itoa(t.port))
}

func isAddress(host string) bool { return net.ParseIP(host) != nil }

// resolve returns the addresses of a host that may be dialled.
func (g *Gate) resolve(ctx context.Context, t *target) ([]netip.Addr, error) {
	no := &egress.Refusal{Host: t.host, Port: t.port, Reason: "has no public address, and no rule lists the addresses that it has"}
	var list []netip.Addr
	if a, err := netip.ParseAddr(t.host); err == nil {
		list, no.Reason = []netip.Addr{a}, "is not a public address, and no rule lists it"
	} else if list, err = call(func() ([]netip.Addr, error) { return g.opts.Lookup(ctx, t.host) }); err != nil {
		return nil, &egress.Refusal{Host: t.host, Reason: "cannot be resolved"}
	}
	var good []netip.Addr
	for _, a := range list {
		listed, ok := g.policy.Reachable(a, t.rules)
		if ok && (listed || !own(a)) {
			good = append(good, a.Unmap())
		}
	}
	if len(good) == 0 {
		return nil, no
	}
	return good, nil
}

// own reports whether an address is one of this machine's.
func own(a netip.Addr) bool {
	list, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(list, func(n net.Addr) bool { // not known: as if it was
		p, err := netip.ParsePrefix(n.String())
		return err == nil && p.Addr() == a.Unmap()
	})
}

// dial connects to a target.
func (g *Gate) dial(ctx context.Context, t *target) (c net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	addrs := t.addrs
	if addrs == nil {
		if addrs, err = g.resolve(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, a := range addrs {
		if c, err = call(func() (net.Conn, error) { return g.opts.Dial(ctx, netip.AddrPortFrom(a, uint16(t.port))) }); err == nil {
			return c, nil
		}
	}
	return nil, err
}

type targetKey struct{} // of a request's *target

// dialRequest is the dial of the transport.
func (g *Gate) dialRequest(ctx context.Context, _, _ string) (net.Conn, error) {
	t, ok := ctx.Value(targetKey{}).(*target)
	if !ok {
		return nil, errors.New("a request without its target")
	}
	return g.dial(ctx, t)
}
