package mcpserver_test

import (
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// newServer returns a server for ci that is closed with the test.
func newServer(t testing.TB, ci codeinterp.CodeInterpreter, o *mcpserver.Options, code ...tools.Options) *mcpserver.Server {
	t.Helper()
	s, err := mcpserver.New(newWorkspace(t, ci, code...), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// newWorkspace returns the workspace "demo" of ci.
func newWorkspace(t testing.TB, ci codeinterp.CodeInterpreter, code ...tools.Options) *workspace.Workspace {
	t.Helper()
	opts := &workspace.Options{}
	if len(code) > 0 {
		opts.Tools = code[0]
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// connect returns a client of s over streams.
func connect(t *testing.T, s *mcpserver.Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ct, st := mcp.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call calls a tool with arguments in pairs.
func call(t *testing.T, c *mcp.ClientSession, tool string, pairs ...any) *mcp.CallToolResult {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: object(pairs...)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

func object(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func text(res *mcp.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	t, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		return ""
	}
	return t.Text
}

func structured(t *testing.T, res *mcp.CallToolResult) map[string]any {
	t.Helper()
	m, ok := res.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("structuredContent is %v; the text is %s", res.StructuredContent, text(res))
	}
	return m
}

// newContext creates a context and returns its id.
func newContext(t *testing.T, c *mcp.ClientSession) string {
	t.Helper()
	id, _ := structured(t, call(t, c, "create_code_context", "language", "python"))["contextId"].(string)
	if id == "" {
		t.Fatal("no contextId")
	}
	return id
}

func TestResults(t *testing.T) {
	c := connect(t, newServer(t, newFake(), nil), nil)
	t.Run("ok", func(t *testing.T) {
		res := call(t, c, "run_code", "language", "python", "code", "print hello")
		if res.IsError || !strings.Contains(text(res), "hello") || structured(t, res)["status"] != "ok" {
			t.Errorf("%s", text(res))
		}
	})
	t.Run("a program's error is a result", func(t *testing.T) {
		res := call(t, c, "run_code", "language", "python", "code", "raise so")
		s := structured(t, res)
		if res.IsError || s["status"] != "error" || s["error"] != "ValueError: so" || !strings.Contains(text(res), "before") {
			t.Errorf("%v: %s", s, text(res))
		}
	})
	t.Run("a timeout is a result", func(t *testing.T) {
		res := call(t, c, "run_code", "language", "python", "code", "block", "timeoutMs", 30)
		if res.IsError || structured(t, res)["status"] != "timeout" {
			t.Errorf("%s", text(res))
		}
	})
	t.Run("image", func(t *testing.T) {
		res := call(t, c, "run_code", "language", "python", "code", "image")
		if len(res.Content) != 2 {
			t.Fatalf("%d blocks: %s", len(res.Content), text(res))
		}
		img, ok := res.Content[1].(*mcp.ImageContent)
		if !ok || img.MIMEType != "image/png" || len(img.Data) == 0 {
			t.Errorf("block 1 is %+v", res.Content[1])
		}
		raw, _ := json.Marshal(res.StructuredContent)
		for _, want := range []string{`"mime":"image/png"`, `"block":1`, `"bytes":`} {
			if !strings.Contains(string(raw), want) {
				t.Errorf("structuredContent lacks %s: %s", want, raw)
			}
		}
		if strings.Contains(string(raw), `"data"`) {
			t.Errorf("binary data in structuredContent: %s", raw)
		}
	})
	for _, tt := range []struct {
		name, tool string
		args       map[string]any
		code       string
	}{
		{"bad arguments", "run_code", object("language", 1, "cod", "x"), "invalid_arguments"},
		{"no arguments", "run_code", nil, "invalid_arguments"},
		{"language", "run_code", object("language", "cobol", "code", "x"), "unsupported_language"},
		{"unknown context", "run_in_code_context", object("contextId", "nope", "code", "x"), "context_not_found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
			if err != nil {
				t.Fatal(err)
			}
			if !res.IsError || !strings.Contains(text(res), tt.code) || res.StructuredContent != nil {
				t.Errorf("%v %s", res.IsError, text(res))
			}
		})
	}
	t.Run("unknown tool", func(t *testing.T) {
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "nope") {
			t.Errorf("err = %v", err)
		}
	})
}

func TestCancel(t *testing.T) {
	f := newFake()
	c := connect(t, newServer(t, f, nil), nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "block")})
		done <- err
	}()
	eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
	cancel()
	if err := <-done; err == nil {
		t.Error("a canceled call has no error")
	}
	eventually(t, "the program ends", func() bool { n, ended := f.runs(); return n == 0 && ended[0] == codeinterp.StatusCanceled })
}

// further are options that add tools.
func further(more ...tools.Tool) *mcpserver.Options {
	return &mcpserver.Options{Tools: func(list []tools.Tool) []tools.Tool { return append(list, more...) }}
}

func TestFurtherTools(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	s := newServer(t, codeinterp.Stateless(newFake()), further(
		tools.Tool{Name: "silent", InputSchema: schema, Invoke: func(context.Context, tools.Invocation) *tools.Answer { return nil }},
		tools.Tool{Name: "panics", InputSchema: schema, Invoke: func(context.Context, tools.Invocation) *tools.Answer { panic("oops") }},
	))
	c := connect(t, s, nil)
	for _, name := range []string{"silent", "panics"} {
		if res := call(t, c, name); !res.IsError || !strings.Contains(text(res), "internal") {
			t.Errorf("%s: %s", name, text(res))
		}
	}
	more := []tools.Tool{{Name: "RUN_CODE", InputSchema: schema, Invoke: func(context.Context, tools.Invocation) *tools.Answer { return nil }}}
	if _, err := mcpserver.New(newWorkspace(t, newFake()), further(more...)); err == nil {
		t.Error("names that differ in case only are accepted")
	}
}

func TestTraceReachesTheInterpreter(t *testing.T) {
	f := newFake()
	c := connect(t, newServer(t, f, nil), nil)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct {
		meta mcp.Meta
		want tools.Trace
	}{
		{mcp.Meta{"traceparent": parent, "tracestate": "a=b", "baggage": "c=d"}, tools.Trace{"traceparent": parent, "tracestate": "a=b", "baggage": "c=d"}},
		{mcp.Meta{"traceparent": 7}, tools.Trace{}},
		{nil, tools.Trace{}},
	} {
		params := &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "print"), Meta: tt.meta}
		if _, err := c.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		if got := tools.TraceOf(f.ctxs[len(f.ctxs)-1]); !maps.Equal(got, tt.want) {
			t.Errorf("%v: got %+v", tt.meta, got)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	f := newFake()
	s, err := mcpserver.New(newWorkspace(t, f), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, s, nil)
	newContext(t, c)
	answer := make(chan string, 1)
	go func() {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: object("language", "python", "code", "block")})
		if err != nil {
			res = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
		}
		answer <- text(res)
	}()
	eventually(t, "the program runs", func() bool { n, _ := f.runs(); return n == 1 })
	s.Close()
	if n, ended := f.runs(); n != 0 || ended[0] != codeinterp.StatusCanceled || f.contexts() != 0 {
		t.Errorf("%d programs run, %v ended, %d contexts live", n, ended, f.contexts())
	}
	if got := <-answer; !strings.Contains(got, "stopped because the server is shutting down") || strings.Contains(got, "call was canceled") {
		t.Errorf("the answer of the canceled run: %s", got)
	}
	c.Close()
	s.Close()
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}
