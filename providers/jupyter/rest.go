package jupyter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	requestTimeout = 30 * time.Second
	maxBody        = 16 << 20
)

// A client talks to one server's REST API. Kernels, and whatever else speaks
// to the server, share it with its connection settings and its login.
type client struct {
	base   *url.URL
	http   *http.Client
	opts   *Options
	auth   *auth
	header http.Header
}

func newClient(opts *Options) (*client, error) {
	base, token, err := baseURL(opts.URL)
	if err != nil {
		return nil, err
	}
	if opts.Token == "" && opts.Password == "" {
		opts.Token = token
	}
	h := &http.Client{}
	if opts.HTTPClient != nil {
		*h = *opts.HTTPClient
	} else {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 4
		if opts.TLS != nil {
			t.TLSClientConfig = opts.TLS.Clone()
		}
		if opts.Proxy != nil {
			t.Proxy = opts.Proxy
		}
		if opts.DialContext != nil {
			t.DialContext = opts.DialContext
		}
		h.Transport = t
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if h.Jar == nil {
		h.Jar, _ = cookiejar.New(nil)
	}
	c := &client{base: base, http: h, opts: opts, header: opts.Header}
	c.auth = newAuth(opts, c)
	return c, nil
}

// close drops idle connections, of our own transport only.
func (c *client) close() {
	if c.opts.HTTPClient == nil {
		c.http.CloseIdleConnections()
	}
}

// url returns the address of an API path, which may carry a query.
func (c *client) url(path string) *url.URL {
	ref, err := url.Parse(path)
	if err != nil {
		ref = &url.URL{Path: path}
	}
	return c.base.ResolveReference(ref)
}

// do makes one call of the API: in and out are JSON, either may be nil. A
// refusal is a *StatusError, failure of the transport is ErrUnavailable, and
// an expired login is renewed once.
func (c *client) do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	gen := c.auth.generation()
	resp, data, err := c.try(ctx, method, c.url(path), body)
	if err == nil && c.auth.expired(resp, data) {
		if err := c.auth.renew(ctx, gen); err != nil {
			return err
		}
		resp, data, err = c.try(ctx, method, c.url(path), body)
	}
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return refused(resp.Request, c.base.Path, resp, data)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return unavailable("%s %s: the answer is not what a Jupyter server sends: %s", method, path, serverText(data))
	}
	return nil
}

func (c *client) try(ctx context.Context, method string, u *url.URL, body []byte) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	c.auth.apply(req.Header, req.URL)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.transportError(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, nil, c.transportError(ctx, err)
	}
	return resp, data, nil
}

// transportError keeps the cause of a failed exchange and leaves out its URL,
// which can carry a token.
func (c *client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return &transportError{host: c.base.Host, proxy: c.proxyHost(), err: err}
}

// proxy is how the proxy of a request is found.
func (c *client) proxy() func(*http.Request) (*url.URL, error) {
	if c.opts.Proxy != nil {
		return c.opts.Proxy
	}
	if t, ok := c.http.Transport.(*http.Transport); ok {
		return t.Proxy
	}
	return http.ProxyFromEnvironment
}

// proxyHost is the host of the proxy on the way to the server, if there is one.
func (c *client) proxyHost() string {
	if f := c.proxy(); f != nil {
		if u, err := f(&http.Request{URL: c.base}); err == nil && u != nil {
			return u.Host
		}
	}
	return ""
}

// A transportError is a server that could not be reached or went away.
type transportError struct {
	host, proxy string
	err         error
}

// logins are the user and password in the address of a proxy.
var logins = regexp.MustCompile(`://[^/\s]*@`)

func (e *transportError) Error() string {
	to := e.host
	if e.proxy != "" {
		to += " through the proxy " + e.proxy
	}
	return fmt.Sprintf("%v: no connection to %s: %s", codeinterp.ErrUnavailable, to, logins.ReplaceAllString(e.err.Error(), "://"))
}

func (e *transportError) Unwrap() []error { return []error{codeinterp.ErrUnavailable, e.err} }

// call is do with a time limit of its own, and goes on when ctx is canceled:
// for requests that clean up.
func (c *client) call(ctx context.Context, limit time.Duration, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), limit,
		unavailable("%s %s: no answer within %v", method, path, limit))
	defer cancel()
	return c.do(ctx, method, path, in, out)
}

// starting reports whether err is what a server that is still starting gives.
func starting(err error) bool {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Code == 502 || e.Code == 503 || e.Code == 504
	}
	var op *net.OpError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "server closed idle connection") ||
		errors.As(err, &op) && op.Op == "dial" && !strings.Contains(err.Error(), "no such host")
}

// await calls f until it does not fail as a starting server does, for at most
// the start timeout.
func (c *client) await(ctx context.Context, f func(context.Context) error) error {
	deadline := time.Now().Add(c.opts.StartTimeout)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		one, cancel := context.WithTimeoutCause(ctx, min(requestTimeout, max(time.Until(deadline), time.Second)),
			unavailable("no answer from %s", c.base.Host))
		err := f(one)
		cancel()
		if err == nil || !starting(err) {
			return err
		}
		if time.Now().Add(pause).After(deadline) {
			return fmt.Errorf("%w; waited %v for the server", err, c.opts.StartTimeout)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w; before that: %v", context.Cause(ctx), err)
		}
	}
}
