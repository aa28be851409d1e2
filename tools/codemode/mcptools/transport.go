package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
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

// stray records the first line of a process that is not a message.
func (s *server) stray(line []byte) {
	s.strays.Do(func() {
		s.set.opts.Logger.Warn("an MCP server prints lines that are not messages; they are skipped", "server", s.Name, "first", s.clean(string(line[:min(len(line), 400)]), 100))
	})
}

// dial returns a transport to the server, and a function that ends its process.
func (s *server) dial() (t mcp.Transport, end func(), err error) {
	if s.Server.transport != nil {
		return s.Server.transport(s.stray)
	}
	if s.URL != "" {
		t, err = s.web()
		return t, func() {}, err
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = environ(s.Env), s.Dir, s.set.opts.Stderr
	cmd.WaitDelay = time.Second // its children may hold its output open
	ownGroup(cmd)
	p := &process{cmd: cmd, grace: s.set.opts.grace, stray: s.stray, done: make(chan struct{})}
	return p, func() { p.Close() }, nil
}

// A process is the transport to a server that it starts. It differs from
// mcp.CommandTransport in that it skips output that is not a message, notices the end of
// the process, and ends the process group.
type process struct {
	cmd   *exec.Cmd
	grace time.Duration // for the server to end after each step of Close
	stray func(line []byte)
	stdin io.WriteCloser
	done  chan struct{} // closed once the process was waited for
	mu    sync.Mutex
	ended bool

	messages *io.PipeReader // of its output
}

// Connect implements mcp.Transport.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	out, theirs := io.Pipe()
	p.cmd.Stdout = theirs
	messages, to := io.Pipe()
	p.messages = messages
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
	go passMessages(out, to, p.stray)
	reader := struct {
		io.Reader
		io.Closer
	}{p.messages, p}
	return (&mcp.IOTransport{Reader: reader, Writer: p.stdin, MaxLineLength: -1}).Connect(ctx)
}

// Close ends the server as MCP specifies: it closes its input, terminates it, kills it.
func (p *process) Close() error {
	if p.cmd.Process == nil {
		return nil
	}
	p.stdin.Close()
	p.messages.Close()
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
func (s *server) web() (mcp.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: %.200q is not an http or https URL", codeinterp.ErrInvalid, s.URL)
	}
	client := &http.Client{Transport: &webClient{scheme: u.Scheme, host: u.Host, headers: s.Headers}}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// A webClient sends requests with headers to one host only, and bounds the answers.
type webClient struct {
	scheme, host string
	headers      map[string]string
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
	if err == nil && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") { // MaxEventSize bounds those
		res.Body = http.MaxBytesReader(nil, res.Body, maxMessage)
	}
	return res, err
}
