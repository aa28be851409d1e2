package procfs

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	for _, read := range []func() (Stat, error){Thread, func() (Stat, error) { return Read(os.Getpid()) }} {
		s, err := read()
		if err != nil || s.Parent != os.Getppid() || s.Group != syscall.Getpgrp() || s.Threads < 1 || s.RSS < 1<<20 || s.Start == 0 {
			t.Errorf("got %+v, %v", s, err)
		}
	}
	if s, err := Read(1 << 30); err == nil {
		t.Errorf("a process that is not there: %+v", s)
	}
	if b, err := File(os.Getpid(), "comm"); err != nil || len(b) == 0 {
		t.Errorf("comm is %q, %v", b, err)
	}
}

func TestParse(t *testing.T) {
	s, err := parse("7 (x) S 1) R 3 4 5 0 -1 0 0 0 0 0 100 50 25 25 20 0 9 0 12345 1000 10 0")
	want := Stat{PID: 7, Name: "x) S 1", State: 'R', Parent: 3, Group: 4, Threads: 9, Own: 1500 * time.Millisecond,
		All: 2 * time.Second, Start: 12345, RSS: 10 * int64(os.Getpagesize())}
	if err != nil || s != want {
		t.Errorf("got  %+v, %v\nwant %+v", s, err, want)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) S 1", "x (x) R 3 4 5 0 -1 0 0 0 0 0 100 50 25 25 20 0 9 0 12345 1000 10 0"} {
		if s, err := parse(bad); err == nil {
			t.Errorf("parse(%q) = %+v", bad, s)
		}
	}
}

func TestDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 100 & echo; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	out.Read(make([]byte, 1)) // the shell has started its child
	list, ok := Descendants()
	if !ok || len(list) != 2 || !slices.ContainsFunc(list, func(s Stat) bool { return s.Parent == cmd.Process.Pid }) {
		t.Errorf("got %+v, %v", list, ok)
	}
	if all := PIDs(); !slices.Contains(all, os.Getpid()) || !slices.Contains(all, cmd.Process.Pid) {
		t.Errorf("PIDs() = %v", all)
	}
}

func FuzzParse(f *testing.F) {
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(own))
	f.Add("1 (a) b) c) S 2 3 4 5")
	f.Add("1 ()\x00 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parse(text); (err == nil) == (s.State == 0) {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	})
}
