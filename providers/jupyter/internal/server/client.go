// Package server is a client of one Jupyter server: its REST API and login, the Hub that
// starts it, and the handshake of its kernels' sockets.
package server

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Config is the address and the credentials of a server. The fields are those of the
// provider's Options.
type Config struct {
	URL        string
	Token      string
	Password   string
	Header     http.Header
	HTTPClient *http.Client

	Hub          *Hub
	KernelEnv    map[string]string
	StartTimeout time.Duration
}

// A Client talks to one server's REST API. It may be used from any goroutine.
type Client struct {
	base   *url.URL
	http   *http.Client
	cfg    *Config
	auth   *auth
	header http.Header

	transport *http.Transport // of the REST calls, or what sockets take in its place

	secrets *strings.Replacer // takes credentials out of what the server says
}

// New returns a client, which is not connected yet.
func New(cfg Config) (*Client, error) {
	base, token, err := baseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	if cfg.Token == "" && cfg.Password == "" {
		cfg.Token = token
	}
	h := &http.Client{}
	if cfg.HTTPClient != nil {
		// A copy: the caller's own keeps its redirect policy and its cookies.
		*h = *cfg.HTTPClient
	} else {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 4
		h.Transport = t
	}
	// A followed redirect would turn a POST into a GET of a login page.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if h.Jar == nil {
		h.Jar, _ = cookiejar.New(nil)
	}
	c := &Client{base: base, http: h, cfg: &cfg, header: cfg.Header, secrets: secretsOf(&cfg)}
	c.auth = newAuth(&cfg, c)
	if c.transport, _ = h.Transport.(*http.Transport); c.transport == nil {
		c.transport = http.DefaultTransport.(*http.Transport)
	}
	return c, nil
}

// Close drops idle connections, of our own transport only.
func (c *Client) Close() {
	if c.cfg.HTTPClient == nil {
		c.http.CloseIdleConnections()
	}
}

// proxyHost is the host of the proxy on the way to the server, if there is one.
func (c *Client) proxyHost() string {
	if f := c.transport.Proxy; f != nil {
		if u, err := f(&http.Request{URL: c.base}); err == nil && u != nil {
			return u.Host
		}
	}
	return ""
}

// documentPages precede the path of an open notebook in a browser's address, the longer
// ones first.
var documentPages = [...]string{"/lab/tree/", "/lab/workspaces/", "/doc/tree/", "/notebooks/", "/edit/", "/tree/"}

// baseURL returns the server's base, with a path that ends with a slash, and
// the token that the address carried.
func baseURL(raw string) (*url.URL, string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, "", fmt.Errorf("%w: the server's address is %q, and must be like http://host:8888/base/path", codeinterp.ErrInvalid, shown(raw))
	}
	token := u.Query().Get("token")
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.JoinPath("/").ResolveReference(&url.URL{Path: basePath(u.Path) + "/"}), token, nil
}

// shown is the part of an address that holds no token, user or password.
func shown(raw string) string {
	raw, _, _ = strings.Cut(strings.TrimSpace(raw), "?")
	raw, _, _ = strings.Cut(raw, "#")
	return raw[strings.LastIndexByte(raw, '@')+1:]
}

// basePath removes the path of a page.
func basePath(path string) string {
	path = strings.TrimRight(path, "/")
	for _, page := range documentPages {
		if base, _, found := strings.Cut(path, page); found {
			return base
		}
	}
	for _, page := range []string{"/lab", "/tree", "/api"} {
		path = strings.TrimSuffix(path, page)
	}
	return path
}
