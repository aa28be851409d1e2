//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A host is what attacks are after: secrets, files, a process, services.
type host struct {
	Dir     string // readable and writable for everybody
	Secret  string // a file in it
	Link    string // to the secret
	Mine    string // a file in it that belongs to the host's user
	Closed  string // a directory that only the host's user may pass through
	Shown   string // a directory in it, which programs are shown where the host is root
	TCP     int
	UDP     int
	Socket  string // of type stream, in Dir
	Dgram   string
	Abst    string
	Victim  int
	Pid     int
	FD      int // that the host inherited and that is not closed on exec
	Mark    string
	Name    string
	NR      map[string]int
	hits    atomic.Int64 // connections and packets that arrived
	victims *exec.Cmd
	dead    chan struct{}
}

const (
	envSecret  = "hunter2-env"
	fileSecret = "hunter2-file"
)

func newHost(t *testing.T) *host {
	t.Helper()
	t.Setenv("HOST_SECRET", envSecret)
	dir, err := os.MkdirTemp("", "host-")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	check(t, os.Chmod(dir, 0o777))
	h := &host{Dir: dir, NR: numbers, Pid: os.Getpid(), dead: make(chan struct{})}
	h.Secret, h.Mine = filepath.Join(dir, "id_rsa"), filepath.Join(dir, "mine")
	check(t, os.WriteFile(h.Secret, []byte(fileSecret), 0o644))
	check(t, os.WriteFile(h.Mine, []byte("mine"), 0o666))
	h.Link = filepath.Join(dir, "link")
	check(t, os.Symlink(h.Secret, h.Link))
	check(t, os.Chmod(h.Mine, 0o666))
	h.close(t)
	h.Name = must(os.Hostname())
	h.Mark = fmt.Sprintf("MARK%d", os.Getpid())

	h.FD, err = unix.Dup(int(must(os.Open(h.Secret)).Fd()))
	check(t, err)
	t.Cleanup(func() { unix.Close(h.FD) })

	h.victims = exec.Command("sleep", "1000")
	check(t, h.victims.Start())
	h.Victim = h.victims.Process.Pid
	go func() { h.victims.Wait(); close(h.dead) }()
	t.Cleanup(func() { h.victims.Process.Kill(); <-h.dead })
	h.listen(t)
	return h
}

// close makes Closed, with secrets beside what is shown of it. It is not below
// /tmp, which bwrap has its own of.
func (h *host) close(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "closed-")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	h.Closed, h.Shown = dir, filepath.Join(dir, "local", "tool-1.2", "lib")
	check(t, os.MkdirAll(h.Shown, 0o755))
	for _, name := range []string{"id_rsa", "local/id_rsa", "local/tool-1.2/id_rsa"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(fileSecret), 0o666))
	}
	check(t, os.WriteFile(filepath.Join(h.Shown, "module"), []byte("shown"), 0o666))
	check(t, os.Symlink("tool-1.2", filepath.Join(dir, "local", "tool")))
}

func (h *host) listen(t *testing.T) {
	accept := func(l net.Listener) {
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				h.hits.Add(1)
				c.Close()
			}
		}()
	}
	receive := func(c net.PacketConn) {
		t.Cleanup(func() { c.Close() })
		go func() {
			for b := make([]byte, 100); ; {
				if _, _, err := c.ReadFrom(b); err != nil {
					return
				}
				h.hits.Add(1)
			}
		}()
	}
	tcp := must(net.Listen("tcp", "127.0.0.1:0"))
	h.TCP = tcp.Addr().(*net.TCPAddr).Port
	accept(tcp)
	udp := must(net.ListenPacket("udp", "127.0.0.1:0"))
	h.UDP = udp.LocalAddr().(*net.UDPAddr).Port
	receive(udp)
	h.Socket, h.Dgram = filepath.Join(h.Dir, "sock"), filepath.Join(h.Dir, "dgram")
	h.Abst = h.Mark
	accept(must(net.Listen("unix", h.Socket)))
	accept(must(net.Listen("unix", "@"+h.Abst)))
	receive(must(net.ListenPacket("unixgram", h.Dgram)))
	receive(must(net.ListenPacket("unixgram", "@"+h.Abst+"d")))
	check(t, os.Chmod(h.Socket, 0o777))
	check(t, os.Chmod(h.Dgram, 0o777))
}

// json is what attacks get to know.
func (h *host) json() string { b, _ := json.Marshal(h); return string(b) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sprint(args ...any) string { return fmt.Sprintln(args...) }
