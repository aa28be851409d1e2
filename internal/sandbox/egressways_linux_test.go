//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// An echo is an Egress whose connections are answered with where they went, and whose
// DNS gives every name the address 198.18.0.7.
type echo struct {
	sandbox.Egress
	open atomic.Int32

	mu   sync.Mutex
	seen []netip.AddrPort
}

func newEcho() *echo {
	e := &echo{}
	e.Ports = []int{80, 5432}
	e.Serve = func(c net.Conn, dst netip.AddrPort) {
		e.open.Add(1)
		defer e.open.Add(-1)
		defer c.Close()
		e.mu.Lock()
		e.seen = append(e.seen, dst)
		e.mu.Unlock()
		if dst.Port() == 5432 {
			fmt.Fprintf(c, "hello from %s\n", dst)
			return
		}
		if dst.Port() == 53 { // DNS over TCP: a length before each message
			for size := make([]byte, 2); ; {
				if _, err := io.ReadFull(c, size); err != nil {
					return
				}
				q := make([]byte, int(size[0])<<8|int(size[1]))
				if _, err := io.ReadFull(c, q); err != nil {
					return
				}
				a := e.DNS(q)
				_, _ = c.Write(append([]byte{byte(len(a) >> 8), byte(len(a))}, a...))
			}
		}
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		line, _, _ := strings.Cut(string(b[:n]), "\r\n")
		body := fmt.Sprintf("%s via %s", line, dst)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
		_, _ = io.Copy(io.Discard, c)
	}
	e.DNS = func(q []byte) []byte {
		if len(q) < 12 {
			return nil
		}
		end := len(q)
		for i := 12; i < len(q); i += int(q[i]) + 1 { // over the labels
			if q[i] == 0 {
				end = i + 5
				break
			}
		}
		a := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
		if q[end-3] != 1 {
			return a
		}
		a[7] = 1
		return append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 7)
	}
	return e
}

const egressClient = `
import os, socket, sys, urllib.request, threading, array, fcntl
def attempt(name, f):
    try: print(name, f())
    except OSError as e: print(name, type(e).__name__, e.errno)
def talk(host, port, send=b'GET / HTTP/1.1\r\n\r\n'):
    s = socket.create_connection((host, port), timeout=10)
    if send: s.sendall(send)
    return s.recv(1000).decode().splitlines()[-1]
os.environ['http_proxy'] = 'http://127.0.0.1:3128'
attempt('proxy', lambda: urllib.request.urlopen('http://api.test/x', timeout=10).read().decode())
attempt('address', lambda: talk('198.18.0.7', 80))
attempt('first', lambda: talk('198.18.0.7', 5432, None))
attempt('name', lambda: talk('some.test', 80))
attempt('host', lambda: talk('127.0.0.1', HOSTPORT))
attempt('public', lambda: talk('93.184.216.34', 80))
attempt('metadata', lambda: talk('169.254.169.254', 80))
attempt('six', lambda: talk('::1', HOSTPORT))
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('93.184.216.34', 53)))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('packet', lambda: socket.socket(17, socket.SOCK_RAW))
attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect('/run/x'))
`

// A program reaches what its Egress answers, and nothing else, in both modes.
func TestEgressWays(t *testing.T) {
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	reached := make(chan struct{}, 100)
	go func() {
		for {
			c, err := host.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			c.Close()
		}
	}()
	port := fmt.Sprint(host.Addr().(*net.TCPAddr).Port)
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		s := open(t, &sandbox.Options{Require: mode, Egress: true})
		if got := s.Report().Network; got != codeinterp.ReachLimited {
			t.Errorf("network: %s", got)
		}
		e := newEcho()
		c := sandbox.Cmd{Path: "/usr/bin/python3", Args: []string{"python3", "-"}, Egress: &e.Egress}
		res := run(t, s, c, strings.ReplaceAll(egressClient, "HOSTPORT", port))
		for _, want := range []string{
			"proxy GET http://api.test/x HTTP/1.1 via 127.0.0.1:3128", "address GET / HTTP/1.1 via 198.18.0.7:80", "first hello from 198.18.0.7:5432",
			"name GET / HTTP/1.1 via 198.18.0.7:80",
		} {
			if !strings.Contains(res.out, want+"\n") {
				t.Errorf("no %q in\n%s", want, res.out)
			}
		}
		for line := range strings.Lines(res.out) {
			if name, got, _ := strings.Cut(line, " "); !strings.Contains("proxy address first name udp", name) && !strings.Contains(got, "Error") {
				t.Errorf("reached: %s", line)
			}
		}
		// Without an Egress of its own, a program of the same sandbox reaches nothing.
		res = run(t, s, sandbox.Cmd{Path: "/usr/bin/python3", Args: []string{"python3", "-"}}, strings.ReplaceAll(egressClient, "HOSTPORT", port))
		if strings.Contains(res.out, "via") || strings.Contains(res.out, "hello") {
			t.Errorf("without Egress:\n%s", res.out)
		}
		if n := e.open.Load(); n != 0 {
			t.Errorf("%d connections are open after the program", n)
		}
	})
	if len(reached) > 0 {
		t.Errorf("the host's listener was reached %d times", len(reached))
	}
}

const egressRace = `
import ctypes, os, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
good = struct.pack('<H', socket.AF_INET) + struct.pack('>H', 3128) + socket.inet_aton('127.0.0.1') + bytes(8)
bad = struct.pack('<H', socket.AF_INET) + struct.pack('>H', HOSTPORT) + socket.inet_aton('127.0.0.1') + bytes(8)
buf = ctypes.create_string_buffer(good, 16)
stop = False
def flip():
    while not stop:
        ctypes.memmove(buf, bad, 16); ctypes.memmove(buf, good, 16)
threading.Thread(target=flip, daemon=True).start()
end = time.time() + 1
tries = hits = 0
while time.time() < end:
    fd = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    if fd < 0: time.sleep(0.001); continue
    libc.connect(fd, buf, 16)
    tries += 1
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=fd)
    s.settimeout(1)
    try:
        if s.recv(1, socket.MSG_DONTWAIT) == b'R': hits += 1
    except OSError: pass
    for level, name, value in ((0, 24, 1), (1, 25, b'lo\0'), (6, 30, 1), (0, 19, 1)):
        try: s.setsockopt(level, name, value)
        except OSError: pass
    libc.connect(fd, bytes(16), 16)
    try: s.sendto(b'x', 0x20000000, ('127.0.0.1', HOSTPORT))
    except OSError: pass
    s.close()
stop = True
print('tries', tries > 0, 'hits', hits)
`

// A program that changes the address while connect runs, connects anew, or sets options
// of TCP, reaches nothing but its Egress; many sockets that it leaves cost the host
// nothing.
func TestEgressRace(t *testing.T) {
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	var reached atomic.Int32
	go func() {
		for {
			c, err := host.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			fmt.Fprint(c, "R")
			c.Close()
		}
	}()
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		s := open(t, &sandbox.Options{Require: mode, Egress: true})
		e := newEcho()
		before := openDescriptors(t)
		res := run(t, s, sandbox.Cmd{Path: "/usr/bin/python3", Args: []string{"python3", "-"}, Egress: &e.Egress},
			strings.ReplaceAll(egressRace, "HOSTPORT", fmt.Sprint(host.Addr().(*net.TCPAddr).Port)))
		if !strings.Contains(res.out, "tries True hits 0") {
			t.Errorf("%s", res.out)
		}
		deadline := time.Now().Add(5 * time.Second)
		for openDescriptors(t) > before+3 && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		if after := openDescriptors(t); after > before+3 {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
	if n := reached.Load(); n > 0 {
		t.Errorf("the host's listener was reached %d times", n)
	}
}

func openDescriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
