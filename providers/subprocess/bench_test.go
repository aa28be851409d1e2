//go:build real && unix

package subprocess_test

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// BenchmarkWarmFirst is how long a program's first line takes that imports pandas,
// which is imported beforehand, on its way to OnOutput: by itself, in a new context,
// and in one that is there.
func BenchmarkWarmFirst(b *testing.B) {
	const code = "import pandas; print(pandas.__name__, flush=True)"
	o := pythonOnly(subprocess.Landlock)
	o.Languages, o.Warm = []subprocess.Language{python(b)}, &subprocess.Warm{Preload: []string{"pandas"}}
	ci := open(b, o)
	var n *notebook
	leave := func() { _ = ci.DeleteContext(b.Context(), n.id) }
	for _, tt := range []struct {
		name          string
		before, after func()
		run           func(o *codeinterp.RunOptions) codeinterp.Result
	}{
		{"run", func() {}, func() {}, func(o *codeinterp.RunOptions) codeinterp.Result { return run(b, ci, "python", code, o) }},
		{"new", func() {}, leave, func(o *codeinterp.RunOptions) codeinterp.Result {
			n = newNotebook(b, ci, "python")
			return n.run(code, o)
		}},
		{"old", func() { n = newNotebook(b, ci, "python"); n.run("1", nil) }, leave, func(o *codeinterp.RunOptions) codeinterp.Result { return n.run(code, o) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var times []time.Duration
			for range b.N {
				tt.before()
				begun, first := time.Now(), time.Duration(0)
				res := tt.run(&codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
					first = cmp.Or(first, time.Since(begun))
					return nil
				}})
				if !res.OK() || first == 0 {
					b.Fatal(summary(res), res.Stderr())
				}
				times = append(times, first)
				tt.after()
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[0].Microseconds()), "least-µs")
		})
	}
}

// BenchmarkStateful is 1+1 in a context; the floor is a line that a bare
// Python process reads from a pipe and writes back. The same cell through
// Python's own client of a local ipykernel is measured beside it.
func BenchmarkStateful(b *testing.B) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap, subprocess.None} {
		b.Run(mode.String(), func(b *testing.B) {
			n := newNotebook(b, open(b, pythonOnly(mode)), "python")
			cell := func() {
				if res := n.run("1+1", nil); res.Text() != "2" {
					b.Fatal(summary(res))
				}
			}
			kernel := ipykernel(b)
			ours := median(b, echo(b, exec.Command(systemPython, "-I", "-c", "import os\nwhile True: os.write(1, os.read(0, 100) or exit())")), cell)
			if kernel == nil {
				b.Log("no .testenv/jupyter/server6 to compare with; run make testenv-full")
				return
			}
			var theirs []time.Duration
			for k := range 60 {
				start := time.Now()
				kernel()
				if k >= 10 {
					theirs = append(theirs, time.Since(start))
				}
			}
			slices.Sort(theirs)
			b.ReportMetric(float64(theirs[len(theirs)/2])/float64(ours), "ipykernel/ours")
		})
	}
}

// ipykernel runs 1+1 in a new local ipykernel, through a process of
// jupyter_client's that a line asks to. It returns nil where there is
// none.
func ipykernel(b *testing.B) func() {
	path, err := filepath.Abs("../../.testenv/jupyter/server6/bin/python")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	cmd := exec.Command(path, "-c", `
import os
from jupyter_client.manager import start_new_kernel
km, kc = start_new_kernel(kernel_name="python3")
while os.read(0, 100):
    mid, idle = kc.execute("1+1"), False
    while not idle:
        m = kc.get_iopub_msg(timeout=10)
        idle = m["parent_header"].get("msg_id") == mid and m["content"].get("execution_state") == "idle"
    while kc.get_shell_msg(timeout=10)["parent_header"].get("msg_id") != mid: pass
    os.write(1, b"2")
km.shutdown_kernel(now=True)`)
	cmd.Env = append(os.Environ(), "JUPYTER_RUNTIME_DIR="+b.TempDir(), "IPYTHONDIR="+b.TempDir())
	return echo(b, cmd)
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

// BenchmarkPrint prints 200 MB; the floor is the same program behind a plain
// pipe that is read and dropped. It also reports how much the host's memory
// grew at most.
func BenchmarkPrint(b *testing.B) {
	const code = "import sys\ns = 'x' * 99 + '\\n'\ns *= 1000\nfor i in range(2000): _ = sys.stdout.write(s)"
	ci := open(b, pythonOnly(subprocess.Landlock))
	printed := func() {
		res := run(b, ci, "python", code, nil)
		if !res.OK() || len(res.Truncated) != 1 || res.Truncated[0].Bytes != 200_000_000 {
			b.Fatal(res.Status, res.Truncated)
		}
	}
	median(b, func() {
		cmd := exec.Command(systemPython, "-I", "-c", code)
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 64<<10)); n != 200_000_000 || err != nil {
			b.Fatal(n, err)
		}
		_ = cmd.Wait()
	}, printed)
	b.ReportMetric(float64(growth(printed)>>20), "peak-MiB")
}

// growth returns by how much the heap grows while f runs, at most.
func growth(f func()) uint64 {
	before := heap(true)
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, heap(false))
			}
		}
	}()
	f()
	close(stop)
	return <-peak - before
}

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// BenchmarkStart is what a new interpreter costs.
func BenchmarkStart(b *testing.B) {
	if _, err := os.Stat(systemPython); err != nil {
		b.Skip(err)
	}
	median(b, barePython(b, systemPython, "print(1)"), func() {
		o := pythonOnly(subprocess.Landlock)
		ci, err := subprocess.New(&o)
		if err != nil {
			b.Fatal(err)
		}
		if err := ci.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkTypeScript is a program with types; the floor is the same program
// without, by the same node.
func BenchmarkTypeScript(b *testing.B) {
	for _, ts := range []subprocess.Language{newerNode(b), subprocess.TypeScript()} {
		js := subprocess.JavaScript()
		js.Commands = ts.Commands
		o := subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}, Languages: []subprocess.Language{js, ts}}
		cold := open(b, o)
		o.Warm = &subprocess.Warm{Pool: 1}
		warm := open(b, o)
		each := func(name string, run func(language, code string) codeinterp.Result) {
			try := func(language, code string) func() {
				return func() {
					if res := run(language, code); res.Text() != "2" {
						b.Fatal(summary(res))
					}
				}
			}
			b.Run(cold.Describe().Languages[1].Runtime+"/"+name, func(b *testing.B) {
				median(b, try("javascript", "[1].map((x) => x + 1)[0]"), try("typescript", "[1].map((x: number): number => x + 1)[0] as number"))
			})
		}
		each("cold", func(language, code string) codeinterp.Result { return run(b, cold, language, code, nil) })
		each("warm", func(language, code string) codeinterp.Result {
			time.Sleep(300 * time.Millisecond) // while the pool fills
			return run(b, warm, language, code, nil)
		})
		notebooks := map[string]*notebook{"javascript": newNotebook(b, cold, "javascript"), "typescript": newNotebook(b, cold, "typescript")}
		each("context", func(language, code string) codeinterp.Result { return notebooks[language].run(code, nil) })
	}
}
