//go:build amd64 || arm64

package forkexec

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A host that forks on busy processors has no thread with blocked signals afterwards: a
// nil pointer there would end it without a word.
func TestSignalsStayOpen(t *testing.T) {
	var stop atomic.Bool
	var busy, forks sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for !stop.Load() { // it keeps a processor busy
			}
		})
	}
	for range 8 {
		forks.Go(func() {
			for range 50 {
				s := &Steps{}
				s.Do(unix.SYS_GETPID)
				pid, err := s.Run()
				if err != nil {
					t.Error(err)
					return
				}
				Reap(pid, nil)
			}
		})
	}
	forks.Wait()
	stop.Store(true)
	busy.Wait()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(b), "SigBlk:\t")
		if mask, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(mask, "ffff") || strings.HasPrefix(mask, "fff") {
			t.Errorf("thread %s blocks %s", task.Name(), mask)
		}
	}
}
