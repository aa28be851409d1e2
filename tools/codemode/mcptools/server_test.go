package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/tools/codemode"
)

// TestMain is an MCP server if the environment says so.
func TestMain(m *testing.M) {
	switch os.Getenv("MCPTOOLS_SERVER") {
	case "":
		os.Exit(m.Run())
	case "good":
		fmt.Println("a launcher's banner")
		good().Run(context.Background(), &mcp.StdioTransport{})
	case "fails":
		os.Exit(3)
	case "deaf": // reads nothing after its start
		for in, n := bufio.NewScanner(os.Stdin), 0; n < 3 && in.Scan(); n++ {
			var r request
			json.Unmarshal(in.Bytes(), &r)
			switch r.Method {
			case "initialize":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`+"\n", r.ID)
			case "tools/list":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"f","inputSchema":{"type":"object"}}]}}`+"\n", r.ID)
			default:
				if r.ID != nil {
					n--
					fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", r.ID)
				}
			}
		}
		time.Sleep(10 * time.Minute)
	}
}

// good is a server of the SDK.
func good() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "good", Version: "1"}, nil)
	add := func(name string, f func() string) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: f()}}}, nil
		})
	}
	add("f", func() string { return "hi" })
	add("pid", func() string { return fmt.Sprint(os.Getpid()) })
	add("env", func() string { return strings.Join(os.Environ(), " ") })
	add("die", func() string { os.Exit(1); return "" })
	return s
}

func started(kind string) Server {
	return Server{Name: "s", Command: os.Args[0], Env: map[string]string{"MCPTOOLS_SERVER": kind}}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not: %s", what)
		}
	}
}

// A server that ends is started by the next call, and ends with the set.
func TestProcesses(t *testing.T) {
	t.Setenv("OTHER_SECRET", "not-for-servers")
	var log bytes.Buffer
	set := openSet(t, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, started("good"))
	run := programs(t, set)
	got := run(`console.log(await tools.s_f({}), await tools.s_die({}).catch((e) => e.message), await tools.s_f({}), (await tools.s_env({})).includes("not-for-servers"))`)
	wants(t, got, "hi s_die: the server s cannot be reached, or has failed during the call. It may or may not have been done. hi false")
	var pid int
	fmt.Sscan(strings.TrimPrefix(run(`console.log(await tools.s_pid({}))`), "ok\n--- stdout ---\n"), &pid)
	set.Close()
	wants(t, log.String(), "a launcher's banner")
	if process, err := os.FindProcess(pid); runtime.GOOS != "windows" && (pid == 0 || err == nil && process.Signal(syscall.Signal(0)) == nil) {
		t.Errorf("process %d runs after Close", pid)
	}
	wants(t, run(`await tools.s_f({}).catch((e) => e.message)`), "Nothing was done")
}

// Problems say why a server cannot be used; the others are.
func TestProblems(t *testing.T) {
	failing := started("fails")
	failing.Name = "failing"
	set := openSet(t, nil, failing, Server{Name: "none", Command: "/no/such/program"}, Server{Name: "bad", URL: "ftp://x"}, answering(result(`{"content":[]}`)))
	problems := fmt.Sprint(set.Problems())
	wants(t, problems, "failing: it ended while it started: exit status 3", "no such file", "bad: ", "not an http or https URL")
	var names []string
	for _, e := range set.Entries() {
		names = append(names, fmt.Sprint(e.Name, e.Hidden))
	}
	if got := fmt.Sprint(names); got != "[failingtrue nonetrue badtrue s_ffalse s_sleepfalse]" {
		t.Error(got)
	}
	for _, bad := range [][]Server{{{Name: "a"}}, {{Name: "a", Command: "x", URL: "y"}}, {{Name: "a", Command: "x"}, {Name: "a", Command: "y"}}, {{Command: "x"}, {Name: "a", Command: "y"}}} {
		if _, err := Open(t.Context(), bad, nil); err == nil {
			t.Errorf("Open(%v) returned no error", bad)
		}
	}
}

// slow returns a server that does not answer until a call of the function.
func slow(t *testing.T) (Server, func()) {
	begin := make(chan struct{})
	start := sync.OnceFunc(func() { close(begin) })
	t.Cleanup(start)
	return fake("slow", `{"name":"f","inputSchema":{"type":"object"}}`, func(r request) string {
		switch {
		case r.Method == "initialize":
			<-begin
		case r.Method == "tools/call":
			return result(`{"content":[` + text("hi") + `]}`)
		}
		return ""
	}), start
}

// A slow server does not hold up Open; its tools are added when it answers.
func TestSlowServer(t *testing.T) {
	server, start := slow(t)
	set := openSet(t, &Options{Wait: 50 * time.Millisecond}, server, answering(result(`{"content":[]}`)))
	wants(t, fmt.Sprint(set.Problems()), "slow: it has not answered within 50ms")
	changed := make(chan int, 10)
	set.OnChange(func(list []codemode.Entry) { changed <- len(list) })
	until := func(want int) {
		t.Helper()
		for {
			select {
			case n := <-changed:
				if n == want {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("there are never %d entries", want)
			}
		}
	}
	until(3) // one stands for the slow server
	start()
	until(4)
	if p := set.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

// A program that names tools of a server that is still starting waits for it; others do
// not. What cannot be called yet is said, and nothing is said to be gone.
func TestStartingServer(t *testing.T) {
	server, start := slow(t)
	set := openSet(t, &Options{Wait: 50 * time.Millisecond}, server)
	run := programs(t, set)
	began := time.Now()
	wants(t, run(`6 * 7`), "42")
	wants(t, run(`const name = "slow_f"; await tools[name]({}); // tools.sl`), "not a function")
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("programs that name no tool of it wait: %v", d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	set.Retry(ctx, "tools.slow_f({})") // a caller that does not wait
	if d := time.Since(began); ctx.Err() == nil {
		t.Errorf("a program that names its tool does not wait: %v", d)
	}
	time.AfterFunc(300*time.Millisecond, start)
	got := run(`console.log(await tools.slow_f({}))`)
	wants(t, got, "hi\n", "new: slow_f, slow_sleep")
	if strings.Contains(got, "gone") {
		t.Error(got)
	}
}

// A server that is away when the set is opened is used soon after it is up.
func TestLateServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	set := openSet(t, nil, Server{Name: "s", URL: "http://" + addr})
	run := programs(t, set)
	wants(t, run(`await tools.s_f({})`), "tools.s_f is not a function", "[tools.s: the server cannot be reached; it is tried again.]")
	wants(t, run(`await tools.describe({name: "s"})`), "cannot be reached; it is tried again")
	if ln, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return good() }, nil)}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	eventually(t, "the server", func() bool { return strings.Contains(run(`console.log(await tools.s_f({}))`), "hi\n") })
}

// A list that has changed is reported.
func TestListChanged(t *testing.T) {
	var now atomic.Int32
	s := fake("s", "", func(r request) string {
		switch {
		case r.Method == "tools/list":
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"f","inputSchema":{"type":"object"}},{"name":"t%d","inputSchema":{"type":"object"}}]}}`, now.Load())
		case r.Method == "tools/call":
			now.Add(1)
			return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" + result(`{"content":[]}`)
		}
		return ""
	})
	run := programs(t, openSet(t, nil, s))
	wants(t, run(`typeof tools.s_t0 + typeof tools.s_t1`), "function")
	run(`await tools.s_f({})`)
	eventually(t, "the new list", func() bool { return strings.Contains(run(`typeof tools.s_t1`), "function\n") })
	wants(t, run(`1`), "The functions of programs have changed; new: s_t1")
}

// Calls end with their timeout, and with their caller.
func TestTimeout(t *testing.T) {
	mute := answering("")
	set := openSet(t, &Options{Timeout: 50 * time.Millisecond}, mute)
	wants(t, programs(t, set)(print), "the server s has not answered within 50ms. It may or may not have been done.")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := set.Entries()[0].Invoke(ctx, invocation("{}"))
	if a.Failure == nil || !strings.Contains(a.Text, "canceled") {
		t.Errorf("%+v", a)
	}
}

// A server that does not read its input holds up neither a call nor Close.
func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	set := openSet(t, &Options{Timeout: 200 * time.Millisecond, grace: 50 * time.Millisecond}, started("deaf"))
	args := fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", 1<<20)) // more than a pipe holds
	for range 2 {
		a := set.Entries()[0].Invoke(t.Context(), invocation(args))
		if a.Failure == nil || !strings.Contains(a.Failure.Message, "has not answered within") {
			t.Errorf("%+v", a)
		}
	}
	start := time.Now()
	set.Close()
	if d := time.Since(start); d > closing {
		t.Errorf("Close took %v", d)
	}
}

// Over HTTP headers are sent to the host of the URL only, and a malformed answer fails
// its call, not the next one.
func TestHTTP(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("a request to another host") }))
	t.Cleanup(other.Close)
	sdk := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return good() }, nil)
	var lines atomic.Value // what answers the next call
	lines.Store("")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer abc" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		if line := lines.Load().(string); line != "" && r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			var m request
			json.Unmarshal(body, &m)
			if m.Method == "tools/call" {
				kind, text, _ := strings.Cut(line, "|")
				w.Header().Set("Content-Type", kind)
				io.WriteString(w, strings.ReplaceAll(text, "ID", string(m.ID)))
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		sdk.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	set := openSet(t, nil, Server{Name: "s", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer abc"}})
	run := programs(t, set)
	wants(t, run(print), `"hi"`)
	for _, tt := range []struct{ line, want string }{
		{`application/json|{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":{"x":NaN}}}`, "has failed"},
		{`application/json|{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"bad input"}}`, "s_f: bad input"},
		{`application/json|{"x":"` + strings.Repeat("x", maxMessage) + `"}`, "has failed"},
		{"text/event-stream|event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"x\":NaN}}\n\n", "has failed"},
	} {
		lines.Store(tt.line)
		wants(t, run(print), tt.want)
		lines.Store("")
		wants(t, run(print), `"hi"`)
	}
	redirects := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	set = openSet(t, nil, Server{Name: "s", URL: redirects.URL})
	wants(t, fmt.Sprint(set.Problems()), "another host")
}
