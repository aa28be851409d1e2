package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Hub says how to start a user's server through the Hub API.
type Hub struct {
	API          string
	User, Server string
	UserOptions  map[string]any
}

// hubServer is the user server that the path of the base names.
type hubServer struct {
	api          *url.URL
	user, server string
}

func (c *Client) hubServer() (hubServer, error) {
	h := c.cfg.Hub
	before, rest, ok := strings.Cut(c.base.EscapedPath(), "/user/")
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	s := hubServer{user: h.User, server: h.Server}
	if ok && s.user == "" {
		// The parts were taken from the escaped path, since a name may have a slash in it.
		s.user, _ = url.PathUnescape(parts[0])
		if len(parts) > 1 && s.server == "" {
			s.server, _ = url.PathUnescape(parts[1])
		}
	}
	api := h.API
	if api == "" && ok {
		api = c.base.Scheme + "://" + c.base.Host + before + "/hub/api/"
	}
	u, err := url.Parse(strings.TrimRight(api, "/") + "/")
	if err != nil || u.Host == "" || s.user == "" {
		return s, fmt.Errorf("%w: Options.Hub needs API and User where the URL has no /user/NAME/", codeinterp.ErrInvalid)
	}
	s.api = u
	return s, nil
}

// path is the Hub's resource for the server.
func (s hubServer) path() string {
	p := "users/" + url.PathEscape(s.user) + "/server"
	if s.server != "" {
		p += "s/" + url.PathEscape(s.server)
	}
	return p
}

// EnsureServer starts the user's server if it is not running, and returns when it is
// ready. With a token that may not ask the Hub it does nothing.
func (c *Client) EnsureServer(ctx context.Context) error {
	if c.cfg.Hub == nil {
		return nil
	}
	s, err := c.hubServer()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.StartTimeout,
		Unavailable("the Hub started no server within %v", c.cfg.StartTimeout))
	defer cancel()
	hub := *c
	hub.base = s.api
	var options any // the Hub's own if there are none
	if o := c.cfg.Hub.UserOptions; len(o) > 0 {
		options = o
	}
	err = hub.Await(ctx, func(ctx context.Context) error {
		return hub.do(ctx, http.MethodPost, s.path(), options, nil)
	})
	if e, ok := errors.AsType[*StatusError](err); ok && (e.Code == 403 || e.Code == 404) {
		return nil
	} else if err != nil && !(ok && e.Code == 400) { // 400: it runs, or is starting
		return err
	}
	for began := false; ; {
		ready, pending, err := hub.serverState(ctx, s)
		if ready || err != nil {
			return err
		}
		if began && !pending {
			return Unavailable("the Hub could not start the server")
		}
		began = began || pending
		if err := Wait(ctx, hubPause); err != nil {
			return err
		}
	}
}

// hubPause is the time between two questions whether a server has started.
const hubPause = 300 * time.Millisecond

// serverState reports whether the server runs, and whether it is being started.
func (c *Client) serverState(ctx context.Context, s hubServer) (ready, pending bool, err error) {
	var user struct {
		Servers map[string]struct {
			Ready bool `json:"ready"`
		} `json:"servers"`
	}
	err = c.Await(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "users/"+url.PathEscape(s.user), nil, &user)
	})
	server, known := user.Servers[s.server]
	return server.Ready, known && !server.Ready, err
}
