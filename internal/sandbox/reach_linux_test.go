//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

func TestReport(t *testing.T) { eachMode(t, testReport) }

func testReport(t *testing.T, mode sandbox.Mode) {
	s := open(t, &sandbox.Options{Require: mode})
	r := s.Report()
	if r.Backend != mode.String() || s.Mode() != mode || r.User == "" {
		t.Errorf("got %+v", r)
	}
	want := codeinterp.Isolation{Filesystem: codeinterp.ReachLimited, Network: codeinterp.ReachBlocked, Processes: codeinterp.ReachBlocked, HostDeath: "all"}
	switch mode {
	case sandbox.None:
		want = codeinterp.Isolation{Filesystem: codeinterp.ReachOpen, Network: codeinterp.ReachOpen, Processes: codeinterp.ReachOpen, HostDeath: "child"}
	}
	if r.Filesystem != want.Filesystem || r.Network != want.Network || r.Processes != want.Processes || r.HostDeath != want.HostDeath {
		t.Errorf("got %+v, want %+v", r, want)
	}
	s = open(t, &sandbox.Options{Require: mode, Network: true, Limits: sandbox.Limits{Memory: -1, Processes: -1, Disk: -1}})
	if r := s.Report(); r.Network != codeinterp.ReachOpen || r.Memory != "none" || r.PIDs != "none" || r.Disk != "none" || r.CPU != "none" {
		t.Errorf("with network and without limits: %+v", r)
	}
}

// TestNetwork checks what Options.Network opens, and that unix sockets stay
// closed.
func TestNetwork(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		h := newHost(t)
		s := open(t, &sandbox.Options{Require: mode, Network: true, ReadOnly: []string{h.Dir}})
		got := runPython(t, s, h, `
socket.create_connection(('127.0.0.1', H['TCP']), 5).close()
print('connected')
for f in (lambda: socket.socket(socket.AF_UNIX).connect(H['Socket']), lambda: socket.socket(socket.AF_UNIX).connect('\0' + H['Abst']),
          lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', H['Dgram'])):
    attempt(f)
attempt(socket.gethostbyname, 'localhost')
`)
		if !strings.Contains(got.out, "connected") {
			t.Errorf("got %+v", got)
		}
		await(func() bool { return h.hits.Load() > 0 })
		time.Sleep(20 * time.Millisecond)
		if n := h.hits.Load(); n != 1 {
			t.Errorf("%d connections, want 1: %s", n, got.out)
		}
	})
}

// TestLoopback checks that a server and its client inside one bubblewrap reach
// each other.
func TestLoopback(t *testing.T) {
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.Bwrap})
	if err != nil {
		needs(t, "bwrap", err)
	}
	defer s.Close()
	got := run(t, s, sandbox.Cmd{Path: python, Args: []string{"python3", "-I", "-"}}, `
import socket
l = socket.create_server(('127.0.0.1', 8000))
c = socket.create_connection(('127.0.0.1', 8000))
l.accept()[0].sendall(b'hello')
print(c.recv(10))
`)
	if !strings.Contains(got.out, "hello") {
		t.Errorf("got %+v", got)
	}
}

// TestPaths checks what ReadOnly and Writable open.
func TestPaths(t *testing.T) { eachMode(t, testPaths) }

func testPaths(t *testing.T, mode sandbox.Mode) {
	if mode == sandbox.None {
		return
	}
	dir, err := os.MkdirTemp("/var/tmp", "paths-") // not under /tmp, which bwrap has its own of
	check(t, err)
	defer os.RemoveAll(dir)
	check(t, os.Chmod(dir, 0o755))
	for _, name := range []string{"read", "read/write", "write", "write/read", "more", "hidden"} {
		check(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		check(t, os.Chmod(filepath.Join(dir, name), 0o777))
		check(t, os.WriteFile(filepath.Join(dir, name, "file"), []byte("content of "+name+"\n"), 0o666))
		check(t, os.Chmod(filepath.Join(dir, name, "file"), 0o666))
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	s := open(t, &sandbox.Options{Require: mode, ReadOnly: []string{path("read"), path("no such")}, Writable: []string{path("write"), path("read/write")}})
	c := sh
	c.ReadOnly = []string{path("more/file")}
	got := run(t, s, c, fmt.Sprintf(`cd %s
for f in read read/write write more hidden; do cat $f/file; done
for f in read read/write write more hidden; do echo x 2>/dev/null >>$f/file && echo wrote $f; echo x 2>/dev/null >$f/new && echo made $f; done
true`, dir))
	var lines []string
	for line := range strings.Lines(got.out) {
		if strings.HasPrefix(line, "content") || strings.HasPrefix(line, "wrote") || strings.HasPrefix(line, "made") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := "content of read, content of read/write, content of write, content of more, wrote read/write, made read/write, wrote write, made write"
	if strings.Join(lines, ", ") != want {
		t.Errorf("got %q\nwant %q\n%s", strings.Join(lines, ", "), want, got.out)
	}
	for _, name := range []string{"read/new", "more/new", "hidden/new"} {
		if _, err := os.Stat(path(name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}
