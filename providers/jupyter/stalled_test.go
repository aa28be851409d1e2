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
// though it is more than sockets and ZeroMQ's queues hold, or it is told.
func TestStalledServer(t *testing.T) {
	t.Parallel()
	const displays = 2000
	for _, name := range generations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ownServer(t, name, unlimited...)
			c := realSession(t, s, jupyter.Options{})
			dir := t.TempDir()
			stopped, shown, goOn := filepath.Join(dir, "stopped"), filepath.Join(dir, "shown"), filepath.Join(dir, "goOn")
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
def wait(path):
    while not os.path.exists(path):
        time.sleep(0.01)

print("begin", flush=True)
wait(%q)
for i in range(%d):
    display({"text/plain": "x" * 4_000}, raw=True)
print("all", flush=True) # which waits for the thread that sends
open(%q, "w").close()
wait(%q)
`, stopped, displays, shown, goOn), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
				switch {
				case o.Kind == codeinterp.Display:
					if seen++; seen == displays/4 { // the server reads again
						return os.WriteFile(goOn, nil, 0o600)
					}
				case seen == 0:
					if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
						return err
					}
					return os.WriteFile(stopped, nil, 0o600)
				}
				return nil
			}})
			// On a machine that is too busy the socket is lost meanwhile, which is told.
			if len(res.Truncated) == 0 && (err != nil || !res.OK() || seen != displays || res.Stdout() != "begin\nall\n") {
				t.Errorf("%d of %d displays came: %v %v %q", seen, displays, res.Status, err, res.Stdout())
			}
		})
	}
}
