//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// hostThatDies starts a program with a child, tells, and waits to be killed.
func hostThatDies() error {
	mode := map[string]sandbox.Mode{"none": sandbox.None, "landlock": sandbox.Landlock, "bwrap": sandbox.Bwrap}[os.Getenv("MODE")]
	s, err := sandbox.New(&sandbox.Options{Require: mode})
	if err != nil {
		return err
	}
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	mark := os.Getenv("MARK")
	_, err = s.Start(&sandbox.Cmd{
		Path: python, Args: []string{"python3", "-I", "-c", `
import os, sys
for kind in 'fork', 'daemon':
    if os.fork() == 0:
        if kind == 'daemon':
            if os.fork(): os._exit(0)
        os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(100) #` + mark + `GRAND'])
print('up', flush=True)
while True: pass
#` + mark + `CHILD`},
		Env: s.Env(dir, nil, nil), Workdir: dir, Files: []*os.File{nil, os.Stdout, os.Stdout},
	})
	if err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return nil
}

// hostThatStarts starts a program when it is asked to.
func hostThatStarts() error {
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.Bwrap})
	if err != nil {
		return err
	}
	if path := os.Getenv("BWRAP"); path != "" {
		s.SetBwrap(path)
	}
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	in, code, err := os.Pipe()
	if err != nil {
		return err
	}
	_, err = s.Start(&sandbox.Cmd{Path: "/bin/sh", Args: []string{"sh", "-s", os.Getenv("MARK")}, Workdir: dir, Files: []*os.File{in}})
	fmt.Fprintln(code, "sleep 100 #"+os.Getenv("MARK"))
	time.Sleep(time.Minute)
	return err
}

func needsBwrap(t *testing.T) {
	t.Helper()
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.Bwrap})
	if err != nil {
		needs(t, "bwrap", err)
	}
	s.Close()
}

// openTemp makes a directory for a host's own, which all users may enter.
func openTemp(t *testing.T) string {
	t.Helper()
	tmp := must(os.MkdirTemp("", "death-"))
	t.Cleanup(func() { os.RemoveAll(tmp) })
	check(t, os.Chmod(tmp, 0o755))
	return tmp
}

// TestHostDeathAtStart kills hosts while bubblewrap is making namespaces, when
// its child is not tied to it yet; the program then finds no code.
func TestHostDeathAtStart(t *testing.T) {
	needsBwrap(t)
	tmp := openTemp(t)
	mark := strconv.Itoa(2000000 + os.Getpid())
	for i := range 30 {
		cmd := helper("starts")
		cmd.Env = append(cmd.Env, "MARK="+mark, "TMPDIR="+tmp)
		in := must(cmd.StdinPipe())
		out := must(cmd.StdoutPipe())
		check(t, cmd.Start())
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("got %q", line)
		}
		in.Write([]byte{1})
		time.Sleep(time.Duration(i) * 200 * time.Microsecond)
		check(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	if !await(func() bool { return len(leftover.Running(mark)) == 0 }) {
		t.Errorf("survivors: %v", leftover.Running(mark))
		for _, pid := range leftover.Running(mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestHostDeathUntied kills a host whose bubblewrap has forked and has not tied
// its child to itself: with another program in its place, it never does.
func TestHostDeathUntied(t *testing.T) {
	needsBwrap(t)
	tmp := openTemp(t)
	bwrap := filepath.Join(tmp, "bwrap")
	mark := fmt.Sprintf("UNTIED%d", os.Getpid())
	check(t, os.WriteFile(bwrap, []byte("#!/bin/sh\n(sleep 100 & sleep 100; : "+mark+") & wait"), 0o755))
	cmd := helper("starts")
	cmd.Env = append(cmd.Env, "MARK="+mark, "TMPDIR="+tmp, "BWRAP="+bwrap)
	in := must(cmd.StdinPipe())
	check(t, cmd.Start())
	in.Write([]byte{1})
	if !await(func() bool { return len(leftover.Running(mark)) == 2 }) {
		t.Errorf("%v", leftover.Running(mark))
	}
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if !await(func() bool { return len(leftover.Running(mark)) == 0 }) {
		t.Errorf("survivors: %v", leftover.Running(mark))
	}
}

func TestHostDeath(t *testing.T) { eachMode(t, testHostDeath) }

func testHostDeath(t *testing.T, mode sandbox.Mode) {
	if left := outlive(t, mode); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}

// outlive kills a host and returns which of its programs go on.
func outlive(t *testing.T, mode sandbox.Mode) []int {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	mark := fmt.Sprintf("DEATH%d%s", os.Getpid(), mode)
	tmp := openTemp(t)
	cmd := helper("host")
	cmd.Env = append(cmd.Env, "MODE="+mode.String(), "MARK="+mark, "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Errorf("got %q", line)
	}
	await(func() bool { return len(leftover.Running(mark+"GRAND")) >= 3 }) // the child has it too
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	await(func() bool { return len(leftover.Running(mark)) == 0 })
	left := leftover.Running(mark)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}
