//go:build real && linux

package subprocess_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// crowd is a program that makes connections and ends them in ways that are not those of
// good clients.
const crowd = `
import socket, struct, threading, time
def px(first=b''):
    s = socket.socket(); s.settimeout(30); s.connect(('127.0.0.1', 3128)); s.sendall(first); return s
def get(path, host='api.test'): return px(b'GET http://%s/%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' % (host.encode(), path, host.encode()))
def whole(s):
    while s.recv(65536): pass
def close(s): s.close()
def half_closed():
    s = px(b'CONNECT api.test:80 HTTP/1.1\r\nHost: api.test:80\r\n\r\n'); s.recv(100); s.sendall(b'GET /half HTTP/1.0\r\nHost: api.test\r\n\r\n'); s.shutdown(socket.SHUT_WR); whole(s)
def tunnel():
    s = px(b'CONNECT raw.test:9 HTTP/1.1\r\nHost: raw.test:9\r\n\r\n'); s.recv(100); s.sendall(b'x' * 100); s.shutdown(socket.SHUT_WR); whole(s)
def slow():
    s = get(b'big')
    for i in range(5): s.recv(1); time.sleep(0.01)
    s.close()
def reset():
    s = get(b'big'); s.recv(10); s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()
left = []
kinds = [lambda: whole(get(b'')), lambda: get(b'big').recv(1), half_closed, tunnel, lambda: px().close(), lambda: left.append(px(b'GET http://api')), slow, reset,
    lambda: whole(get(b'cut')), lambda: whole(get(b'', 'evil.test')), lambda: px(b'\x16\x03\x01\x02\x00\x01').close(), lambda: whole(px(b'\x05\x01\x00\x05\x02\x00\x01\x00'))]
made, wrong = 0, set()
def some(n, first):
    global made
    for i in range(n):
        try: kinds[(first + i) % len(kinds)]()
        except TimeoutError as e: wrong.add('%d: %s' % ((first + i) % len(kinds), e))
        except OSError: pass
        made += 1
        if len(left) > 8: left.pop(0).close()
threads = [threading.Thread(target=some, args=(N // 4, i * 3)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(made, wrong or 'held')`

// crowdServers returns a policy for servers that cut answers, half-close, and send more
// than is read.
func crowdServers(t *testing.T) (*egress.Options, *atomic.Int64) {
	block := make([]byte, 1<<20)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			for range 8 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		case "/cut":
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(block[:1000])
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Connection", "close")
			fmt.Fprint(w, "hello")
		}
	}))
	t.Cleanup(plain.Close)
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	go func() {
		for {
			c, err := raw.Accept()
			if err != nil {
				return
			}
			go func() { // answers first, ends its side, and reads on
				_, _ = c.Write(block[:1000])
				_ = c.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	}()
	seen := &atomic.Int64{}
	return &egress.Options{
		Policy:  egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"api.test"}}, {Hosts: []string{"raw.test"}, Ports: []int{9}, Raw: true}}},
		OnEvent: func(egress.Event) { seen.Add(1) },
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(goodAddress)}, nil
		},
		Dial: func(_ context.Context, a netip.AddrPort) (net.Conn, error) {
			if a.Port() == 9 {
				return net.Dial("tcp", raw.Addr().String())
			}
			return net.Dial("tcp", plain.Listener.Addr().String())
		},
	}, seen
}

// Connections of many contexts that are cut, half-closed, reset, read slowly or left, and
// a gate that ends in their middle and is started anew, leave nothing in the host, and no
// program waits beyond its limits.
func TestNetworkCrowd(t *testing.T) {
	contexts, connections := 4, 96
	if tier.Full {
		contexts, connections = 50, 200
	}
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			o, seen := crowdServers(t)
			before, goroutines := descriptors(t), runtime.NumGoroutine()
			code := strings.Replace(crowd, "N // 4", fmt.Sprintf("%d // 4", connections), 1)
			for _, whole := range []bool{false, true} {
				crowded(t, mode, o, contexts, code, fmt.Sprintf("%d held\n", connections), whole)
			}
			if n := seen.Load(); n < int64(contexts*connections/2) {
				t.Errorf("%d events", n)
			}
			d, g := descriptors(t), runtime.NumGoroutine()
			for end := time.Now().Add(time.Minute); (d > before+2 || g > goroutines+2) && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
				runtime.GC() // closes the pipes by which the runtime has spliced
				d, g = descriptors(t), runtime.NumGoroutine()
			}
			if d > before+2 || g > goroutines+2 {
				t.Errorf("%d descriptors before, %d after; %d goroutines before, %d after", before, d, goroutines, g)
			}
		})
	}
}

// Contexts that take all connections they can get leave a host with few descriptors those
// that it needs. docs/network.md
func TestNetworkExhaustion(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1024, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) })
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			o, _ := crowdServers(t)
			ci, err := subprocess.NewStateful(&subprocess.Options{Egress: o, Sandbox: subprocess.Sandbox{Mode: mode}, Languages: []subprocess.Language{subprocess.Python()}})
			if err != nil {
				t.Fatal(err)
			}
			defer ci.Close()
			var running sync.WaitGroup
			var most atomic.Int64
			contexts := 6 // which want more than twice as many descriptors as there are
			if tier.Full {
				contexts = 20
			}
			for range contexts {
				id, err := ci.CreateContext(t.Context(), "python", nil)
				if err != nil {
					t.Fatal(err)
				}
				running.Go(func() {
					res, err := ci.RunInContext(t.Context(), id, `
import socket
keep = []
for i in range(400):
    try:
        s = socket.socket(); keep.append(s); s.settimeout(1); s.connect(('127.0.0.1', 3128))
        s.sendall(b'CONNECT raw.test:9 HTTP/1.1\r\nHost: raw.test:9\r\n\r\n')
    except OSError: pass
print(len(keep))`, nil)
					if err != nil || !res.OK() {
						t.Errorf("%v %+v", err, res)
					}
					most.Store(max(most.Load(), int64(descriptors(t)))) // fails if there are none left
				})
			}
			running.Wait()
			id, err := ci.CreateContext(t.Context(), "python", nil)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := ci.RunInContext(t.Context(), id, "print(1)", nil); err != nil || res.Stdout() != "1\n" {
				t.Errorf("%v %+v", err, res)
			}
			if n := most.Load(); n < 200 || n > 900 {
				t.Errorf("%d descriptors", n)
			} else {
				t.Logf("%d descriptors", n)
			}
		})
	}
}

// crowded runs code in contexts. Unless they run to their end, all is closed in the middle.
func crowded(t *testing.T, mode subprocess.Mode, o *egress.Options, contexts int, code, want string, whole bool) {
	ci, err := subprocess.NewStateful(&subprocess.Options{Egress: o, Sandbox: subprocess.Sandbox{Mode: mode}, Languages: []subprocess.Language{subprocess.Python()}})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	begun := make(chan struct{}, contexts)
	for range contexts {
		id, err := ci.CreateContext(t.Context(), "python", nil)
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			begun <- struct{}{}
			start := time.Now()
			res, err := ci.RunInContext(t.Context(), id, code, nil)
			if whole && (err != nil || res.Stdout() != want) {
				t.Errorf("%v %s %s after %v", err, res.Stdout(), res.Stderr(), time.Since(start))
			}
		})
	}
	for range contexts {
		<-begun
	}
	if whole {
		running.Wait()
	} else {
		time.Sleep(300 * time.Millisecond)
	}
	start := time.Now()
	if err := ci.Close(); err != nil {
		t.Error(err)
	}
	running.Wait()
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("closing took %v", took)
	}
}
