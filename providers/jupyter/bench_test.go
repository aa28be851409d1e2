//go:build linux && real

package jupyter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

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

// BenchmarkCell runs 1+1 in a live kernel, with the floor and with this package in turn.
func BenchmarkCell(b *testing.B) {
	s := start(b, "server7", false)
	f := must(newFloor(s))(b)
	defer f.close()
	ci, id := newContext(b, s, jupyter.Options{})
	runs := map[string]func(){"floor": func() { must(f.run("1+1"))(b) }, "ours": func() {
		if res, err := ci.RunInContext(b.Context(), id, "1+1", nil); err != nil || res.Text() != "2" {
			b.Fatalf("%+v, %v", res, err)
		}
	}}
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
	b.ReportMetric(float64(median(took["ours"]))/base, "ours/floor")
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
	s := start(b, "server7", false)
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
