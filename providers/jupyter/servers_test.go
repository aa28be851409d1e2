//go:build linux && real

package jupyter_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// A server is a real Jupyter of one kind.
type server struct {
	kind, url, token string
	log              *jupytertest.Log
}

// A kind says how to start a server.
type kind struct {
	path string // of its URL
	jupytertest.Options
}

var kinds = map[string]kind{"server7": {"/base/", jupytertest.Options{Env: "server7", Command: jupyterServer}}}

func jupyterServer(dir string, port int) []string {
	return append(jupytertest.JupyterServer(dir, port), "--ServerApp.base_url=/base/",
		"--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=1e12", "--ZMQChannelsWebsocketConnection.iopub_msg_rate_limit=1e9")
}

// start starts a server. Its Python kernels are forked from one process if forked is
// set. It ends with the test.
func start(t testing.TB, name string, forked bool) *server {
	t.Helper()
	k := kinds[name]
	k.Forked = forked
	s := jupytertest.Start(t, &k.Options)
	return &server{name, fmt.Sprintf("http://127.0.0.1:%d%s", s.Port, k.path), jupytertest.Token, s.Log}
}

// kernels lists the ids of the kernels on a server.
func (s *server) kernels(t testing.TB) (ids []string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.url+"api/kernels", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []struct{ ID string }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		ids = append(ids, k.ID)
	}
	return ids
}

// open connects to a test server with options that fit its kind.
func open(ctx context.Context, s *server, opts jupyter.Options) (*jupyter.Stateful, error) {
	opts.URL, opts.Auth.Token = s.url, s.token
	opts.StartTimeout = cmp.Or(opts.StartTimeout, 2*time.Minute)
	if s.kind == "hub" {
		opts.Auth.Hub = &jupyter.HubOptions{}
	}
	return jupyter.NewStateful(ctx, &opts)
}

// A session is a context on a real server.
type session struct {
	t  testing.TB
	ci *jupyter.Stateful
	id codeinterp.ContextID
}

func realSession(t testing.TB, s *server, opts jupyter.Options) *session {
	t.Helper()
	ci, err := open(t.Context(), s, opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.log)
	}
	t.Cleanup(func() { _ = ci.Close() })
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, ci, id}
}

func (s *session) run(code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return s.ci.RunInContext(s.t.Context(), s.id, code, opts)
}

func (s *session) ok(code string) codeinterp.Result {
	s.t.Helper()
	res, err := s.run(code, nil)
	if err != nil || !res.OK() {
		s.t.Fatalf("%q: %+v, %v", code, res, err)
	}
	return res
}

// A cutter is a way to a server that can be cut.
type cutter struct {
	l      net.Listener
	target string

	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

// cuttable returns s as it is reached by a way that cut closes until restore is called.
func cuttable(t testing.TB, s *server) (way *server, cut func() (restore func())) {
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cutter{l: l, target: u.Host}
	go c.serve()
	u.Host = l.Addr().String()
	w := *s
	w.url = u.String()
	return &w, func() func() {
		c.set(true)
		return func() { c.set(false) }
	}
}

func (c *cutter) set(shut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = shut
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

func (c *cutter) serve() {
	for {
		near, err := c.l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.target)
		c.mu.Lock()
		if c.shut || err != nil {
			near.Close()
		}
		if err == nil {
			if c.shut {
				far.Close()
			}
			c.conns = append(c.conns, near, far)
			go pass(near, far)
			go pass(far, near)
		}
		c.mu.Unlock()
	}
}

func pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(to, from)
}
