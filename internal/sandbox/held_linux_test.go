//go:build amd64 || arm64

package sandbox_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestHeld: both ends of a program's pseudo terminals count, and each descriptor that
// an epoll of its watches; where there could be more of these than anybody would read,
// all that a user can have.
func TestHeld(t *testing.T) {
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		terminals := int64(30)
		if mode == sandbox.Landlock { // there are none
			terminals = 0
		}
		mark := "HELD" + strconv.Itoa(os.Getpid()) + mode.String()
		s := open(t, &sandbox.Options{Require: mode})
		in, w := pipe(t)
		r, out := pipe(t)
		dir := must(s.TempDir())
		defer s.Discard(dir)
		p := must(s.Start(&sandbox.Cmd{
			Path: python, Args: []string{"python3", "-I", "-c", fmt.Sprintf(`
import os, select, sys
keep = [os.openpty() for i in range(%d)], [os.eventfd(0) for i in range(50)], [select.epoll() for i in range(4)]
for e in keep[2]:
    for fd in keep[1]: e.register(fd, 0)
print('up', flush=True); sys.stdin.read() #%s`, terminals, mark)},
			Env: s.Env(dir, nil, nil), Workdir: dir, Files: []*os.File{in, out, out},
		}))
		in.Close()
		out.Close()
		defer p.Wait()
		defer w.Close()
		if line, _ := bufio.NewReader(r).ReadString('\n'); line != "up\n" {
			t.Fatalf("got %q", line)
		}
		pids := marked(mark)
		bytes, all, each := sandbox.HeldBy(pids, 1024)
		if want := 2*terminals*each[0] + 200*each[1]; bytes != want || !all {
			t.Errorf("%d bytes, all %v, want %d", bytes, all, want)
		}
		bytes, all, each = sandbox.HeldBy(pids, 1<<20)
		if want := 2*terminals*each[0] + each[2]; bytes != want || !all {
			t.Errorf("%d bytes, all %v, want %d", bytes, all, want)
		}
	})
}
