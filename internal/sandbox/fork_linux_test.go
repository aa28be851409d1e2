//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"bufio"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A forkServer is a Python process that forks, and the host's side of it.
type forkServer struct {
	s       *sandbox.Sandbox
	process *sandbox.Process
	conn    *net.UnixConn
	pids    chan int
	status  chan map[string]int
}

//go:embed testdata/forkserver.py
var forkServerCode string

const python = "/usr/bin/python3"

func startForkServer(t testing.TB, s *sandbox.Sandbox, e *sandbox.Egress) *forkServer {
	t.Helper()
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	c, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	dir, err := s.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := s.Start(&sandbox.Cmd{
		Path: python, Args: []string{"python3", "-I", "-S", "-c", forkServerCode}, Env: s.Env(dir, nil, nil), Workdir: dir,
		Files: []*os.File{null, null, os.Stderr, theirs}, ForkServer: true, Egress: e,
	})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	f := &forkServer{s: s, process: p, conn: c.(*net.UnixConn), pids: make(chan int), status: make(chan map[string]int, 100)}
	lines := bufio.NewScanner(f.conn)
	if !lines.Scan() {
		t.Fatalf("the fork server did not start: %+v", p.Wait())
	}
	go func() {
		for lines.Scan() {
			var m map[string]int
			_ = json.Unmarshal(lines.Bytes(), &m)
			if _, ok := m["status"]; ok {
				f.status <- m
			} else {
				f.pids <- m["pid"]
			}
		}
		close(f.status)
	}()
	return f
}

// fork starts a child that runs code, and returns it with its output.
func (f *forkServer) fork(t testing.TB, c *sandbox.Cmd, code string) (*sandbox.Process, io.Reader) {
	t.Helper()
	fork, err := f.s.Fork(f.process, c)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	in, codeW := pipe(t)
	r, out := pipe(t)
	l := fork.Layer
	fds := []int{int(in.Fd()), int(out.Fd())}
	if l.Ruleset != nil {
		fds = append(fds, int(l.Ruleset.Fd()))
	}
	b, err := json.Marshal(map[string]any{
		"Group": l.Group, "DeathSignal": l.DeathSignal, "Workdir": l.Workdir, "Rlimits": l.Rlimits, "Seccomp": hex.EncodeToString(l.Seccomp),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.conn.WriteMsgUnix(b, unix.UnixRights(fds...), nil); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	p, err := fork.Adopt(<-f.pids)
	if err != nil {
		b, _ := io.ReadAll(r)
		t.Fatal(err, string(b))
	}
	io.WriteString(codeW, code)
	codeW.Close()
	return p, r
}

// finish waits for the status of one child.
func (f *forkServer) finish(p *sandbox.Process) sandbox.Exit {
	for m := range f.status {
		if m["pid"] == p.Pid() {
			p.Finish(uint32(m["status"]))
			break
		}
	}
	return p.Wait()
}

func TestFork(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Landlock} {
		t.Run(mode.String(), func(t *testing.T) { testFork(t, mode) })
	}
}

func testFork(t *testing.T, mode sandbox.Mode) {
	s := open(t, &sandbox.Options{Require: mode})
	server := startForkServer(t, s, nil)
	dirs := make([]string, 2)
	for i := range dirs {
		var err error
		if dirs[i], err = s.TempDir(); err != nil {
			t.Fatal(err)
		}
	}
	p, out := server.fork(t, &sandbox.Cmd{Workdir: dirs[0]}, "open('f', 'w').write('x'); print(open('f').read()); import os; os._exit(7)")
	b, _ := io.ReadAll(out)
	if exit := server.finish(p); exit.Code != 7 {
		t.Errorf("got %+v, %s", exit, b)
	}
	p, out = server.fork(t, &sandbox.Cmd{Workdir: dirs[1]}, fmt.Sprintf(`
import os
try: print(open('%s/f').read())
except PermissionError: print('hidden')
print(sorted(os.listdir('.')), flush=True)
for i in range(3):
    if os.fork() == 0:
        if %q == 'landlock': os.setsid(); os.setpgid(0, 0)
        import time; time.sleep(100)
import signal; os.kill(os.getpid(), signal.SIGSEGV)
`, dirs[0], mode))
	exit := server.finish(p)
	b, _ = io.ReadAll(out)
	if exit.Signal != syscall.SIGSEGV || exit.Cause != codeinterp.CauseSignal {
		t.Errorf("got %+v, %s", exit, b)
	}
	if mode == sandbox.Landlock && !strings.Contains(string(b), "hidden\n[]") {
		t.Errorf("got %s", b)
	}
	p, out = server.fork(t, &sandbox.Cmd{Workdir: dirs[1]}, "while True: pass")
	time.AfterFunc(100*time.Millisecond, p.Kill)
	if exit := server.finish(p); !exit.Killed {
		t.Errorf("got %+v", exit)
	}
	_, _ = io.ReadAll(out)

	p, out = server.fork(t, &sandbox.Cmd{Workdir: dirs[1]}, "while True: pass")
	server.process.Kill()
	if exit := p.Wait(); exit.Code == 0 {
		t.Errorf("got %+v", exit)
	}
	_, _ = io.ReadAll(out)
}
