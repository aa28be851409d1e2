//go:build real && (amd64 || arm64)

package forkexec

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// stopping is a child that stops so many times before it calls exec.
func stopping(times int) *Steps {
	s := &Steps{}
	s.Signals()
	s.Do(unix.SYS_SETPGID, 0, 0)
	for range times {
		s.Do(unix.SYS_KILL, 0, uintptr(unix.SIGSTOP))
	}
	path, args, env := s.Text("/bin/true"), s.Texts([]string{"true"}), s.Texts(nil)
	s.Unmask()
	s.Do(unix.SYS_EXECVE, path, args, env)
	return s
}

// TestStoppedBeforeExec has a child stopped while the host waits for it. The
// rest of the host goes on meanwhile, and collects garbage.
func TestStoppedBeforeExec(t *testing.T) {
	if _, err := os.Stat("/bin/true"); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	run := func(times int) error {
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			pid, err := stopping(times).Run()
			if err == nil {
				if ws := Reap(pid, nil); !ws.Exited() || ws.ExitStatus() != 0 {
					t.Errorf("it ended with %#x", ws)
				}
			}
			done <- err
		}()
		for {
			select {
			case err := <-done:
				return err
			default:
				runtime.GC()
			}
		}
	}
	for _, times := range []int{0, 1, 3} {
		if err := run(times); err != nil {
			t.Errorf("stopped %d times: %v", times, err)
		}
	}
	if err := run(1000); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("stopped always: %v", err)
	}
}
