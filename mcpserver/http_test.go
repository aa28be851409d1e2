package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
)

// serve serves s on loopback and returns the URL of the endpoint.
func serve(t *testing.T, s *mcpserver.Server, o *mcpserver.HTTPOptions) string {
	t.Helper()
	ln, err := mcpserver.Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + ln.Addr().String() + mcpserver.Path
}

// dial connects a client that sends the token, and speaks the revision, "" for
// the newest.
func dial(t *testing.T, url, token, revision string) *mcp.ClientSession {
	t.Helper()
	hc := &http.Client{Transport: bearer{token, new(http.Transport)}}
	t.Cleanup(hc.CloseIdleConnections)
	var opts *mcp.ClientSessionOptions
	if revision != "" {
		opts = &mcp.ClientSessionOptions{ProtocolVersion: revision}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: hc, MaxRetries: -1}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

type bearer struct {
	token string
	*http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.Transport.RoundTrip(r)
}

// revisions are those that are served over HTTP, one with sessions and one
// without.
var revisions = []string{"2025-11-25", "2026-07-28"}

func TestHTTP(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			f := newFake()
			c := dial(t, serve(t, newServer(t, f, nil), nil), "", rev)
			if got := c.InitializeResult().ProtocolVersion; got != rev {
				t.Errorf("speaks %s", got)
			}
			id := newContext(t, c)
			call(t, c, "run_in_code_context", "contextId", id, "code", "set kept")
			if res := call(t, c, "run_in_code_context", "contextId", id, "code", "get"); !strings.Contains(text(res), "kept") {
				t.Errorf("the context forgot: %s", text(res))
			}
			c.Close()
			if rev == "2025-11-25" {
				eventually(t, "contexts end with the session", func() bool { return f.contexts() == 0 })
			}
		})
	}
}

func TestClientsOverHTTPDoNotShareContexts(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			url := serve(t, newServer(t, newFake(), nil), &mcpserver.HTTPOptions{Tokens: []string{"aaaa", "bbbb"}})
			a, b := dial(t, url, "aaaa", rev), dial(t, url, "bbbb", rev)
			id := newContext(t, a)
			if res := call(t, b, "run_in_code_context", "contextId", id, "code", "get"); !strings.Contains(text(res), "context_not_found") {
				t.Errorf("another token: %s", text(res))
			}
			if res := call(t, dial(t, url, "aaaa", rev), "run_in_code_context", "contextId", id, "code", "get"); res.IsError != (rev == "2025-11-25") {
				t.Errorf("another connection with the same token: %s", text(res))
			}
			if res := call(t, a, "run_in_code_context", "contextId", id, "code", "get"); res.IsError {
				t.Errorf("its client: %s", text(res))
			}
		})
	}
}

// post sends a message the way clients of that revision do.
func post(ctx context.Context, url, revision, session, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if revision != "" {
		req.Header.Set("Mcp-Protocol-Version", revision)
	}
	if revision == "2026-07-28" {
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", "run_code")
	}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	return http.DefaultClient.Do(req)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// runMessage is a call of run_code.
func runMessage(revision, code string) string {
	meta := ""
	if revision == "2026-07-28" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":%q}%s}}`, code, meta)
}

// open starts a session and returns its id.
func open(t *testing.T, url string) string {
	t.Helper()
	resp, err := post(t.Context(), url, "", "", initialize)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" {
		t.Fatalf("initialize: %s, session %q", resp.Status, id)
	}
	resp, err = post(t.Context(), url, "2025-11-25", id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return id
}

func TestClientThatVanishesStopsTheProgram(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			f := newFake()
			url := serve(t, newServer(t, f, nil), nil)
			session := ""
			if rev == "2025-11-25" {
				session = open(t, url)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				resp, err := post(ctx, url, rev, session, runMessage(rev, "block"))
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				done <- err
			}()
			eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
			cancel()
			if err := <-done; err == nil {
				t.Error("the request ended by itself")
			}
			start := time.Now()
			eventually(t, "the program ends", func() bool { n, ended := f.runs(); return n == 0 && ended[0] == codeinterp.StatusCanceled })
			t.Logf("the program ended %v after its client had gone", time.Since(start))
		})
	}
}

func TestEndOfSessionStopsTheProgram(t *testing.T) {
	f := newFake()
	url := serve(t, newServer(t, f, nil), nil)
	session := open(t, url)
	go func() {
		if resp, err := post(t.Context(), url, "2025-11-25", session, runMessage("", "block")); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
	req, _ := http.NewRequest("DELETE", url, nil)
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n, ended := f.runs(); n != 0 || ended[0] != codeinterp.StatusCanceled {
		t.Errorf("%d programs run, %v ended", n, ended)
	}
	if resp, _ := post(t.Context(), url, "2025-11-25", session, runMessage("", "print x")); resp.StatusCode != 404 {
		t.Errorf("a session that is over: %s", resp.Status)
	}
}

func TestServeLeavesNothingBehind(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			before := runtime.NumGoroutine()
			f := newFake()
			ln, err := mcpserver.Listen(t.Context(), ":0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newServer(t, f, nil)
			done := make(chan error, 1)
			go func() { done <- s.Serve(ctx, ln, nil) }()
			c := dial(t, "http://"+ln.Addr().String()+mcpserver.Path, "", rev)
			newContext(t, c)
			over := make(chan struct{})
			go func() {
				defer close(over)
				c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "block")})
			}()
			eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if n, _ := f.runs(); n != 0 || f.contexts() != 0 {
				t.Errorf("%d programs run, %d contexts live", n, f.contexts())
			}
			<-over
			c.Close()
			eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}
