package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/codemode/mcptools"
	"github.com/toolcell/toolcell/tools/secret"
)

func pixel() []byte {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3)))
	return b.Bytes()
}

// stdio is a server that this test binary is.
func stdio(name, kind string) mcptools.Server {
	return mcptools.Server{Name: name, Command: os.Args[0], Env: map[string]string{"MCPTOOLS_SERVER": kind, "API_TOKEN": "s3cr3t-token-value"}}
}

func open(t *testing.T, opts *mcptools.Options, servers ...mcptools.Server) *mcptools.Set {
	t.Helper()
	set, err := mcptools.Open(t.Context(), servers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

// mode opens a code mode over a set.
func mode(t *testing.T, set *mcptools.Set) (*codemode.Mode, func(code string) *tools.Answer) {
	t.Helper()
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	m, err := codemode.Open(ci, set.Entries(), &codemode.Options{Language: "javascript", Limits: codeinterp.FunctionLimits{Result: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	set.OnChange(func(list []codemode.Entry) {
		if err := m.Set(list); err != nil {
			t.Error(err)
		}
	})
	tool := m.Tools()[0]
	return m, func(code string) *tools.Answer {
		args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
		return tool.Invoke(t.Context(), tools.Invocation{Args: args})
	}
}

func wants(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// until waits for something that comes by itself.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has not come")
		}
	}
}

func TestResults(t *testing.T) {
	secrets, err := secret.New("s3cr3t-token-value")
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get("Authorization") != "Bearer abc" {
			return nil
		}
		return good()
	}, nil))
	t.Cleanup(web.Close)
	mine, theirs := mcp.NewInMemoryTransports()
	if _, err := good().Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), mine, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	for name, server := range map[string]mcptools.Server{
		"stdio":   stdio("my", "good"),
		"http":    {Name: "my", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer abc"}},
		"session": {Name: "my", Session: session},
	} {
		t.Run(name, func(t *testing.T) {
			set := open(t, &mcptools.Options{Secrets: secrets}, server)
			if p := set.Problems(); len(p) > 0 {
				t.Fatal(p)
			}
			_, run := mode(t, set)
			a := run(`console.log(await tools.my_get_text({a: 1}));
				const s = await tools.my_structured(); console.log(s.n + 1, s.list.length);
				const m = await tools.my_media(); console.log(JSON.stringify(m)); await tools.display({handle: m._files[0].handle});
				console.log(await tools.my_fail().catch((e) => e.name + " " + e.message));
				console.log("nothing is", await tools.my_nothing());
				console.log((await tools.my_env()).includes("s3cr3t"))`)
			wants(t, a.Text, "you said\n{\"a\":1}", "6 2", `"value":"two files\nembedded\n[resource doc: https://example.com/doc]"`,
				`"handle":"file_1","name":"image.png","mime":"image/png"`, `"name":"data.bin","mime":"application/zip","bytes":4`,
				"no such thing: ", "[image 1]", "nothing is null", "false")
			if strings.Contains(a.Text, "s3cr3t") || strings.Contains(a.Text, "iVBOR") || len(a.Images) != 1 {
				t.Errorf("%d images: %s", len(a.Images), a.Text)
			}
		})
	}
}

// TestFaults: a server that dies, hangs or answers too much fails a call, says so
// and serves the next one.
func TestFaults(t *testing.T) {
	t.Parallel()
	set := open(t, &mcptools.Options{Timeout: 20 * time.Second}, stdio("my", "good"))
	_, run := mode(t, set)
	wants(t, run(`console.log(await tools.my_die().catch((e) => e.message)); console.log(await tools.my_get_text({}))`).Text,
		"the server my cannot be reached, or has ended during the call. It may or may not have been done.", "you said")
	wants(t, run(`console.log(await tools.my_huge().catch((e) => e.message)); console.log(await tools.my_get_text({}))`).Text, "my_huge: ", "you said")
	set = open(t, &mcptools.Options{Timeout: 100 * time.Millisecond}, stdio("my", "good"))
	_, run = mode(t, set)
	wants(t, run(`await tools.my_hang().catch((e) => e.message)`).Text, "the server my has not answered within 100ms")
	set = open(t, nil, stdio("my", "good"))
	m, _ := mode(t, set)
	args, _ := json.Marshal(map[string]any{"language": "javascript", "code": "await tools.my_hang()", "timeoutMs": 300})
	wants(t, m.Tools()[0].Invoke(t.Context(), tools.Invocation{Args: args}).Text, "timeout")
}

// TestMalformed: an answer that is none costs the call, and not the server, whose
// other callers go on.
func TestMalformed(t *testing.T) {
	t.Parallel()
	set := open(t, nil, stdio("my", "malformed"))
	_, run := mode(t, set)
	wants(t, run(`const pid = await tools.my_t({pid: 1});
		console.log(await tools.my_t().catch((e) => e.message));
		console.log("the same server", await tools.my_t({pid: 1}) === pid);
		for (const deep of [400, 5000, 20000]) console.log(deep, await tools.my_t({deep}).then((r) => r.a.length, (e) => e.message))`).Text,
		"the server my has answered with what is no result of a tool. It may or may not have been done.", "the same server true",
		"400 1\n5000 my_t: the server my has answered with what is nested too deep (1000 levels are possible), and was ended. It may or may not have been done.\n20000 my_t: the server my has answered with what is nested too deep")
}

// TestMute: what an error means for the server is found out within the call's time.
func TestMute(t *testing.T) {
	t.Parallel()
	set := open(t, &mcptools.Options{Timeout: 2 * time.Second}, stdio("my", "malformed"))
	_, run := mode(t, set)
	wants(t, run(`const start = Date.now();
		console.log(await tools.my_t({mute: 1}).catch((e) => e.message));
		console.log("in time", Date.now() - start < 12_000);
		console.log(await tools.my_t({mute: 1}).catch((e) => e.message))`).Text,
		"the server my has not answered within 2s. It may or may not have been done.\nin time true\nmy_t: the server my has")
}

// TestUnreachable: who cannot be reached is told, and holds up nobody.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	refused := httptest.NewServer(http.NotFoundHandler())
	refused.Close()
	away := mcptools.Server{Name: "away", Command: "/no/such/program", Args: []string{"--secret"}}
	set := open(t, &mcptools.Options{StartTimeout: 2 * time.Second}, away, stdio("silent", "silent"), stdio("garbage", "garbage"),
		mcptools.Server{Name: "web", URL: refused.URL}, mcptools.Server{Name: "file", URL: "file:///etc/passwd"})
	var reasons []string
	for _, e := range set.Entries() {
		if e.Use == codemode.Nobody {
			reasons = append(reasons, e.Name+": "+e.Reason)
		}
	}
	if got, want := strings.Join(reasons, "; "), "away: the server cannot be reached; silent: the server cannot be reached; garbage: the server cannot be reached; web: the server cannot be reached; file: the server cannot be reached"; got != want {
		t.Errorf("%s", got)
	}
	if len(set.Problems()) != 6 { // of garbage two
		t.Errorf("%v", set.Problems())
	}
	m, _ := mode(t, set)
	wants(t, m.Tools()[0].Description, "- away: the server cannot be reached")
	if strings.Contains(m.Tools()[0].Description, "/no/such") {
		t.Error("the model is told of commands")
	}
}

// TestHostile: a server lists tools without end, with names and schemas that are
// none.
func TestHostile(t *testing.T) {
	set := open(t, nil, stdio("my", "endless"))
	list := set.Entries()
	if len(list) != 500 || len(set.Problems()) != 1 {
		t.Fatalf("%d tools, %v", len(list), set.Problems())
	}
	for _, e := range list {
		if all := fmt.Sprint(e.Title, e.Description, string(e.InputSchema)); strings.ContainsAny(all, "\u202e\u2066\u0085\x1b\U000e0041") {
			t.Errorf("%s: %q", e.Name, all)
		}
		if e.Name == "my_odd___" {
			wants(t, string(e.InputSchema), `"x\u202ey":{"const":"\u2066"}`)
		}
	}
	m, run := mode(t, set)
	text := m.Tools()[0].Description
	if strings.ContainsAny(text, "\u202e\u2066\u0085\x1b\U000e0041") {
		t.Errorf("%q", text)
	}
	wants(t, text, "- my_big: its schema is larger than 262144 bytes")
	wants(t, run(`console.log(await tools.describe({name: "my_odd___"})); await tools.my_t1().catch((e) => e.message)`).Text, "* /", "my_t1: no")
}

// TestListChanged: tools that come and go are told, and can be called.
func TestListChanged(t *testing.T) {
	var list []mcptools.Server
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func() func(*http.Request) *mcp.Server {
		s := good()
		return func(*http.Request) *mcp.Server { return s }
	}(), nil))
	t.Cleanup(web.CloseClientConnections)
	list = append(list, stdio("a", "good"), mcptools.Server{Name: "b", URL: web.URL})
	set := open(t, nil, list...)
	_, run := mode(t, set)
	run(`await tools.a_add_tool({name: "new-one"}); await tools.b_add_tool({name: "other"})`)
	var got string
	until(t, func() bool {
		got = run(`console.log(typeof tools.a_new_one, typeof tools.b_other); console.log(await tools.a_new_one(), await tools.b_other())`).Text
		return strings.Contains(got, "I am new-one I am other")
	})
	wants(t, got, "new: a_new_one, b_other;", "gone: a_media, b_media.")
}

func TestRulesAndNames(t *testing.T) {
	s := stdio("", "good")
	s.Rules = map[string]mcptools.Rule{"die": {Use: codemode.Nobody, Reason: "it ends the server"}, "media": {Use: codemode.Both}, "fail": {Use: codemode.Direct}, "colored": {Use: codemode.Both}, "none": {}}
	set := open(t, nil, s)
	if p := set.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), `"none"`) {
		t.Error(p)
	}
	m, run := mode(t, set)
	list := m.Tools()
	var names []string
	for _, tool := range list {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "run_code colored fail media" {
		t.Fatal(got)
	}
	wants(t, list[0].Description, "get_text(args?", "(the tool get-text of the server", "- die: it ends the server")
	wants(t, run(`await tools.die().catch((e) => e.message)`).Text, "it ends the server")
	a := list[3].Invoke(t.Context(), tools.Invocation{})
	if len(a.Images) != 1 || a.Images[0].Width != 3 {
		t.Errorf("%+v", a)
	}
	wants(t, a.Text, "two files", "[image 1]", "[application/zip of 4 bytes, not shown]")
	if a := list[2].Invoke(t.Context(), tools.Invocation{}); a.Failure == nil || !strings.Contains(a.Text, "no such thing") {
		t.Errorf("%+v", a)
	}
	if a := list[1].Invoke(t.Context(), tools.Invocation{}); a.Text != "red plain" {
		t.Errorf("%+v", a)
	}
	for _, bad := range [][]mcptools.Server{{{Name: "a"}}, {{Name: "a", URL: "http://x", Command: "x"}}, {s, s}} {
		if _, err := mcptools.Open(t.Context(), bad, nil); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestRedirect: headers go to no other host.
func TestRedirect(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer web.Close()
	set := open(t, nil, mcptools.Server{Name: "a", URL: web.URL, Headers: map[string]string{"X-Api-Key": "secret"}})
	if reached.Load() != 0 || len(set.Problems()) != 1 {
		t.Errorf("%d requests, %v", reached.Load(), set.Problems())
	}
}

// TestClose: nothing of a server is left, whatever it does about its end, nor of
// what it started; calls in progress end.
func TestClose(t *testing.T) {
	t.Parallel()
	var stderr safeBuffer
	set := open(t, &mcptools.Options{Stderr: &stderr}, stdio("a", "stubborn"))
	_, run := mode(t, set)
	if p := set.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	done := make(chan string)
	go func() { done <- run(`await tools.a_hang().catch((e) => e.message)`).Text }()
	var child int
	until(t, func() bool { _, err := fmt.Sscanf(stderr.String(), "child %d", &child); return err == nil })
	set.Close()
	wants(t, <-done, "cannot be reached")
	until(t, func() bool { return !running(child) })
	set.Close()
	wants(t, run(`await tools.a_get_text().catch((e) => e.message)`).Text, "cannot be reached")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mcptools.Open(ctx, []mcptools.Server{stdio("a", "good")}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
