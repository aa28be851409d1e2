//go:build real && (amd64 || arm64)

package sandbox

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/procfs"
)

// unified returns a new directory of cgroup v2, if there is one that this process may
// write. It needs no controllers: to stop is of the core.
func unified(t *testing.T) string {
	b, _ := os.ReadFile("/proc/mounts")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			if dir, err := os.MkdirTemp(f[1], "toolcell-test-"); err == nil {
				t.Cleanup(func() { _ = os.Remove(dir) })
				return dir
			}
		}
	}
	t.Skip("no cgroup v2 directory that can be written")
	return ""
}

// TestPauseByCgroup: where a tree has a cgroup, that stops it and lets it go on, and a
// stopped tree can be killed.
func TestPauseByCgroup(t *testing.T) {
	s, err := New(&Options{Require: Landlock, TempDir: leftover.Dir(t), Limits: Limits{Memory: -1, Processes: -1}})
	if err != nil {
		t.Skip(err)
	}
	defer s.Close()
	s.cgroups = &cgroups{dir: unified(t)}
	dir, err := s.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Discard(dir)
	p, err := s.Start(&Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "while :; do (:); done"}, Workdir: dir, Env: s.Env(dir, nil, nil)})
	if err != nil {
		t.Fatal(err)
	}
	used := func() time.Duration { st, _ := procfs.Read(p.Pid()); return st.All }
	goesOn := func() {
		t.Helper()
		for before, end := used(), time.Now().Add(30*time.Second); used() == before; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it does not go on")
			}
		}
	}
	for range 3 {
		goesOn()
		if err := s.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := used()
		if time.Sleep(100 * time.Millisecond); used() != before || s.PauseWay() != "cgroup freezer" {
			t.Error("it is not stopped")
		}
		if st, _ := procfs.Read(p.Pid()); st.State == 'T' {
			t.Error("it was stopped by a signal")
		}
		s.Resume()
	}
	goesOn()
	if err := s.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	if exit := p.Wait(); !exit.Killed {
		t.Errorf("ended with %+v", exit)
	}
	s.Resume()
}
