//go:build full

package mcpserver_test

import (
	"fmt"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"

	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// judges returns where the official judges are.
func judges(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../.testenv/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".done")); err != nil {
		t.Fatal("the MCP judges are not installed: run make testenv-full")
	}
	return root
}

// judge returns a command that runs one of the official judges.
func judge(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	root := judges(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	script := filepath.Join(root, "node_modules/.bin", name)
	cmd := exec.CommandContext(ctx, filepath.Join(root, "node"), append([]string{script}, args...)...)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), 10*time.Second
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "NO_COLOR=1")
	return cmd
}

// inspect runs the Inspector's command line and returns what it prints.
func inspect(t *testing.T, target []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := judge(t, "mcp-inspector", append(append([]string{"--cli"}, target...), args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// eras are the ways in which a client can ask for a revision.
var eras = []string{"legacy", "modern"}

func TestInspector(t *testing.T) {
	judges(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, newServer(t, newFake(), nil, everything), nil)
	targets := map[string][]string{
		"stdio": {"-e", asServer + "=1", "--transport", "stdio", exe},
		"http":  {"--transport", "http", "--server-url", url},
	}
	for name, target := range targets {
		for _, era := range eras {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				inspectServer(t, append([]string{"--protocol-era", era, "--format", "json"}, target...))
			})
		}
	}
}

func inspectServer(t *testing.T, target []string) {
	out, errs, err := inspect(t, target, "--method", "tools/list", "--strict")
	if err != nil || !strings.Contains(out, "run_in_code_context") {
		t.Fatalf("tools/list --strict: %v\n%s\n%s", err, out, errs)
	}
	if strings.Contains(errs, "warning") || strings.Contains(errs, "error") {
		t.Errorf("tools/list --strict complains: %s", errs)
	}
	run := []string{"--method", "tools/call", "--tool-name", "run_code"}
	out, errs, err = inspect(t, target, append(run, "--tool-args-json", `{"language":"python","code":"raise it"}`)...)
	if err != nil || !strings.Contains(out, "before") || !strings.Contains(out, "ValueError: it") {
		t.Errorf("tools/call of a program that fails: %v\n%s\n%s", err, out, errs)
	}
	out, errs, err = inspect(t, target, append(run, "--tool-args-json", `{"language":"python","code":"print x"}`,
		"--load", "--load-requests", "200", "--load-concurrency", "10")...)
	if err != nil || !strings.Contains(compact(out), `"ok":200`) {
		t.Fatalf("--load: %v\n%s\n%s", err, out, errs)
	}
	t.Logf("--load: %s", compact(out))
}

func compact(s string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return s
	}
	return b.String()
}

// asServer makes the test binary a server over standard input and output.
const asServer = "TOOLCELL_TEST_MCP_SERVER"

// everything offers all tools there are.
var everything = tools.Options{ManageContexts: true, ReadOutput: true}

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: newFake()}, &workspace.Options{Tools: everything})
	if err != nil {
		panic(err)
	}
	s, err := mcpserver.New(ws, nil)
	if err == nil {
		err = s.ServeStream(context.Background(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
