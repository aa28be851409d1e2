//go:build linux

package jupyter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestStalledServer: what a program shows while its server stands still is not lost,
// though it is more than sockets and ZeroMQ's queues hold.
func TestStalledServer(t *testing.T) {
	t.Parallel()
	const displays = 3000
	for _, name := range []string{"server6", "server7"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ownServer(t, name, unlimited...)
			c := realSession(t, s, jupyter.Options{})
			dir := t.TempDir()
			stopped, shown := filepath.Join(dir, "stopped"), filepath.Join(dir, "shown")
			go func() {
				for t.Context().Err() == nil {
					if _, err := os.Stat(shown); err == nil {
						_ = s.cmd.Process.Signal(syscall.SIGCONT)
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			seen := 0
			res, err := c.run(fmt.Sprintf(`
import os, time
print("begin", flush=True)
while not os.path.exists(%q):
    time.sleep(0.01)
for i in range(%d):
    display({"text/plain": "x" * 4_000}, raw=True)
print("all", flush=True) # which waits for the thread that sends
open(%q, "w").close()
`, stopped, displays, shown), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
				if o.Kind == codeinterp.Display {
					seen++
				}
				if o.Kind != codeinterp.Stdout || seen > 0 {
					return nil
				}
				if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					return err
				}
				return os.WriteFile(stopped, nil, 0o600)
			}})
			if err != nil || !res.OK() || seen != displays || res.Stdout() != "begin\nall\n" {
				t.Errorf("%d of %d displays came: %v %v %q %+v", seen, displays, res.Status, err, res.Stdout(), res.Truncated)
			}
		})
	}
}
