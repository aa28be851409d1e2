//go:build real && unix

package python_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

func BenchmarkNewContext(b *testing.B) {
	ci := newStateful(b)
	for measure(b); b.Loop(); {
		if err := ci.DeleteContext(context.Background(), newContext(b, ci)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirstRun(b *testing.B) {
	ci := newStateful(b)
	for measure(b); b.Loop(); {
		if _, err := ci.RunCode(context.Background(), "python", "1 + 1", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	ci := newStateful(b)
	for name, code := range map[string]string{"sum": "1 + 1", "print": "print(1)", "error": "1 / 0", "loop": "for i in range(10 ** 6): pass"} {
		b.Run(name, func(b *testing.B) {
			id := newContext(b, ci)
			for measure(b); b.Loop(); {
				if _, err := ci.RunInContext(context.Background(), id, code, &codeinterp.RunOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEngine is what a process needs until its first output, with native code in a
// cache.
func BenchmarkEngine(b *testing.B) {
	dir := b.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	o := packed(b)
	o.Cache = dir
	first := func() {
		e, err := python.New(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		ci, err := inmemory.New(&inmemory.Options{Engines: []engine.Engine{e}})
		if err != nil {
			b.Fatal(err)
		}
		if res, err := ci.RunCode(context.Background(), "python", "print(1)", nil); err != nil || res.Stdout() != "1\n" {
			b.Fatal(err, res)
		}
		if err := ci.Close(); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	first() // which compiles
	for measure(b); b.Loop(); {
		first()
	}
}

// BenchmarkFork copies a context with 50 MB of state.
func BenchmarkFork(b *testing.B) {
	ci := newStateful(b)
	id := newContext(b, ci)
	stdout(b, ci, id, "b = bytes(range(256)) * 200000")
	for measure(b); b.Loop(); {
		if err := ci.DeleteContext(b.Context(), fork(b, ci, id)); err != nil {
			b.Fatal(err)
		}
	}
}

// measure reports the time of processors, which a busy machine changes little.
func measure(b *testing.B) {
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	before := used()
	b.Cleanup(func() { b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "cpu-µs/op") })
}
