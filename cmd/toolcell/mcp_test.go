package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// testLimit is how long the command may take for anything on a busy machine.
const testLimit = 3 * time.Minute

// asToolcell makes the test binary the command.
const asToolcell = "TOOLCELL_TEST_AS_COMMAND"

// probesDir is the cache of what works on this machine.
var probesDir string

func TestMain(m *testing.M) {
	subprocess.RunKeeper() // first, as in main
	if os.Getenv(asToolcell) != "" {
		main()
	}
	probesDir, _ = os.MkdirTemp("", "probes")
	code := m.Run()
	_ = os.RemoveAll(probesDir)
	os.Exit(code)
}

// environment is the environment of commands under test.
func environment(name string) string {
	if name == "XDG_CACHE_HOME" {
		return probesDir
	}
	return ""
}

// TestMCPRefuses: a client reads why there is no server as the answer to its first request.
func TestMCPRefuses(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`
	code, stdout, stderr := toolcell(t.Context(), request+"\n", "mcp", "--tools", "/nowhere/mcp.json")
	if code == 0 || !strings.HasPrefix(stdout, `{"jsonrpc":"2.0","id":7,"error":{`) || !strings.Contains(stdout, "/nowhere/mcp.json") || !strings.Contains(stderr, "/nowhere/mcp.json") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestMCPUsage(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"extra"}, 2, `"extra"`},
		{[]string{"--nope"}, 2, "-nope"},
		{[]string{"--http-token-file", "x"}, 2, "goes with --http"},
		{[]string{"--timeout", "2m", "--max-timeout", "1m"}, 2, "longer than --max-timeout"},
		{[]string{"--timeout", "-1s"}, 2, "a limit is negative"},
		{[]string{"--max-contexts", "-3"}, 2, "a limit is negative"},
		{[]string{"--context-idle", "-1s"}, 2, "a limit is negative"},
		{[]string{"--shell"}, 2, "go with --dir"},
		{[]string{"--files", "--provider", "subprocess"}, 2, "go with --dir"},
		{[]string{"--dir", ".", "--background"}, 2, "go with --shell"},
		{[]string{"--dir", ".", "--provider", "inmemory"}, 2, "--provider subprocess"},
		{[]string{"--dir", "/nowhere/at/all", "--shell"}, 2, "--dir: stat /nowhere/at/all: no such file"},
		{[]string{"--provider", "x"}, 2, "unknown provider"},
		{[]string{"--http", "nonsense"}, 1, "missing port"},
		{[]string{"--http", "8080"}, 1, "is written :8080"},
		{[]string{"--http", "0.0.0.0:0"}, 1, "without a bearer token: set TOOLCELL_MCP_TOKEN"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			code, stdout, stderr := toolcell(t.Context(), "", append([]string{"mcp"}, tt.args...)...)
			if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, ...%q...", code, stdout, stderr, tt.code, tt.stderr)
			}
			if tt.code == 2 && strings.Count(stderr, "\n") != 1 {
				t.Errorf("bad usage takes more than a line:\n%s", stderr)
			}
		})
	}
}

// mcpClient connects over a transport and closes with the test.
func mcpClient(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// callTool calls a tool with string arguments in pairs and returns its text.
func callTool(t *testing.T, c *mcp.ClientSession, name string, pairs ...string) (text string, structured map[string]any) {
	t.Helper()
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i]] = pairs[i+1]
	}
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	structured, _ = res.StructuredContent.(map[string]any)
	return res.Content[0].(*mcp.TextContent).Text, structured
}

func toolNames(t *testing.T, c *mcp.ClientSession) string {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// serveMCP runs the command in this process, over pipes.
func serveMCP(t *testing.T, args ...string) (c *mcp.ClientSession, hangUp func() int) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var stderr bytes.Buffer
	a := &app{stdin: inR, stdout: outW, stderr: &stderr, getenv: environment}
	code := make(chan int, 1)
	go func() {
		code <- a.main(context.Background(), append([]string{"mcp"}, args...))
		outW.Close()
	}()
	c = mcpClient(t, &mcp.IOTransport{Reader: outR, Writer: inW})
	return c, func() int {
		inW.Close()
		var n int
		select {
		case n = <-code:
		case <-time.After(testLimit):
			t.Fatal("the command does not end")
		}
		for line := range strings.Lines(stderr.String()) {
			// A machine that is busy has a server take its time.
			if !strings.HasPrefix(line, "toolcell: waiting for the Jupyter server") {
				t.Errorf("stderr: %s", line)
			}
		}
		return n
	}
}

func TestMCPOverStandardInput(t *testing.T) {
	c, hangUp := serveMCP(t)
	if got := toolNames(t, c); got != "create_code_context delete_code_context run_code run_in_code_context" {
		t.Errorf("tools: %s", got)
	}
	if text, _ := callTool(t, c, "run_code", "language", "javascript", "code", "console.log('hi'); 6 * 7"); !strings.Contains(text, "hi") || !strings.Contains(text, "42") {
		t.Errorf("run_code: %s", text)
	}
	_, made := callTool(t, c, "create_code_context", "language", "typescript")
	id, _ := made["contextId"].(string)
	callTool(t, c, "run_in_code_context", "contextId", id, "code", "let n: number = 41")
	if text, _ := callTool(t, c, "run_in_code_context", "contextId", id, "code", "n + 1"); !strings.Contains(text, "42") {
		t.Errorf("run_in_code_context: %s", text)
	}
	if code := hangUp(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestMCPFlagsChooseTools(t *testing.T) {
	for args, want := range map[string]string{
		"--stateless":               "run_code",
		"--stateless --read-output": "read_output run_code",
		"--manage":                  "create_code_context delete_code_context interrupt_code_context list_code_contexts restart_code_context run_code run_in_code_context",
	} {
		c, hangUp := serveMCP(t, strings.Fields(args)...)
		if got := toolNames(t, c); got != want {
			t.Errorf("%s: %s", args, got)
		}
		hangUp()
	}
}

func TestMCPTimeout(t *testing.T) {
	c, hangUp := serveMCP(t, "--timeout", "100ms")
	if _, res := callTool(t, c, "run_code", "language", "javascript", "code", "for(;;);"); res["status"] != "timeout" {
		t.Errorf("status %v", res["status"])
	}
	hangUp()
}

func TestMCPArtifacts(t *testing.T) {
	c, hangUp := serveMCP(t, "--artifacts")
	if text, _ := callTool(t, c, "run_code", "language", "javascript", "code", "require('fs').writeFileSync('a', 'x')"); !strings.Contains(text, "Files written: a (1 byte)") {
		t.Errorf("%q", text)
	}
	hangUp()
}

// command returns the command as a process. What it says on standard error is
// reported if the test fails.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.WaitDelay = 10 * time.Second // of what holds its standard error
	cmd.Env = append(os.Environ(), asToolcell+"=1", "TOOLCELL_MCP_TOKEN=secret")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
		if t.Failed() {
			t.Logf("standard error: %s", stderr.String())
		}
	})
	return cmd
}

// address waits until the command says where it serves.
func address(t *testing.T, stderr io.Reader) string {
	t.Helper()
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`).FindString(lines.Text()); m != "" {
			return m
		}
	}
	t.Fatal("the command never said where it serves")
	return ""
}

type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPReachable: what is said to serve is an address that a client takes.
func TestMCPReachable(t *testing.T) {
	for at, want := range map[string]string{"0.0.0.0:80": "localhost:80", "[::]:81": "localhost:81", "127.0.0.1:82": "127.0.0.1:82", "[::1]:83": "[::1]:83"} {
		if got := reachable(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at))); got != want {
			t.Errorf("%s is said to be %s, want %s", at, got, want)
		}
	}
}

func TestMCPOverHTTP(t *testing.T) {
	cmd := command(t, "mcp", "--http", ":0")
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := address(t, stderr)
	c := mcpClient(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken{"secret"}}})
	if text, _ := callTool(t, c, "run_code", "language", "javascript", "code", "6 * 7"); !strings.Contains(text, "42") {
		t.Errorf("run_code: %s", text)
	}
	resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", resp.Status)
	}
	go c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": "javascript", "code": "for(;;);"}})
	time.Sleep(200 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func TestMCPLanguages(t *testing.T) {
	c, _ := serveMCP(t, "--languages", "js")
	if text, _ := callTool(t, c, "run_code", "language", "javascript", "code", "6 * 7"); !strings.Contains(text, "42") {
		t.Errorf("got %s", text)
	}
	if text, _ := callTool(t, c, "run_code", "language", "typescript", "code", "6 * 7"); !strings.Contains(text, "unsupported_language") {
		t.Errorf("got %s", text)
	}
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if strings.Contains(tool.Description, "typescript") {
			t.Errorf("%s speaks of typescript: %s", tool.Name, tool.Description)
		}
	}
	code, _, stderr := toolcell(t.Context(), "", "mcp", "--languages", "perl")
	if code == 0 || !strings.Contains(stderr, `"perl"`) {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// works reports whether this machine has what the provider needs.
func works(t *testing.T, provider string) bool {
	t.Helper()
	ci, err := (&providerFlags{provider: provider, pack: defaultPack}).open(t.Context())
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Logf("%s is not tested: %v", provider, err)
		return false
	}
	ci.Close()
	return true
}

// TestMCPMemory: without a directory, code of the embedded engines and the file
// tools share files in memory.
func TestMCPMemory(t *testing.T) {
	t.Parallel()
	c, hangUp := serveMCP(t, "--files", "--stateless")
	if got := toolNames(t, c); got != "edit_file glob grep list_files read_file remove_file run_code write_file" {
		t.Errorf("tools: %s", got)
	}
	callTool(t, c, "write_file", "path", "a/b", "content", "file\n")
	callTool(t, c, "run_code", "language", "javascript", "code", "require('fs').appendFileSync('/a/b', 'code\\n')")
	if text, _ := callTool(t, c, "read_file", "path", "/a/b"); !strings.Contains(text, "file\ncode\n") {
		t.Errorf("read_file: %s", text)
	}
	if code := hangUp(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
