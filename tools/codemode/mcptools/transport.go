package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
)

// inherited are the variables that every server gets.
var inherited = map[string][]string{
	"windows": {"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES",
		"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "COMSPEC"},
	"": {"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"},
}

// environ returns the environment of a server with the given variables of its own.
func environ(own map[string]string) []string {
	list, ok := inherited[runtime.GOOS]
	if !ok {
		list = inherited[""]
	}
	var env []string
	for _, name := range list {
		if v, ok := os.LookupEnv(name); ok && own[name] == "" {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range sortedKeys(own) {
		env = append(env, name+"="+own[name])
	}
	return env
}

// dial returns a transport to the server, and what ends the processes behind it.
func (s *server) dial() (t mcp.Transport, kill func(), err error) {
	if s.URL != "" {
		t, err = s.web()
		return t, func() {}, err
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = environ(s.Env), s.Dir, s.set.opts.Stderr
	cmd.WaitDelay = time.Second // its children may keep standard error open
	ownGroup(cmd)
	p := &process{cmd: cmd, repair: &repairer{note: s.strays.add}, done: make(chan struct{})}
	return p, p.kill, nil
}

const (
	terminating = 2 * time.Second        // for a server to end after each step of Close
	lasting     = 500 * time.Millisecond // for output that children hold open
)

// A process is the transport to a server that it starts. It differs from
// mcp.CommandTransport in that it repairs what the server prints, notices the end of the
// process while a child holds its output open, and ends the process group.
type process struct {
	cmd    *exec.Cmd
	repair *repairer
	stdin  io.WriteCloser
	done   chan struct{} // closed once the process was waited for
	mu     sync.Mutex
	ended  bool
}

// Connect implements mcp.Transport.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	// Not StdoutPipe, whose end Wait closes before all is read.
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p.cmd.Stdout = theirs
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	go func() { // ends with the process
		p.cmd.Wait()
		p.mu.Lock()
		endGroup(p.cmd)
		p.ended = true
		p.mu.Unlock()
		close(p.done)
		time.AfterFunc(lasting, func() { out.Close() })
	}()
	in := newMessageReader(out, p.repair, p.close)
	return (&mcp.IOTransport{Reader: in, Writer: openWriter{p.stdin}, MaxLineLength: -1}).Connect(ctx)
}

// close ends the server as MCP specifies: its input ends, it is asked to terminate, it is
// killed.
func (p *process) close() error {
	p.stdin.Close()
	for _, next := range []func(){func() { terminate(p.cmd) }, p.kill, nil} {
		select {
		case <-p.done:
			return nil
		case <-time.After(terminating):
		}
		if next != nil {
			next()
		}
	}
	return errors.New("the server's process does not end")
}

// kill kills the process group.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd.Process != nil && !p.ended {
		endGroup(p.cmd)
	}
}

// state returns how the process ended, or nothing if it runs.
func (p *process) state() string {
	if p.cmd.Process == nil {
		return ""
	}
	select {
	case <-p.done:
		return p.cmd.ProcessState.String()
	case <-time.After(terminating):
		return ""
	}
}

// openWriter is a writer that someone else closes.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }

// web returns the transport of a server over HTTP.
func (s *server) web() (mcp.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: %.200q is not an http or https URL", codeinterp.ErrInvalid, s.URL)
	}
	client := &http.Client{Transport: &webClient{scheme: u.Scheme, host: u.Host, headers: s.Headers, repair: &repairer{note: s.strays.add}, sse: s.SSE}}
	if s.SSE {
		return &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// A webClient sends requests with headers to one host, none to another, and repairs and
// bounds the answers.
type webClient struct {
	scheme, host string
	headers      map[string]string
	repair       *repairer
	sse          bool
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
	switch kind := mediaType(res.Header); {
	case kind == "text/event-stream":
		res.Body = newEventReader(res.Body, c.repair, requestID(r))
	case kind == "application/json" && !c.sse:
		res.Body = newAnswerReader(http.MaxBytesReader(nil, res.Body, maxMessage), c.repair, requestID(r))
		res.ContentLength = -1
		res.Header.Del("Content-Length")
	}
	return res, nil
}
