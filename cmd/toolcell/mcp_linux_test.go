//go:build real

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/leftover"
)

// TestMCPFork: processes can be copied too.
func TestMCPFork(t *testing.T) {
	if works(t, "subprocess") {
		mcpForks(t, "subprocess")
	}
}

// TestMCPLeavesNothingBehind runs the server as hosts do and ends it while a
// program runs, in the ways in which hosts end it.
func TestMCPLeavesNothingBehind(t *testing.T) {
	type server struct {
		*exec.Cmd
		stdin  io.WriteCloser
		stdout io.ReadCloser
	}
	providers := []struct{ name, language, code string }{
		{"inmemory", "javascript", `console.log("started"); for(;;);`},
		{"subprocess", "python", "import subprocess\nsubprocess.Popen(['sleep', '300'])\nprint('started', flush=True)\nwhile True: pass"},
	}
	ends := []struct {
		name string
		end  func(s server)
		code int
	}{
		{"end of input", func(s server) { s.stdin.Close() }, 0},
		{"no reader", func(s server) { s.stdout.Close() }, 1},
		{"SIGTERM", func(s server) { s.Process.Signal(syscall.SIGTERM) }, 0},
		{"SIGHUP", func(s server) { s.Process.Signal(syscall.SIGHUP) }, 0},
	}
	for _, p := range providers {
		if !works(t, p.name) {
			continue
		}
		for _, e := range ends {
			if e.name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
				continue // as below nohup, and then the command ignores it too
			}
			t.Run(p.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				cmd := command(t, "mcp", "--provider", p.name)
				temp := leftover.Dir(t)
				cmd.Env = append(cmd.Env, "TMPDIR="+temp)
				s := server{Cmd: cmd}
				s.stdin, _ = cmd.StdinPipe()
				s.stdout, _ = cmd.StdoutPipe()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}

				converse(t, s.stdin, s.stdout, p.language, p.code)
				family := descendants(cmd.Process.Pid)
				e.end(s)
				if cmd.Wait(); cmd.ProcessState.ExitCode() != e.code {
					t.Errorf("the command ended with %v", cmd.ProcessState)
				}
				allEnd(t, family)
				if files, _ := filepath.Glob(filepath.Join(temp, "*")); len(files) > 0 {
					t.Errorf("files are left: %v", files)
				}
			})
		}
	}
}

// converse opens a session, creates a context and runs code in it until that
// has printed something.
func converse(t *testing.T, in io.Writer, out io.Reader, language, code string) {
	t.Helper()
	lines := bufio.NewReader(out)
	hear := func(part string) string {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("never heard %s: %v", part, err)
			}
			if strings.Contains(line, part) {
				return line
			}
		}
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	hear(`"protocolVersion":"2025-11-25"`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_code_context","arguments":{"language":%q}}}`+"\n", language)
	_, rest, _ := strings.Cut(hear(`"structuredContent"`), `"structuredContent":{"contextId":"`)
	id, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatal("no context was created")
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_in_code_context","arguments":{"contextId":%q,"code":%q},"_meta":{"progressToken":"p"}}}`+"\n", id, code)
	hear("started")
}

// The start time distinguishes a process from a later one of the same number.
type process struct {
	pid   int
	start string
}

// descendants returns all processes below pid.
func descendants(pid int) []process {
	children := map[int][]process{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if p, parent, ok := stat(path); ok {
			children[parent] = append(children[parent], p)
		}
	}
	var all []process
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			all = append(all, p)
			queue = append(queue, p.pid)
		}
	}
	return all
}

// stat reads what /proc/PID/stat says, but for zombies.
func stat(path string) (p process, parent int, ok bool) {
	raw, err := os.ReadFile(path)
	i := strings.LastIndexByte(string(raw), ')')
	if err != nil || i < 0 {
		return p, 0, false
	}
	f := strings.Fields(string(raw[i+1:]))
	p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	p.start = f[19]
	parent, _ = strconv.Atoi(f[1])
	return p, parent, f[0] != "Z"
}

// alive returns those that still run.
func alive(list []process) []process {
	var left []process
	for _, p := range list {
		if now, _, ok := stat(fmt.Sprintf("/proc/%d/stat", p.pid)); ok && now == p {
			left = append(left, p)
		}
	}
	return left
}

// allEnd waits until none of the processes runs.
func allEnd(t *testing.T, family []process) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(alive(family)) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if left := alive(family); len(left) > 0 {
		t.Errorf("%d of %d processes are left: %v", len(left), len(family), left)
	}
}
