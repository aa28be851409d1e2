//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkCommand measures the whole command beside the interpreter's own start. The
// metric x-floor allows the command 10 ms of its own.
func BenchmarkCommand(b *testing.B) {
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip(err)
	}
	out, err := exec.Command(python, "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		b.Skip(err)
	}
	python = string(out) // behind the shims of version managers
	fastest := func(name string, args ...string) time.Duration {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), asToolcell+"=1", "XDG_CACHE_HOME="+os.TempDir()+"/toolcell-bench")
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Skip(err)
		}
		return time.Since(start)
	}
	for _, mode := range []string{"landlock", "bwrap"} {
		b.Run(mode, func(b *testing.B) {
			least, floor := time.Hour, time.Hour
			run := []string{"run", "--python", python, "--language", "python", "--isolation", mode, "-e", "print(1)"}
			fastest(os.Args[0], run...)
			for b.Loop() {
				least = min(least, fastest(os.Args[0], run...))
				floor = min(floor, fastest(python, "-c", "print(1)"))
			}
			b.ReportMetric(float64(least.Microseconds()), "min-µs")
			b.ReportMetric(float64(max(0, least-10*time.Millisecond))/float64(floor), "x-floor")
		})
	}
}
