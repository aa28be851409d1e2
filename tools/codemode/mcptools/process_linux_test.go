package mcptools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestEndOfGroup: what a server leaves in its group ends with it, and what has
// its id afterwards does not.
func TestEndOfGroup(t *testing.T) {
	start := func(code string) (*process, *bufio.Reader) {
		cmd := exec.Command("sh", "-c", code)
		ownGroup(cmd)
		p := newProcess(cmd)
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		return p, bufio.NewReader(p.stdout)
	}
	p, out := start("sleep 600 & echo $!; cat")
	left, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(left)))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("process %s goes on", left)
		}
	}

	stranger, out := start("exec cat")
	p.cmd.Process = stranger.cmd.Process // as if the id were its own by now
	p.end()
	if _, err := io.WriteString(stranger.stdin, "here\n"); err != nil {
		t.Error(err)
	}
	if line, err := out.ReadString('\n'); line != "here\n" {
		t.Errorf("a stranger was ended: %q, %v", line, err)
	}
	stranger.end()
	if <-stranger.closed; stranger.cmd.ProcessState.Success() {
		t.Error("the process was not killed")
	}
}

// TestDeathAtStart: a server that ends while it starts is told in plain words, and
// not waited for where what it leaves behind holds its output open.
func TestDeathAtStart(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"exit 3":             "server shop: it ended while it started: exit status 3",
		"sleep 600 & exit 4": "server shop: it ended while it started: exit status 4",
		"read line; exit 5":  "server shop: it ended while it started: exit status 5",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			set, err := Open(t.Context(), []Server{{Name: "shop", Command: "sh", Args: []string{"-c", code}}}, &Options{StartTimeout: 5 * time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			if p := set.Problems(); len(p) != 1 || p[0].Error() != want {
				t.Errorf("%v", p)
			}
			if took := time.Since(start); took > 4*time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestDeathWithChild: the end of a server is noticed while a child of it, in a session
// of its own, holds its pipes; the call in progress fails and the next one is served.
func TestDeathWithChild(t *testing.T) {
	t.Parallel()
	server := Server{Name: "my", Command: os.Args[0], Env: map[string]string{"MCPTOOLS_SERVER": "scripted"}}
	var stderr lockedBuffer
	set, err := Open(t.Context(), []Server{server}, &Options{Timeout: 5 * time.Minute, Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	call := func(args string) (string, error) {
		v, _, err := set.Entries()[0].Call(t.Context(), codeinterp.FunctionCall{Number: 1, Args: json.RawMessage(args)})
		return string(v), err
	}
	start := time.Now()
	for range 2 {
		if v, err := call(`{"do":"leave"}`); err == nil || !strings.Contains(err.Error(), "has ended during the call. It may or may not have been done.") {
			t.Errorf("%s, %v", v, err)
		}
		if v, err := call(`{}`); err != nil || v != `"fine"` {
			t.Errorf("%s, %v", v, err)
		}
	}
	if took := time.Since(start); took > 4*time.Minute {
		t.Errorf("it took %v", took)
	}
	for _, field := range strings.Fields(stderr.String()) {
		if pid, err := strconv.Atoi(field); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestCloseWaits: what was started for a server whose tools cannot be listed, and that
// does not end by itself, has ended when Close returns.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	server := Server{Name: "my", Command: os.Args[0], Env: map[string]string{"MCPTOOLS_SERVER": "unlisted"}}
	var stderr lockedBuffer
	set, err := Open(t.Context(), []Server{server}, &Options{Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	if p := set.Problems(); len(p) != 1 {
		t.Errorf("%v", p)
	}
	var pid int
	if _, err := fmt.Sscan(stderr.String(), &pid); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			set.Close()
			if err := syscall.Kill(pid, 0); err == nil {
				t.Errorf("process %d is there", pid)
			}
		})
	}
	all.Wait()
}

// A lockedBuffer is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
