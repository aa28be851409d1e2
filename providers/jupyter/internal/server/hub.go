package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	Progress     func(percent int, message string)
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

// EnsureServer starts the user's server if it is not running, follows the
// Hub's progress, and returns when it is ready. A token that may not ask the
// Hub leaves it to the server to tell that it is not there.
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
	ready, err := hub.serverReady(ctx, s)
	if e, ok := errors.AsType[*StatusError](err); ok && (e.Code == 403 || e.Code == 404) {
		return nil
	}
	if ready || err != nil {
		return err
	}
	var options any // the Hub's own if there are none
	if o := c.cfg.Hub.UserOptions; len(o) > 0 {
		options = o
	}
	err = hub.Await(ctx, func(ctx context.Context) error {
		return hub.do(ctx, http.MethodPost, s.path(), options, nil)
	})
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code == 400 {
		err = nil // running or pending already; the wait below finds out
	}
	if err != nil {
		return err
	}
	return hub.awaitServer(ctx, s)
}

// hubUser is the part of the Hub's user model about servers.
type hubUser struct {
	Servers map[string]struct {
		Ready   bool   `json:"ready"`
		Pending string `json:"pending"`
	} `json:"servers"`
}

func (c *Client) serverReady(ctx context.Context, s hubServer) (bool, error) {
	var u hubUser
	err := c.Await(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "users/"+url.PathEscape(s.user), nil, &u)
	})
	return u.Servers[s.server].Ready, err
}

// awaitServer follows the progress stream, if the Hub has one for us, and asks
// until the server is ready.
func (c *Client) awaitServer(ctx context.Context, s hubServer) error {
	stream, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if err := c.followProgress(stream, s); err != nil {
			failed <- err
		}
	}()
	defer func() { stop(); <-followed }()
	for {
		ready, err := c.serverReady(ctx, s)
		if ready || err != nil {
			return err
		}
		select {
		case err := <-failed:
			return err
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// followProgress reads the server-sent events of a spawn. It returns an error
// only for one that failed.
func (c *Client) followProgress(ctx context.Context, s hubServer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(s.path()+"/progress").String(), nil)
	if err != nil {
		return nil
	}
	maps.Copy(req.Header, c.header)
	c.auth.apply(req.Header, req.URL)
	// Not by do, which reads an answer to its end. What fails here shows in
	// serverReady.
	resp, err := c.http.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		return nil
	}
	lines := bufio.NewReader(io.LimitReader(resp.Body, maxBody))
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			var ev struct {
				Progress int    `json:"progress"`
				Message  string `json:"message"`
				Ready    bool   `json:"ready"`
				Failed   bool   `json:"failed"`
			}
			if json.Unmarshal([]byte(data), &ev) == nil {
				message := serverText([]byte(ev.Message), c.secrets)
				if f := c.cfg.Hub.Progress; f != nil {
					f(ev.Progress, message)
				}
				if ev.Failed {
					return Unavailable("the Hub could not start the server: %s", message)
				}
				if ev.Ready {
					return nil
				}
			}
		}
		if err != nil {
			return nil
		}
	}
}
