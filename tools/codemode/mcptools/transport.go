package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
)

// inherited are the variables that every server gets.
var inherited = []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
	// on Windows
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA",
	"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"}

// environ returns the environment of a server with the given variables of its own.
func environ(own map[string]string) (env []string) {
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) { // the last of a name counts
		env = append(env, name+"="+own[name])
	}
	return env
}

// dial returns a transport to the server, and a function that ends its process.
func (s *server) dial() (t mcp.Transport, end func(), err error) {
	var stray sync.Once
	repair := &repairer{note: func(line []byte) {
		stray.Do(func() {
			s.set.opts.Logger.Warn("an MCP server prints lines that are not messages; they are skipped", "server", s.Name, "first", s.clean(string(line[:min(len(line), 400)]), 100))
		})
	}}
	if s.Server.transport != nil {
		return s.Server.transport(repair)
	}
	if s.URL != "" {
		t, err = s.web(repair)
		return t, func() {}, err
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = environ(s.Env), s.Dir, s.set.opts.Stderr
	cmd.WaitDelay = time.Second // its children may hold its output open
	ownGroup(cmd)
	p := &process{cmd: cmd, grace: s.set.opts.grace, repair: repair, done: make(chan struct{})}
	return p, func() { p.Close() }, nil
}

// A process is the transport to a server that it starts. It differs from
// mcp.CommandTransport in that it skips output that is not a message, notices the end of
// the process, and ends the process group.
type process struct {
	cmd    *exec.Cmd
	grace  time.Duration // for the server to end after each step of Close
	repair *repairer
	stdin  io.WriteCloser
	done   chan struct{} // closed once the process was waited for
	mu     sync.Mutex
	ended  bool
}

// Connect implements mcp.Transport.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	out, theirs := io.Pipe()
	p.cmd.Stdout = theirs
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	go func() { // ends with the process
		p.cmd.Wait()
		p.mu.Lock()
		endGroup(p.cmd)
		p.ended = true
		p.mu.Unlock()
		close(p.done)
		theirs.Close()
	}()
	return (&mcp.IOTransport{Reader: p.repair.lines(out, p), Writer: p.stdin, MaxLineLength: -1}).Connect(ctx)
}

// Close ends the server as MCP specifies: it closes its input, terminates it, kills it.
func (p *process) Close() error {
	if p.cmd.Process == nil {
		return nil
	}
	p.stdin.Close()
	for _, next := range []func(*exec.Cmd){terminate, endGroup, nil} {
		select {
		case <-p.done:
			return nil
		case <-time.After(p.grace):
		}
		p.mu.Lock()
		if next != nil && !p.ended {
			next(p.cmd)
		}
		p.mu.Unlock()
	}
	return errors.New("the server's process does not end")
}

// web returns the transport of a server over HTTP.
func (s *server) web(repair *repairer) (mcp.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: %.200q is not an http or https URL", codeinterp.ErrInvalid, s.URL)
	}
	client := &http.Client{Transport: &webClient{scheme: u.Scheme, host: u.Host, headers: s.Headers, repair: repair}}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// A webClient sends requests with headers to one host only, and repairs the answers.
type webClient struct {
	scheme, host string
	headers      map[string]string
	repair       *repairer
}

// RoundTrip implements http.RoundTripper. Redirects pass it too.
func (c *webClient) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != c.host || r.URL.Scheme != c.scheme {
		return nil, errors.New("a request to another host than the server's")
	}
	// A RoundTripper must not change the request (net/http).
	r = r.Clone(r.Context())
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || res.StatusCode >= 300 {
		return res, err
	}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case kind == "text/event-stream":
		res.Body = c.repair.events(res.Body, idOf(r))
	case kind == "application/json":
		text, err := c.repair.body(res.Body, idOf(r))
		if err != nil {
			return nil, err
		}
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		res.Header.Del("Content-Length")
	}
	return res, nil
}

// idOf returns the id of the call in a request, nil if there is none.
func idOf(r *http.Request) json.RawMessage {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	// The SDK writes the version and the id first.
	head := make([]byte, 64)
	n, _ := io.ReadFull(body, head)
	if found := idPatterns()[0].FindSubmatch(head[:n]); found != nil {
		return found[1]
	}
	return nil
}
