//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// server is what allowed.test means.
var server = sync.OnceValue(func() string {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from "+r.Host) }))
	return l.Addr().String()
})

// A trivialGate passes HTTP requests for allowed.test on to the server, for the proxy's
// clients and for those that connect to its address. It answers names with one address, and
// speaks first on port 5432.
func trivialGate(ports ...int) *sandbox.Egress {
	return &sandbox.Egress{
		Serve: func(c net.Conn, dst netip.AddrPort) {
			defer c.Close()
			if dst.Port() == 5432 {
				fmt.Fprintf(c, "hello from %s\n", dst)
				return
			}
			in := bufio.NewReader(c)
			for {
				b, err := in.Peek(2)
				if err != nil || b[0] != 0 {
					break
				}
				query := make([]byte, 2+binary.BigEndian.Uint16(b)) // DNS over TCP
				_, _ = io.ReadFull(in, query)
				a := allowedName(query[2:])
				_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...))
			}
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if r.Host != "allowed.test" {
				fmt.Fprint(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				return
			}
			r.URL.Scheme, r.URL.Host, r.RequestURI, r.Close = "http", server(), "", true
			if res, err := http.DefaultTransport.RoundTrip(r); err == nil {
				res.Close = true
				_ = res.Write(c)
			}
		},
		DNS:   allowedName,
		Ports: ports,
	}
}

// allowedName answers a question for the address of allowed.test with 198.18.0.9.
func allowedName(query []byte) []byte {
	if len(query) < 12 {
		return nil
	}
	end := 12
	for end < len(query) && query[end] != 0 {
		end += 1 + int(query[end])
	}
	end += 5
	if end > len(query) {
		return nil
	}
	a := append([]byte{}, query[:end]...)
	a[2], a[3] = 0x81, 0x80
	copy(a[6:12], make([]byte, 6))
	known := strings.HasPrefix(string(query[12:]), "\x07allowed\x04test\x00")
	switch {
	case !known:
		a[3] |= 3
	case query[end-3] == 1: // A
		a[7] = 1
		a = append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 198, 18, 0, 9)
	}
	return a
}

// reaches is a program that tries the ways out that there are, and those that there are
// not.
const reaches = `
import socket, urllib.request
def get(url, proxy):
    o = urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3128'} if proxy else {}))
    try: return o.open(url, timeout=20).read().decode()
    except urllib.error.HTTPError as e: return str(e.code)
    except OSError as e: return type(e.reason).__name__
print('proxy', get('http://allowed.test/', True))
print('refused', get('http://other.test/', True))
print('name', get('http://allowed.test/', False))
print('unknown', get('http://other.test/', False))
with socket.create_connection(('198.18.0.9', 5432), 20) as c: print('first', c.recv(99).decode().strip())
def connect(host, port):
    with socket.create_connection((host, port), 3) as c: reached((host, port))
for host, port in ('127.0.0.1', H['TCP']), ('192.0.2.1', 80), ('169.254.169.254', 80), ('::1', H['TCP']), ('::ffff:127.0.0.1', H['TCP']):
    attempt(connect, host, port)
def udp(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', H['UDP']))
def raw(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); reached('raw')
def path(): socket.socket(socket.AF_UNIX).connect(H['Socket'])
for f in udp, raw, path: attempt(f)
s = socket.socket()
for dst in ('127.0.0.1', 3128), ('127.0.0.1', H['TCP']):
    try: s.connect(dst)
    except OSError as e: print(e)
attempt(s.sendto, b'x', 0x20000000, ('127.0.0.1', H['TCP'])) # MSG_FASTOPEN
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
`

// TestEgress: a program reaches what its Egress answers, by the proxy and by name, and
// nothing else.
func TestEgress(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		h := newHost(t)
		s := open(t, &sandbox.Options{Require: mode, Egress: true})
		if r := s.Report(); r.Network != codeinterp.ReachLimited {
			t.Errorf("reported %s", r.Network)
		}
		got := runEgress(t, s, h, trivialGate(80, 5432), reaches)
		for _, want := range []string{"proxy hello from allowed.test", "refused 403", "name hello from allowed.test", "unknown gaierror", "first hello from 198.18.0.9:5432"} {
			if !strings.Contains(got.out, want+"\n") {
				t.Errorf("no %q in %s", want, got.out)
			}
		}
		time.Sleep(20 * time.Millisecond)
		if strings.Contains(got.out, "REACHED") || h.hits.Load() > 0 || got.exit.Code != 0 {
			t.Errorf("%d connections to the host: %+v", h.hits.Load(), got)
		}
		// Without an Egress a program of the same sandbox has no network.
		got = runEgress(t, s, h, nil, "attempt(socket.create_connection, ('127.0.0.1', 3128))\nprint('end')")
		if !strings.Contains(got.out, "end") || strings.Contains(got.out, "hello") {
			t.Errorf("without Egress: %+v", got)
		}
		attacked := ""
		for _, name := range []string{"internet sockets", "unix sockets", "other socket families", "addresses of the host", "kernel interfaces"} {
			attacked += find(t, attacks, name, func(a attack) string { return a.name }).code
		}
		got = runEgress(t, s, h, trivialGate(80), attacked)
		time.Sleep(20 * time.Millisecond)
		if strings.Contains(got.out, "REACHED") || strings.Contains(got.out, "Traceback") || h.hits.Load() > 0 {
			t.Errorf("%d connections: %s", h.hits.Load(), got.out)
		}
		if _, err := os.Stat("/usr/bin/curl"); err == nil {
			c := sh
			c.Egress = trivialGate(80)
			got := run(t, s, c, "for u in allowed.test other.test; do curl -s http://$u/; curl -s -x http://127.0.0.1:3128 -w ' %{http_code}' http://$u/; done")
			if got.out != "hello from allowed.testhello from allowed.test 200 403" {
				t.Errorf("curl: %+v", got)
			}
		}
	})
}

func runEgress(t *testing.T, s *sandbox.Sandbox, h *host, e *sandbox.Egress, code string) result {
	t.Helper()
	dir := must(s.TempDir())
	defer s.Discard(dir)
	cmd := sandbox.Cmd{Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dir, Egress: e,
		Env: s.Env(dir, nil, map[string]string{"H": h.json()})}
	return run(t, s, cmd, prelude+code+"\n")
}

// TestEgressWithoutTrace: a root host without the right to trace knows the destinations
// too.
func TestEgressWithoutTrace(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("the host is not root, or there is no setpriv")
	}
	out, err := exec.Command(setpriv, "--bounding-set=-sys_ptrace,-sys_admin", "--inh-caps=-sys_ptrace,-sys_admin",
		must(os.Executable()), "-test.run=^TestEgress$", "-test.v").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, failed(out))
	}
}

// TestEgressEnds: connections end with the program, and a program cannot have more than
// a host can bear.
func TestEgressEnds(t *testing.T) {
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if mode == sandbox.None {
			return
		}
		s := open(t, &sandbox.Options{Require: mode, Egress: true})
		var live, most atomic.Int32
		got := runEgress(t, s, newHost(t), &sandbox.Egress{Serve: func(c net.Conn, _ netip.AddrPort) {
			now := live.Add(1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			_, _ = c.Write([]byte("y"))
			_, _ = io.Copy(io.Discard, c)
			live.Add(-1)
		}}, `
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
l = []
def open_one():
    s = socket.create_connection(('127.0.0.1', 3128), 5)
    l.append(s)
    s.sendall(b'x')
for i in range(400): attempt(open_one)
import select
poll, answered = select.poll(), 0
for s in l: poll.register(s, select.POLLIN)
while answered < 200:
    for fd, _ in poll.poll(60000) or sys.exit('%d of %d answered' % (answered, len(l))):
        poll.unregister(fd)
        answered += attempt(os.read, fd, 1) == b'y'
print('opened', answered >= 200)`)
		if !strings.Contains(got.out, "opened True") {
			t.Errorf("got %+v", got)
		}
		if !await(func() bool { return live.Load() == 0 }) || most.Load() > 256 || most.Load() < 200 {
			t.Errorf("%d open at once, %d now", most.Load(), live.Load())
		}
	})
}

// TestEgressFork: children of a fork server have ways out of their own.
func TestEgressFork(t *testing.T) {
	s := open(t, &sandbox.Options{Require: sandbox.Landlock, Egress: true})
	server := startForkServer(t, s, &sandbox.Egress{})
	for _, e := range []*sandbox.Egress{trivialGate(), nil, trivialGate()} {
		p, out := server.fork(t, &sandbox.Cmd{Workdir: must(s.TempDir()), Egress: e}, `
import urllib.request
try: print(urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3128'})).open('http://allowed.test/', timeout=20).read())
except OSError as e: print(e)`)
		exit := server.finish(p)
		b, _ := io.ReadAll(out)
		if exit.Code != 0 || strings.Contains(string(b), "hello") != (e != nil) {
			t.Errorf("with Egress %t: %+v %s", e != nil, exit, b)
		}
	}
}

// TestEgressRefused: where it cannot be kept, New fails and says why.
func TestEgressRefused(t *testing.T) {
	_, err := sandbox.New(&sandbox.Options{Require: sandbox.None, AllowNone: true, Egress: true})
	if !errors.Is(err, codeinterp.ErrIsolation) || !strings.Contains(err.Error(), "egress") {
		t.Errorf("none: %v", err)
	}
	if _, err := sandbox.New(&sandbox.Options{Egress: true, Network: true}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("with the host's network: %v", err)
	}
	s := open(t, &sandbox.Options{Require: sandbox.Landlock})
	dir := must(s.TempDir())
	defer s.Discard(dir)
	if _, err := s.Start(&sandbox.Cmd{Path: "/bin/true", Workdir: dir, Egress: trivialGate()}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("not prepared: %v", err)
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
		before := openDescriptors(t)
		res := run(t, s, sandbox.Cmd{Path: "/usr/bin/python3", Args: []string{"python3", "-"}, Egress: trivialGate(80)},
			strings.ReplaceAll(egressRace, "HOSTPORT", fmt.Sprint(host.Addr().(*net.TCPAddr).Port)))
		if !strings.Contains(res.out, "tries True hits 0") {
			t.Errorf("%s", res.out)
		}
		await(func() bool { return openDescriptors(t) <= before+3 })
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
