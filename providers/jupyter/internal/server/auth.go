package server

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// auth puts credentials on requests: a token, or the cookies of a login.
type auth struct {
	c        *Client
	token    string
	password string

	turn sync.Mutex   // of logins, each of which can take long
	gen  atomic.Int64 // counts them
}

func newAuth(cfg *Config, c *Client) *auth {
	return &auth{c: c, token: cfg.Token, password: cfg.Password}
}

// apply puts the credentials on a request.
func (a *auth) apply(h http.Header) {
	if a.token != "" {
		h.Set("Authorization", "token "+a.token)
	} else if x := a.xsrf(); x != "" {
		h.Set("X-XSRFToken", x)
	}
}

// xsrf returns the token that a server without a token wants back on writes.
func (a *auth) xsrf() string {
	for _, ck := range a.c.http.Jar.Cookies(a.c.base) {
		if ck.Name == "_xsrf" {
			return ck.Value
		}
	}
	return ""
}

// expired reports whether a response asks for a login, or for the _xsrf
// cookie, that we can provide.
func (a *auth) expired(resp *http.Response, body []byte) bool {
	if a.token != "" {
		return false
	}
	// The cookie comes with any page; the first write to such a server has none yet.
	if resp.StatusCode == 403 && bytes.Contains(body, []byte("_xsrf")) {
		return true
	}
	if a.password == "" {
		return false
	}
	loc, _ := resp.Location()
	return resp.StatusCode == 401 || resp.StatusCode == 403 ||
		resp.StatusCode == 302 && loc != nil && strings.Contains(loc.Path, "login")
}

// renew logs in, unless that happened since the caller looked at gen.
func (a *auth) renew(ctx context.Context, gen int64) error {
	a.turn.Lock()
	defer a.turn.Unlock()
	if a.gen.Load() != gen {
		return nil
	}
	page := "login"
	if a.password == "" {
		// Without a password any page gives the _xsrf cookie.
		page = ""
	}
	u := a.c.url(page)
	resp, data, err := a.c.try(ctx, http.MethodGet, u, nil, "")
	if err != nil {
		return err
	}
	if a.password != "" {
		if resp.StatusCode != 200 {
			return a.c.refused(resp.Request, resp, data)
		}
		if err := a.post(ctx, u); err != nil {
			return err
		}
	}
	a.gen.Add(1)
	return nil
}

// post sends the login form.
func (a *auth) post(ctx context.Context, u *url.URL) error {
	form := url.Values{"password": {a.password}, "_xsrf": {a.xsrf()}}
	resp, _, err := a.c.try(ctx, http.MethodPost, u, []byte(form.Encode()), "application/x-www-form-urlencoded")
	if err != nil {
		return err
	}
	// Jupyter's servers redirect after a login, and show the form again where it
	// failed.
	if resp.StatusCode != http.StatusFound {
		e := a.c.refused(resp.Request, resp, nil)
		e.Hint = "the password is wrong, or the server has no password login"
		return e
	}
	return nil
}
