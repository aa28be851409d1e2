//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// BenchmarkStart measures /bin/true and python3 from start to end, in every
// mode and by plain fork and exec, in turn, so that ratios mean something on a
// busy machine. The heap of the host must not matter.
func BenchmarkStart(b *testing.B) {
	for _, heap := range []int{0, 1 << 30} {
		ballast := make([]byte, heap)
		for i := 0; i < len(ballast); i += 4096 {
			ballast[i] = 1
		}
		name := "small heap"
		if heap > 0 {
			name = "1 GiB heap"
		}
		b.Run("true/"+name, func(b *testing.B) { benchmarkStart(b, "/bin/true") })
		if heap == 0 {
			b.Run("python/"+name, func(b *testing.B) { benchmarkStart(b, python, "python3", "-I", "-c", "print(1)") })
		}
		runtime.KeepAlive(ballast)
	}
}

func benchmarkStart(b *testing.B, path string, args ...string) {
	if args == nil {
		args = []string{path}
	}
	modes := []sandbox.Mode{sandbox.None, sandbox.Landlock, sandbox.Bwrap}
	boxes := map[sandbox.Mode]*sandbox.Sandbox{}
	dirs := map[sandbox.Mode]string{}
	for _, m := range modes {
		s, err := sandbox.New(&sandbox.Options{Require: m})
		if err != nil {
			needs(b, m.String(), err)
		}
		defer s.Close()
		boxes[m] = s
		dirs[m] = must(s.TempDir())
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		took["plain"] = append(took["plain"], plainStart(b, path, args))
		for _, m := range modes {
			took[m.String()] = append(took[m.String()], boxedStart(b, boxes[m], dirs[m], path, args))
		}
	}
	floor := median(took["plain"])
	b.ReportMetric(0, "ns/op")
	for name, list := range took {
		b.ReportMetric(float64(median(list).Microseconds())/1000, name+"-ms")
		if name != "plain" {
			b.ReportMetric(float64(median(list))/float64(floor), name+"-ratio")
		}
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func plainStart(b *testing.B, path string, args []string) time.Duration {
	r, w, err := os.Pipe()
	check(b, err)
	defer r.Close()
	null := must(os.Open(os.DevNull))
	defer null.Close()
	start := time.Now()
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{null.Fd(), w.Fd(), w.Fd()}})
	check(b, err)
	w.Close()
	_, _ = io.Copy(io.Discard, r)
	var ws syscall.WaitStatus
	_, err = syscall.Wait4(pid, &ws, 0, nil)
	check(b, err)
	return time.Since(start)
}

func boxedStart(b *testing.B, s *sandbox.Sandbox, dir, path string, args []string) time.Duration {
	r, w, err := os.Pipe()
	check(b, err)
	defer r.Close()
	start := time.Now()
	p, err := s.Start(&sandbox.Cmd{Path: path, Args: args, Env: s.Env(dir, nil, nil), Workdir: dir, Files: []*os.File{nil, w, w}})
	check(b, err)
	w.Close()
	_, _ = io.Copy(io.Discard, r)
	if exit := p.Wait(); exit.Code != 0 {
		b.Fatalf("got %+v", exit)
	}
	return time.Since(start)
}

// BenchmarkFork measures a run in a child of a warm fork server, from Fork to
// the end.
func BenchmarkFork(b *testing.B) {
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.Landlock})
	if err != nil {
		needs(b, "landlock", err)
	}
	defer s.Close()
	server := startForkServer(b, s)
	var list []time.Duration
	for b.Loop() {
		start := time.Now()
		dir := must(s.TempDir())
		p, out := server.fork(b, &sandbox.Cmd{Workdir: dir}, "print(1)")
		_, _ = io.Copy(io.Discard, out)
		if exit := server.finish(p); exit.Code != 0 {
			b.Fatalf("got %+v", exit)
		}
		check(b, sandbox.RemoveAll(dir))
		list = append(list, time.Since(start))
	}
	b.ReportMetric(float64(median(list).Microseconds())/1000, "p50-ms")
}
