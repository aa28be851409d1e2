//go:build linux

package jupyter_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// unlimited are the flags of a server without rate limits.
var unlimited = []string{"--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=1e12", "--ZMQChannelsWebsocketConnection.iopub_msg_rate_limit=1e9"}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// newContext creates a client with a context.
func newContext(b testing.TB, s *server, opts jupyter.Options) (*jupyter.Stateful, codeinterp.ContextID) {
	ci := must(open(b.Context(), s, opts))(b)
	b.Cleanup(func() { _ = ci.Close() })
	return ci, must(ci.CreateContext(b.Context(), "python", nil))(b)
}

// BenchmarkCell runs 1+1 in a live kernel: with the floor, with this package,
// with this package's two other ways to treat acknowledgements, with a server
// that only carries as many messages, in turn, and then with Python's own client,
// which has no server in between.
func BenchmarkCell(b *testing.B) {
	s := ownServer(b, "server6")
	f := must(newFloor(s))(b)
	defer f.close()
	names := []string{"ours", "pong", "plain", "json"}
	runs := map[string]func(){"floor": func() { must(f.run("1+1"))(b) }, "carriage": carriage(b, "server6")}
	for i, opts := range []jupyter.Options{{}, jupyter.WithPong(jupyter.Options{}), jupyter.WithoutAckFix(jupyter.Options{}), jupyter.WithJSON(jupyter.Options{})} {
		ci, id := newContext(b, s, opts)
		runs[names[i]] = func() {
			if res, err := ci.RunInContext(b.Context(), id, "1+1", nil); err != nil || res.Text() != "2" {
				b.Fatalf("%+v, %v", res, err)
			}
		}
	}
	took := map[string][]time.Duration{}
	for range 20 {
		for _, run := range runs {
			run()
		}
	}
	for b.Loop() {
		for name, run := range runs {
			start := time.Now()
			run()
			took[name] = append(took[name], time.Since(start))
		}
	}
	base := float64(median(took["floor"]))
	b.ReportMetric(base/1e6, "floor-ms")
	for _, name := range append(names, "carriage") {
		b.ReportMetric(float64(median(took[name]))/base, name+"/floor")
	}
	b.ReportMetric(zmqMedian(b, "server6")*1e6/base, "zmq/floor")
	b.ReportMetric(0, "ns/op")
}

// zmqMedian is the median in ms of Python's jupyter_client.
func zmqMedian(b *testing.B, name string) float64 {
	cmd := exec.CommandContext(b.Context(), filepath.Join(testenv(), name, "bin", "python"), "-c", `
import time
from jupyter_client.manager import start_new_kernel
km, kc = start_new_kernel(kernel_name="python3")
def run():
    t = time.perf_counter()
    mid, idle = kc.execute("1+1"), False
    while not idle:
        m = kc.get_iopub_msg(timeout=10)
        idle = m["parent_header"].get("msg_id") == mid and m["content"].get("execution_state") == "idle"
    while kc.get_shell_msg(timeout=10)["parent_header"].get("msg_id") != mid: pass
    return time.perf_counter() - t
for _ in range(20): run()
print(sorted(run() for _ in range(200))[100] * 1000)
km.shutdown_kernel(now=True)`)
	cmd.Env = append(os.Environ(), "JUPYTER_RUNTIME_DIR="+b.TempDir(), "IPYTHONDIR="+b.TempDir())
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	return must(strconv.ParseFloat(strings.TrimSpace(string(out)), 64))(b)
}

// BenchmarkOutput streams many lines, and one message of 50 MB, and compares
// with the floor.
func BenchmarkOutput(b *testing.B) {
	s := ownServer(b, "server6", unlimited...)
	for name, code := range map[string]string{
		"lines20000": "for i in range(20000): print('line', i)",
		"flushed":    "for i in range(2000): print('line', i, flush=True)",
		"message50M": "print('x' * 50_000_000)",
	} {
		b.Run(name, func(b *testing.B) {
			f := must(newFloor(s))(b)
			defer f.close()
			ci, id := newContext(b, s, jupyter.Options{})
			var ours, least []time.Duration
			var peak uint64
			for b.Loop() {
				start := time.Now()
				size := must(f.run(code))(b)
				least = append(least, time.Since(start))
				b.SetBytes(int64(size))
				h := watchHeap()
				start = time.Now()
				res, err := ci.RunInContext(b.Context(), id, code, nil)
				ours = append(ours, time.Since(start))
				peak = max(peak, h.stop())
				if err != nil || !res.OK() {
					b.Fatalf("%v, %v", res.Status, err)
				}
			}
			b.ReportMetric(float64(median(least))/1e6, "floor-ms")
			b.ReportMetric(float64(median(least))/float64(median(ours)), "throughput/floor")
			b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A heap watch samples how far the heap grows.
type heapWatch struct {
	quit, done chan struct{}
	peak, base uint64
}

func watchHeap() *heapWatch {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	h := &heapWatch{quit: make(chan struct{}), done: make(chan struct{}), base: m.HeapAlloc}
	go func() {
		defer close(h.done)
		for {
			select {
			case <-h.quit:
				return
			case <-time.After(10 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				h.peak = max(h.peak, m.HeapAlloc)
			}
		}
	}()
	return h
}

func (h *heapWatch) stop() uint64 {
	close(h.quit)
	<-h.done
	return h.peak - min(h.base, h.peak)
}

// BenchmarkCreate creates contexts, and compares with starting a kernel and
// asking for its info.
func BenchmarkCreate(b *testing.B) {
	s := ownServer(b, "server6")
	ci := must(open(b.Context(), s, jupyter.Options{}))(b)
	defer ci.Close()
	var least, ours []time.Duration
	for b.Loop() {
		for range 5 {
			time.Sleep(time.Second) // the deleted kernels end
			start := time.Now()
			f := must(newFloor(s))(b)
			least = append(least, time.Since(start))
			f.close()
			time.Sleep(time.Second)
			ours = append(ours, create(b, ci))
		}
	}
	b.ReportMetric(float64(median(least))/1e6, "floor-ms")
	b.ReportMetric(float64(median(ours))/float64(median(least)), "create/floor")
	b.ReportMetric(0, "ns/op")
}

func create(b *testing.B, ci *jupyter.Stateful) time.Duration {
	start := time.Now()
	id := must(ci.CreateContext(b.Context(), "python", nil))(b)
	took := time.Since(start)
	if err := ci.DeleteContext(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkWarm takes kernels from a pool, for contexts and for stateless runs.
func BenchmarkWarm(b *testing.B) {
	s := ownServer(b, "server6")
	ci := must(open(b.Context(), s, jupyter.Options{Warm: map[string]int{"python": 2}}))(b)
	defer ci.Close()
	var ready, stateless []time.Duration
	for b.Loop() {
		for range 3 {
			time.Sleep(4 * time.Second) // the pool fills, and the deleted kernels end
			ready = append(ready, create(b, ci))
			start := time.Now()
			if res, err := ci.RunCode(b.Context(), "python", "1+1", nil); err != nil || res.Text() != "2" {
				b.Fatalf("%+v, %v", res, err)
			}
			stateless = append(stateless, time.Since(start))
		}
	}
	b.ReportMetric(float64(median(ready))/1e6, "create-ms")
	b.ReportMetric(float64(median(stateless))/1e6, "run-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFiftyKernels runs 50 kernels at once from one client.
func BenchmarkFiftyKernels(b *testing.B) {
	s := ownServer(b, "server6")
	for b.Loop() {
		manyKernels(b, s, 50)
	}
}

// TestIdleContexts holds what a context costs while it does nothing, and that
// its runs do not mix with others'.
func TestIdleContexts(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	manyKernels(t, sharedServer(t, "server6"), 8)
}

func manyKernels(t testing.TB, s *server, n int) {
	rest := http.DefaultTransport.(*http.Transport).Clone()
	ci := must(open(t.Context(), s, jupyter.Options{StartTimeout: 5 * time.Minute, HTTPClient: &http.Client{Transport: rest}}))(t)
	must(ci.RunCode(t.Context(), "python", "1", nil))(t)
	routines, heap := settled(rest)
	ids := make([]codeinterp.ContextID, n)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			var err error
			if ids[i], err = ci.CreateContext(t.Context(), "python", nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, id := range ids {
		wg.Go(func() {
			res, err := ci.RunInContext(t.Context(), id, fmt.Sprintf("for j in range(200): print(%d, flush=j %% 10 == 0)", i), nil)
			if want := strings.Repeat(strconv.Itoa(i)+"\n", 200); err != nil || res.Stdout() != want {
				t.Errorf("kernel %d: %d bytes, %v, status %q, truncated %+v", i, len(res.Stdout()), err, res.Status, res.Truncated)
			}
		})
	}
	wg.Wait()
	gotRoutines, gotHeap := settled(rest)
	perContext := float64(gotRoutines-routines) / float64(n)
	bytes := (float64(gotHeap) - float64(heap)) / float64(n)
	t.Logf("%d contexts: %.1f goroutines and %.0f KiB each", n, perContext, bytes/1024)
	if perContext > 2.5 || bytes > 64<<10 {
		t.Errorf("an idle context has %.1f goroutines and %.0f KiB", perContext, bytes/1024)
	}
	if err := ci.Close(); err != nil {
		t.Error(err)
	}
	if after, _ := settled(rest); after > routines {
		t.Errorf("%d goroutines after Close, and there were %d", after, routines)
	}
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("kernels left: %v", left)
	}
}

// settled returns the number of goroutines and the live heap with stacks,
// without idle connections of the REST API, which all contexts share.
func settled(rest *http.Transport) (int, uint64) {
	var m runtime.MemStats
	rest.CloseIdleConnections()
	n := runtime.NumGoroutine()
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		n = min(n, runtime.NumGoroutine())
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return n, m.HeapAlloc + m.StackInuse
}
