package mcptools

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestEndOfGroup: what a server leaves in its group ends with it, and what has
// its id afterwards does not.
func TestEndOfGroup(t *testing.T) {
	start := func(code string) (*process, *bufio.Reader) {
		cmd := exec.Command("sh", "-c", code)
		ownGroup(cmd)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		p := &process{cmd: cmd, closed: make(chan struct{})}
		if p.stdin, err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return p, bufio.NewReader(out)
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
	if stranger.cmd.Wait() == nil {
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
