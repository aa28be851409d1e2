package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
)

// A journal is a buffer for logs.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

// Calls and refused requests are logged and counted; health is served without a token.
func TestOperation(t *testing.T) {
	log := &journal{}
	s := newServer(t, newFake(), &mcpserver.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))})
	url := serve(t, s, &mcpserver.HTTPOptions{Tokens: []string{"good"}})
	base := strings.TrimSuffix(url, mcpserver.Path)
	c := dial(t, url, "good", "2025-11-25")
	call(t, c, "run_code", "language", "python", "code", "print x")
	call(t, c, "run_code", "language", "python", "code", "raise")
	newContext(t, c)
	if status, _ := get(t, url, "bad"); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := get(t, base+path, ""); status != http.StatusOK || body != "ok\n" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _ := get(t, base+"/metrics", ""); status != http.StatusUnauthorized {
		t.Errorf("metrics without a token: %d", status)
	}
	_, metrics := get(t, base+"/metrics", "good")
	for _, want := range []string{"toolcell_calls_running 0\n", "toolcell_sessions 1\n", "toolcell_contexts 1\n",
		`toolcell_call_seconds_count{tool="run_code",outcome="ok"} 1`, `toolcell_call_seconds_count{tool="run_code",outcome="error"} 1`, `toolcell_http_refused_total{status="401"} 2`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in %s", want, metrics)
		}
	}
	for _, want := range []string{`"msg":"call","tool":"run_code","durationMs":`, `"outcome":"error"`, `"msg":"request refused","status":401`, `"msg":"session started"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
	if id := c.ID(); id == "" || strings.Contains(log.String(), id) {
		t.Errorf("the id of the session is in the log: %s", log)
	}
}

// A token that no request can send is refused at the start.
func TestTokenWithSpace(t *testing.T) {
	s := newServer(t, newFake(), nil)
	if _, err := s.Handler(&mcpserver.HTTPOptions{Tokens: []string{"good", "two words"}}); !errors.Is(err, codeinterp.ErrInvalid) || strings.Contains(err.Error(), "words") {
		t.Errorf("err = %v", err)
	}
}

// A call beyond the queue of runs is answered at once with the code capacity.
func TestBusy(t *testing.T) {
	f := newFake()
	c := connect(t, newServer(t, f, &mcpserver.Options{Limits: mcpserver.Limits{Runs: 1, Queue: -1}}), nil)
	go c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "block")})
	eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
	if res := call(t, c, "run_code", "language", "python", "code", "print x"); !res.IsError || !strings.Contains(text(res), "capacity") {
		t.Errorf("got %s", text(res))
	}
}

// At the end of Serve calls in progress finish, new ones are refused, and readyz says so.
func TestDrain(t *testing.T) {
	f := newFake()
	s := newServer(t, f, nil)
	ln, err := mcpserver.Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln, &mcpserver.HTTPOptions{Drain: time.Minute}) }()
	base := "http://" + ln.Addr().String()
	c := dial(t, base+mcpserver.Path, "", "2025-11-25")
	answer := make(chan string, 1)
	go func() {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "ticks 20")})
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- text(res)
	}()
	eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
	cancel()
	eventually(t, "readyz is 503", func() bool { status, _ := get(t, base+"/readyz", ""); return status == http.StatusServiceUnavailable })
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "print x")}); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("a new call: %v", err)
	}
	if _, err := c.ListTools(t.Context(), nil); err != nil { // clients do before they take an answer
		t.Errorf("a list of tools: %v", err)
	}
	if got := <-answer; !strings.HasPrefix(got, "ok") {
		t.Errorf("the call in progress: %s", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Update changes what is served.
func TestUpdate(t *testing.T) {
	name := "old"
	changed := make(chan struct{}, 10)
	s := newServer(t, newFake(), &mcpserver.Options{Tools: func(list []tools.Tool) []tools.Tool {
		saved := name
		return append(list, tools.Tool{Name: "say", Description: name, Invoke: func(context.Context, tools.Invocation) *tools.Answer { return &tools.Answer{Text: saved} }},
			tools.Tool{Name: name, Invoke: func(context.Context, tools.Invocation) *tools.Answer { return &tools.Answer{Text: saved} }})
	}})
	before := connect(t, s, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	names := func(c *mcp.ClientSession) (list string) {
		got, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range got.Tools {
			list += tool.Name + ":" + tool.Description[:min(3, len(tool.Description))] + " "
		}
		return list
	}
	if got := names(before); !strings.Contains(got, "old: ") || !strings.Contains(got, "say:old") {
		t.Errorf("before: %s", got)
	}
	id := newContext(t, before)
	name = "new"
	if err := s.Update(); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got := names(connect(t, s, nil)); !strings.Contains(got, "new: ") || !strings.Contains(got, "say:new") || strings.Contains(got, "old") {
		t.Errorf("after: %s", got)
	}
	if res := call(t, before, "run_in_code_context", "contextId", id, "code", "print x"); res.IsError {
		t.Errorf("the context is lost: %s", text(res))
	}
	if got := text(call(t, before, "say")); got != "new" {
		t.Errorf("a session calls %q", got)
	}
}
