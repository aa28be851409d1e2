package sandbox

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

// TestClock: a clock counts what comes of a process from when it is opened, of
// children that have ended too, and nothing of before.
func TestClock(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `
burn() { i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; }
burn; echo before
read x; (burn); echo after
read x`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewReader(out)
	next := func(want string) procfs.Stat {
		t.Helper()
		if line, err := lines.ReadString('\n'); err != nil || line != want+"\n" {
			t.Fatalf("got %q, %v", line, err)
		}
		st, err := procfs.Read(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	before := next("before")
	var c clock
	c.open(cmd.Process.Pid)
	if c.file == 0 {
		t.Log("this machine does not let hosts count so; limits are enforced by what is seen")
		if c.time() != 0 {
			t.Error("a clock that was refused tells something")
		}
		c.close()
		return
	}
	if n := c.time(); n > before.Own/2 {
		t.Errorf("%v at once, of a process that had used %v before", n, before.Own)
	}
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	// In ticks of 10 ms, of which a short time can miss some.
	used := next("after").All - before.All
	if n := c.time(); n < used-50*time.Millisecond || n < 20*time.Millisecond || n > 2*used+100*time.Millisecond {
		t.Errorf("%v, where the kernel says %v", n, used)
	}
	c.close()
	if n := c.time(); n != 0 || c.file != 0 {
		t.Errorf("closed, it tells %v", n)
	}
}
