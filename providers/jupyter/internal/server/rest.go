package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	requestTimeout = 30 * time.Second
	maxBody        = 16 << 20
)

// url returns the address of an API path, which may carry a query.
func (c *Client) url(path string) *url.URL {
	ref, err := url.Parse(path)
	if err != nil {
		ref = &url.URL{Path: path}
	}
	return c.base.ResolveReference(ref)
}

// do makes one call of the API: in and out are JSON, either may be nil. A
// refusal is a *StatusError, failure of the transport is ErrUnavailable, and
// an expired login is renewed once.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	// Taken before the try: where another goroutine renews the login meanwhile, renew sees
	// by it that there is nothing left to do.
	gen := c.auth.gen.Load()
	resp, data, err := c.try(ctx, method, c.url(path), body, "application/json")
	if err == nil && c.auth.expired(resp, data) {
		if err := c.auth.renew(ctx, gen); err != nil {
			return err
		}
		resp, data, err = c.try(ctx, method, c.url(path), body, "application/json")
	}
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return c.refused(resp.Request, resp, data)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return Unavailable("%s %s: the answer is not what a Jupyter server sends: %s", method, path, serverText(data, c.secrets))
	}
	return nil
}

func (c *Client) try(ctx context.Context, method string, u *url.URL, body []byte, contentType string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", contentType)
	}
	maps.Copy(req.Header, c.header)
	// Last, so that no header of the caller's replaces the login.
	c.auth.apply(req.Header)
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
func (c *Client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return &transportError{host: c.base.Host, proxy: c.proxyHost(), err: err, secrets: c.secrets}
}

// A transportError is a server that could not be reached or went away.
type transportError struct {
	host, proxy string
	err         error
	secrets     *strings.Replacer // that what came in place of an answer may repeat
}

// logins are the user and password in the address of a proxy.
var logins = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s]*@`) })

func (e *transportError) Error() string {
	to := e.host
	if e.proxy != "" {
		to += " through the proxy " + e.proxy
	}
	return fmt.Sprintf("%v: no connection to %s: %s", codeinterp.ErrUnavailable, to, e.secrets.Replace(logins().ReplaceAllString(e.err.Error(), "://")))
}

func (e *transportError) Unwrap() []error { return []error{codeinterp.ErrUnavailable, e.err} }

// call is do without a body, and with a time limit of its own.
func (c *Client) call(ctx context.Context, limit time.Duration, method, path string, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		Unavailable("%s %s: no answer within %v", method, path, limit))
	defer cancel()
	return c.do(ctx, method, path, nil, out)
}

// Wait waits, or returns why ctx ended.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Starting reports whether err is what a server that is still starting gives.
func Starting(err error) bool {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Code == 502 || e.Code == 503 || e.Code == 504
	}
	var op *net.OpError
	var addr *net.AddrError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		// net/http has no exported error for this one.
		strings.Contains(err.Error(), "server closed idle connection") ||
		// A server that starts has a name already: one that is not found is a mistake,
		// as is a port that cannot be.
		errors.As(err, &op) && op.Op == "dial" && !strings.Contains(err.Error(), "no such host") && !errors.As(err, &addr)
}

// Await calls f until it does not fail as a starting server does, for at most
// the start timeout.
func (c *Client) Await(ctx context.Context, f func(context.Context) error) error {
	deadline := time.Now().Add(c.cfg.StartTimeout)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		one, cancel := context.WithTimeoutCause(ctx, min(requestTimeout, max(time.Until(deadline), time.Second)),
			Unavailable("no answer from %s", c.base.Host))
		err := f(one)
		cancel()
		if err == nil || !Starting(err) {
			return err
		}
		if time.Now().Add(pause).After(deadline) {
			if errors.Is(err, io.EOF) && c.base.Scheme == "http" {
				err = fmt.Errorf("%w; if %s speaks https, use an https:// address", err, c.base.Host)
			}
			return fmt.Errorf("%w; waited %v for the server", err, c.cfg.StartTimeout)
		}
		if why := Wait(ctx, pause); why != nil {
			return fmt.Errorf("%w; before that: %v", why, err)
		}
	}
}
