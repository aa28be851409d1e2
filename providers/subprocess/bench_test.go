//go:build real && unix

package subprocess_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// median runs f and its floor by turns, so that both see the same machine, and
// reports the medians and their ratio. It returns the median of f.
func median(b *testing.B, floor, f func()) time.Duration {
	b.Helper()
	var floors, times []time.Duration
	clock := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for range 3 {
		floor()
		f()
	}
	b.ResetTimer()
	for range b.N {
		floors = append(floors, clock(floor))
		times = append(times, clock(f))
	}
	b.StopTimer()
	slices.Sort(floors)
	slices.Sort(times)
	p50, bare := times[len(times)/2], floors[len(floors)/2]
	b.ReportMetric(float64(p50.Microseconds()), "p50-µs")
	b.ReportMetric(float64(bare.Microseconds()), "floor-µs")
	b.ReportMetric(float64(p50)/float64(bare), "x-floor")
	b.ReportMetric(0, "ns/op")
	return p50
}

// barePython starts python3 -I by plain fork and exec, with the program on its
// standard input, and reads what it prints.
func barePython(b *testing.B, path, code string) func() {
	return func() {
		cmd := exec.Command(path, "-I", "-c", code)
		if _, err := cmd.Output(); err != nil {
			b.Fatal(err)
		}
	}
}

func runner(b *testing.B, ci codeinterp.CodeInterpreter, code, want string) func() {
	return func() {
		if res := run(b, ci, "python", code, nil); !res.OK() || res.Stdout() != want {
			b.Fatal(summary(res), res.Stderr())
		}
	}
}

func pythonOnly(mode subprocess.Mode) subprocess.Options {
	l := subprocess.Python()
	l.Commands = []string{systemPython} // as the floor: others take three times as long to start
	return subprocess.Options{Sandbox: subprocess.Sandbox{Mode: mode, AllowNone: true}, Languages: []subprocess.Language{l}}
}

const systemPython = "/usr/bin/python3"

// BenchmarkCold is a stateless run; the floor is the bare interpreter.
func BenchmarkCold(b *testing.B) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap, subprocess.None} {
		b.Run(mode.String(), func(b *testing.B) {
			median(b, barePython(b, systemPython, "print(1)"), runner(b, open(b, pythonOnly(mode)), "print(1)", "1\n"))
		})
	}
}

// BenchmarkWarm is a stateless run from the fork server; the floor is the bare
// interpreter.
func BenchmarkWarm(b *testing.B) {
	o := pythonOnly(subprocess.Landlock)
	o.Warm = &subprocess.Warm{}
	median(b, barePython(b, systemPython, "print(1)"), runner(b, open(b, o), "print(1)", "1\n"))
}

// BenchmarkWarmNumeric has numpy and pandas imported beforehand; the floor is
// the bare interpreter that imports them.
func BenchmarkWarmNumeric(b *testing.B) {
	l := python(b)
	o := pythonOnly(subprocess.Landlock)
	o.Languages, o.Warm = []subprocess.Language{l}, &subprocess.Warm{Preload: []string{"numpy", "pandas"}}
	code := "import numpy, pandas\nprint(1)"
	median(b, barePython(b, l.Commands[0], code), runner(b, open(b, o), code, "1\n"))
}

// BenchmarkStateful is 1+1 in a context; the floor is a line that a bare
// Python process reads from a pipe and writes back.
func BenchmarkStateful(b *testing.B) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap, subprocess.None} {
		b.Run(mode.String(), func(b *testing.B) {
			n := newNotebook(b, open(b, pythonOnly(mode)), "python")
			line := echo(b, exec.Command(systemPython, "-I", "-c", "import os\nwhile True: os.write(1, os.read(0, 100) or exit())"))
			median(b, line, func() {
				if res := n.run("1+1", nil); res.Text() != "2" {
					b.Fatal(summary(res))
				}
			})
		})
	}
}

// echo starts a process that answers each line, of which a call sends one.
func echo(b *testing.B, cmd *exec.Cmd) func() {
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	buf := make([]byte, 100)
	return func() {
		if _, err := in.Write([]byte("1+1\n")); err != nil {
			b.Fatal(err)
		}
		if _, err := out.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}
