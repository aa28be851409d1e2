package jupyter_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

const proxyLogin = "Basic dXNlcjpwcjB4eS1zM2NyM3Q=" // user:pr0xy-s3cr3t

// A proxy is an HTTP proxy before a fake server, whatever the address that it
// is asked for.
type proxy struct {
	*httptest.Server
	plain, connects atomic.Int32
	deny            int // status of every answer
}

func newProxy(t *testing.T, s *fakeServer) *proxy {
	p := &proxy{}
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {},
		Transport: &http.Transport{DialContext: s.DialContext}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case p.deny != 0:
			w.WriteHeader(p.deny)
		case r.Header.Get("Proxy-Authorization") != proxyLogin:
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			p.connects.Add(1)
			tunnel(t, w, s)
		default:
			p.plain.Add(1)
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func tunnel(t *testing.T, w http.ResponseWriter, s *fakeServer) {
	out, err := s.DialContext(context.Background(), "", "")
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	in, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(in, out); in.Close() }()
	_, _ = io.Copy(out, in)
	out.Close()
}

// address is the proxy's, with a login.
func (p *proxy) address(login string) *url.URL {
	u, _ := url.Parse(p.URL)
	if name, pass, ok := strings.Cut(login, ":"); ok {
		u.User = url.UserPassword(name, pass)
	}
	return u
}

const goodLogin = "user:pr0xy-s3cr3t"

func runBehind(opts *jupyter.Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ci, err := jupyter.New(ctx, opts)
	if err != nil {
		return err
	}
	defer ci.Close()
	res, err := ci.RunCode(ctx, "python", "x", nil)
	if err == nil && !res.OK() {
		err = errors.New("not ok")
	}
	return err
}

// TestProxy reaches a server through a proxy that wants a login.
func TestProxy(t *testing.T) {
	s := newFake()
	defer s.Close()
	p := newProxy(t, s)
	if err := runBehind(&jupyter.Options{URL: "http://jupyter.test/", HTTPClient: by(p.address(goodLogin))}); err != nil {
		t.Fatal(err)
	}
	if p.plain.Load() == 0 || p.connects.Load() == 0 {
		t.Errorf("%d plain requests, %d tunnels", p.plain.Load(), p.connects.Load())
	}
}

// by returns a client that uses a proxy.
func by(proxy *url.URL) *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
}

// TestProxyRefuses wants the reason, and no credentials.
func TestProxyRefuses(t *testing.T) {
	s := newFake()
	defer s.Close()
	p := newProxy(t, s)
	denying := newProxy(t, s)
	denying.deny = http.StatusForbidden
	cases := []struct {
		name, url string
		proxy     *url.URL
		want      string
	}{
		{"wrong login", "http://jupyter.test/", p.address("user:wr0ng-s3cr3t"), "proxy wants a login"},
		{"wrong login, tunnel", "https://jupyter.test/", p.address("user:wr0ng-s3cr3t"), "Proxy Authentication Required"},
		{"denied, tunnel", "https://jupyter.test/", denying.address(goodLogin), "Forbidden"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := runBehind(&jupyter.Options{URL: c.url, Auth: jupyter.Auth{Token: secret}, HTTPClient: by(c.proxy), StartTimeout: time.Second})
			if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
