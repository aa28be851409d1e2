//go:build full

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/internal/hostiletest"
	"github.com/toolcell/toolcell/internal/typescripttest"
)

// smallHost are the limits of the command: bytes of
// memory that it can write to, and open files.
const smallHost = "ulimit -n 1024 && ulimit -d 524288"

// A small is the command on a host that has little: few files, little memory,
// and an ordinary user.
type small struct {
	t      *testing.T
	exe    string
	server *exec.Cmd
	said   *bytes.Buffer
	url    string
}

// confined returns the command as a process within the limits of smallHost.
func (s *small) confined(args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", smallHost + ` && exec "$0" "$@"`, s.exe}, args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{asToolcell + "=1", "TOOLCELL_MCP_TOKEN=secret", "PATH=" + os.Getenv("PATH"), "HOME=/", "GOGC=10"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	return cmd
}

// startSmall starts the server, whose tests end with it alive.
func startSmall(t *testing.T, args ...string) *small {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &small{t: t, exe: copyForAll(t, exe), said: &bytes.Buffer{}}
	s.server = s.confined(append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	stderr, err := s.server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.server.Start(); err != nil {
		t.Fatal(err)
	}
	s.url = address(t, stderr)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s.said, io.LimitReader(stderr, 1<<20))
	}()
	t.Cleanup(func() {
		_ = s.server.Process.Signal(syscall.SIGTERM)
		<-read
		if err := s.server.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, s.said)
		}
	})
	return s
}

// copyForAll copies a program to where every user can run it.
func copyForAll(t *testing.T, exe string) string {
	dir, err := os.MkdirTemp("", "toolcell-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "toolcell")
	if err := os.WriteFile(name, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func (s *small) client(token string) *mcp.ClientSession {
	return mcpClient(s.t, s.transport(token))
}

func (s *small) transport(token string) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: withToken{token}}}
}

// status returns a number of /proc/PID/status, such as VmHWM in KiB.
func (s *small) status(name string) int {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(s.server.Process.Pid) + "/status")
	_, rest, _ := strings.Cut(string(b), "\n"+name+":")
	n := 0
	_, _ = fmt.Sscan(rest, &n)
	return n
}

// TestSmallHost runs hostile programs over MCP on a host with little memory, one after
// the other. It serves others within a second after each.
func TestSmallHost(t *testing.T) {
	s := startSmall(t, "--timeout", "300ms")
	attacker, other := s.client("secret"), s.client("secret")
	type program struct{ name, language, code string }
	var programs []program
	for _, p := range hostiletest.JavaScript() {
		programs = append(programs, program{p.Name, "javascript", p.Code})
	}
	for _, p := range typescripttest.Shapes {
		programs = append(programs, program{p.Name, "typescript", p.Source()})
	}
	slowest := time.Duration(0)
	for _, p := range programs {
		res, err := attacker.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": p.language, "code": p.code}})
		if err != nil || len(res.Content) == 0 {
			t.Fatalf("%s: %v\n%s", p.name, err, s.said)
		}
		// A machine that is busy elsewhere can be late for once.
		took := time.Minute
		for try := 0; try < 3 && took > time.Second; try++ {
			began := time.Now()
			if text, _ := callTool(t, other, "run_code", "language", "javascript", "code", "1+1"); !strings.Contains(text, "2") {
				t.Errorf("after %s, 1+1 is %s", p.name, text)
			}
			took = time.Since(began)
		}
		if slowest = max(slowest, took); took > time.Second {
			t.Errorf("after %s, 1+1 took %v", p.name, took)
		}
	}
	t.Logf("%d KiB at most, 1+1 within %v", s.status("VmHWM"), slowest)
	if n := s.status("VmHWM"); n > 512<<10 {
		t.Errorf("the server took %d KiB", n)
	}
}
