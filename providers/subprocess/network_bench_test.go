//go:build real && linux

package subprocess_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// requests is a program that makes HTTP requests on new connections, and prints the median
// time of one in microseconds.
const requests = `
import socket, time
def one():
    s = socket.socket(); s.connect(('127.0.0.1', %d))
    s.sendall(b'GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n')
    b = b''
    while d := s.recv(4096): b += d
    s.close()
    assert b.startswith(b'HTTP/1.1 200'), b
def clock(f):
    start = time.perf_counter(); f(); return time.perf_counter() - start
print(sorted(clock(one) for _ in range(100))[50] * 1e6)`

// stream is a program that reads a stream from a server, and prints its MiB per second.
const stream = `
import socket, time
s = socket.socket(); s.connect(('127.0.0.1', %d)); s.sendall(%s); b = bytearray(1 << 18); n = 0
while b'\n' not in s.recv(1): pass
start = time.perf_counter()
while k := s.recv_into(b): n += k
print(n / (time.perf_counter() - start) / (1 << 20))`

const streamSize = 128 << 20

// A paid is a direct way and one through the gate, in contexts of one mode.
type paid struct {
	direct, gated func(code string) float64
	http, raw     int // ports of servers
}

func newPaid(b *testing.B, mode subprocess.Mode) *paid {
	serve := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { l.Close() })
		return l
	}
	plain, raw := serve(), serve()
	go func() {
		_ = http.Serve(plain, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	}()
	go func() {
		block := make([]byte, 1<<18)
		for {
			c, err := raw.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(c).ReadString('\n')
			fmt.Fprint(c, "\n")
			for range streamSize / len(block) {
				_, _ = c.Write(block)
			}
			c.Close()
		}
	}()
	p := &paid{http: plain.Addr().(*net.TCPAddr).Port, raw: raw.Addr().(*net.TCPAddr).Port}
	o, e := pythonOnly(mode), pythonOnly(mode)
	o.Network = true
	e.Egress = &egress.Options{Policy: egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"127.0.0.1"}, Ports: []int{p.http}}, {Hosts: []string{"127.0.0.1"}, Ports: []int{p.raw}, Raw: true}}}}
	p.direct, p.gated = figure(b, o), figure(b, e)
	return p
}

// figure returns a function that runs a program in one context, and returns the number
// that it prints.
func figure(b *testing.B, o subprocess.Options) func(code string) float64 {
	ci, err := subprocess.NewStateful(&o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ci.Close() })
	id, err := ci.CreateContext(context.Background(), "python", nil)
	if err != nil {
		b.Fatal(err)
	}
	return func(code string) float64 {
		res, err := ci.RunInContext(context.Background(), id, code, &codeinterp.RunOptions{})
		f, parsed := strconv.ParseFloat(strings.TrimSpace(res.Stdout()), 64)
		if err != nil || parsed != nil {
			b.Fatal(err, parsed, res.Stderr())
		}
		return f
	}
}

func middle(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }

// BenchmarkNetwork is a new HTTP connection and a tunnel through the gate; the floor is
// the host's own network.
func BenchmarkNetwork(b *testing.B) {
	for _, mode := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock} {
		b.Run(mode.String(), func(b *testing.B) {
			p := newPaid(b, mode)
			var direct, gated, through, tunnel []float64
			b.ResetTimer()
			for range b.N {
				direct = append(direct, p.direct(fmt.Sprintf(requests, p.http, p.http, p.http)))
				gated = append(gated, p.gated(fmt.Sprintf(requests, 3128, p.http, p.http)))
				through = append(through, p.direct(fmt.Sprintf(stream, p.raw, `b'\n'`)))
				tunnel = append(tunnel, p.gated(fmt.Sprintf(stream, p.raw, `b'\n'`)))
			}
			// Of runs in turns: others that use the machine only add to a latency.
			b.ReportMetric(slices.Min(direct), "direct-µs")
			b.ReportMetric(slices.Min(gated)-slices.Min(direct), "over-direct-µs")
			b.ReportMetric(middle(through), "direct-MiB/s")
			b.ReportMetric(middle(through)/middle(tunnel), "direct/tunnel")
			b.ReportMetric(0, "ns/op")
		})
	}
}
