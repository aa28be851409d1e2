//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// A census counts what can leak.
type census struct{ goroutines, threads, fds, children, dirs int }

func count(t testing.TB, tmp string) census {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	threads, err := os.ReadDir("/proc/self/task")
	check(t, err)
	dirs, err := os.ReadDir(tmp)
	check(t, err)
	b, _ := os.ReadFile("/proc/self/task/" + strconv.Itoa(unix.Getpid()) + "/children")
	return census{runtime.NumGoroutine(), len(threads), len(fds), len(strings.Fields(string(b))) + len(zombies()), len(dirs)}
}

func TestLeaks(t *testing.T) { nightly(t, testLeaks) }

func testLeaks(t *testing.T, mode sandbox.Mode) {
	tmp, err := os.MkdirTemp("", "leaks-")
	check(t, err)
	defer os.RemoveAll(tmp)
	check(t, os.Chmod(tmp, 0o755))
	round := func(n int) {
		s, err := sandbox.New(&sandbox.Options{Require: mode, TempDir: tmp})
		check(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range n / 4 {
					dir, err := s.TempDir()
					if err != nil {
						t.Error(err)
						return
					}
					p, err := s.Start(&sandbox.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 100 & exit 3"}, Workdir: dir, Limits: sandbox.Limits{CPU: 100}})
					if err != nil {
						t.Error(err)
						return
					}
					if exit := p.Wait(); exit.Code != 3 {
						t.Errorf("got %+v", exit)
					}
					if err := sandbox.RemoveAll(dir); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		check(t, s.Close())
	}
	round(20)
	var before, after census
	if !await(func() bool { before = count(t, tmp); return before.goroutines < 10 }) {
		t.Logf("%+v", before)
	}
	round(200)
	if !await(func() bool {
		after = count(t, tmp)
		return after.goroutines <= before.goroutines && after.threads <= before.threads+4 && after.fds <= before.fds && after.children <= before.children && after.dirs <= before.dirs
	}) {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
