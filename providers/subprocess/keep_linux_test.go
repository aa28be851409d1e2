//go:build real

package subprocess_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/providers/subprocess"
)

func keepOptions(lease time.Duration) subprocess.Options {
	return subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}, ProbeCache: probes, Keep: &subprocess.Keep{Lease: lease},
		Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}}
}

// hostVariable has the program of a host that is to be killed.
const hostVariable = "TOOLCELL_TEST_HOST"

func init() {
	if code := os.Getenv(hostVariable); code != "" {
		killedHost = func() error { return runOne(code) }
	}
}

func runOne(code string) error {
	lease, err := time.ParseDuration(os.Getenv(hostVariable + "_LEASE"))
	if err != nil {
		return err
	}
	o := keepOptions(lease)
	o.Keep.Spool, o.ProbeCache = 1<<20, os.Getenv(hostVariable+"_PROBES")
	ci, err := subprocess.NewStateful(&o)
	if err != nil {
		return err
	}
	id, err := ci.CreateContext(context.Background(), "python", nil)
	if err != nil {
		return err
	}
	a, _ := codeinterp.Attaches(ci)
	ref, err := a.Refer(context.Background(), id)
	fmt.Println(ref, err)
	_, err = ci.RunInContext(context.Background(), id, code, &codeinterp.RunOptions{Timeout: 2 * time.Second, OnOutput: func(codeinterp.Output) error {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}})
	return err
}

// killed runs a program in a host that is killed at its first output.
func killed(t *testing.T, lease, code string) codeinterp.Ref {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.WaitDelay = 10 * time.Second // of what holds its output
	cmd.Env = append(os.Environ(), hostVariable+"="+code, hostVariable+"_PROBES="+probes, hostVariable+"_LEASE="+lease)
	cmd.Stderr = os.Stderr
	out, _ := cmd.Output()
	ref, _, _ := strings.Cut(string(out), " ")
	if ref == "" {
		t.Fatal("the host did not create a context")
	}
	return codeinterp.Ref(ref)
}

// lateText is the late output of a run.
func lateText(res codeinterp.Result) (text string) {
	for _, o := range res.Outputs {
		if o.Late {
			text += string(o.Data)
		}
	}
	return text
}

// TestRunWithoutHost: a run goes on without its host, within its timeout, and what its
// output lacks is reported; a context that is not attached ends with its lease, and so does
// its program.
func TestRunWithoutHost(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ref := killed(t, "1m", "print('first', flush=True)\nfor n in range(1500): print(n, 'x' * 1000, flush=True)\nwhile True: pass")
	ci := open(t, keepOptions(time.Minute))
	a, _ := codeinterp.Attaches(ci)
	time.Sleep(2500 * time.Millisecond) // no process reads meanwhile
	id, err := a.Attach(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.ResumeRun(t.Context(), id, nil)
	out := res.Stdout()
	if err != nil || res.Status != codeinterp.StatusTimeout || res.ExitCode != codeinterp.ExitTimeout ||
		!strings.Contains(out, "\n1499 x") || len(res.Truncated) != 1 || res.Truncated[0].Kept != int64(len(out)) || res.Truncated[0].Bytes < 1500<<10>>1 {
		t.Errorf("%s %d %+v, %d bytes, %v", res.Status, res.ExitCode, res.Truncated, len(out), err)
	}
	if res, err := ci.RunInContext(t.Context(), id, "print(n)", nil); err != nil || res.Stdout() != "1499\n" || res.StateLost || len(res.Outputs) != 1 {
		t.Errorf("%+v, %v", res, err)
	}

	if err := ci.DeleteContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	dir, err := keeper.Open(os.Getenv)
	if err != nil || len(dir.Keepers("*")) > 0 {
		t.Fatal(dir.Keepers("*"), err)
	}
	ref = killed(t, "300ms", "print('x', flush=True)\nwhile True: pass")
	keeperEnds(t)
	if _, err := a.Attach(t.Context(), ref); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("after the lease: %v", err)
	}
}

// keeperEnds waits for the end of a lease: the keeper removes its files last.
func keeperEnds(t *testing.T) {
	t.Helper()
	dir, err := keeper.Open(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := os.ReadDir(string(dir))
	for end := time.Now().Add(time.Minute); len(files) > 0; files, _ = os.ReadDir(string(dir)) {
		if time.Now().After(end) {
			t.Fatalf("there is still %v", files)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestNotResumed: a run that is not resumed is reported by the next one.
func TestNotResumed(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ref := killed(t, "1m", "print('first', flush=True)\nraise ValueError('why')")
	ci := open(t, keepOptions(time.Minute))
	a, _ := codeinterp.Attaches(ci)
	id, err := a.Attach(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	res, err := ci.RunInContext(t.Context(), id, "print('next')", nil)
	if err != nil || !res.OK() || res.Stdout() != "next\n" || res.ExecutionCount != 2 || !strings.HasPrefix(lateText(res), "first\n") || !strings.Contains(lateText(res), "error, exit code 1, ValueError: why") {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := a.ResumeRun(t.Context(), id, nil); !errors.Is(err, codeinterp.ErrNoRun) && res.Stdout() != "next\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

func keptContext(t *testing.T, lease time.Duration) (*subprocess.Stateful, codeinterp.ContextAttacher, codeinterp.ContextID) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ci := open(t, keepOptions(lease))
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := codeinterp.Attaches(ci)
	if !ok {
		t.Fatal("no Attaches")
	}
	return ci, a, id
}

// TestKeepLease: a context that is detached ends with its lease, its program included.
func TestKeepLease(t *testing.T) {
	const lease = 2 * time.Second // in which a busy machine attaches
	ci, a, id := keptContext(t, lease)
	run := func() (codeinterp.Result, error) { return ci.RunInContext(t.Context(), id, "x = 1; print(x)", nil) }
	if res, err := run(); err != nil || res.Stdout() != "1\n" {
		t.Fatal(res, err)
	}
	if err := ci.RestartContext(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	ref, err := a.Detach(t.Context(), id)
	if err != nil || len(ref) > 80 {
		t.Fatal(ref, err)
	}
	if id, err = a.Attach(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	time.Sleep(lease + 100*time.Millisecond) // attached, it does not run
	if res, err := run(); err != nil || !res.OK() || res.StateLost {
		t.Fatal(res, err)
	}
	if _, err := a.Attach(t.Context(), ref); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("attached twice: %v", err)
	}
	if ref, err = a.Detach(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Attach(t.Context(), codeinterp.Ref(strings.Replace(string(ref), ":", ":9", 1))); !errors.Is(err, codeinterp.ErrRefused) {
		t.Errorf("another user's: %v", err)
	}
	keeperEnds(t)
	if _, err := a.Attach(t.Context(), ref); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("after the lease: %v", err)
	}
}

// BenchmarkAttach detaches and attaches a context.
func BenchmarkAttach(b *testing.B) {
	b.Setenv("XDG_RUNTIME_DIR", b.TempDir())
	ci := open(b, keepOptions(time.Minute))
	a, _ := codeinterp.Attaches(ci)
	id, err := ci.CreateContext(b.Context(), "python", nil)
	var times []time.Duration
	for b.Loop() {
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		var ref codeinterp.Ref
		if ref, err = a.Detach(b.Context(), id); err == nil {
			id, err = a.Attach(b.Context(), ref)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(0, "ns/op")
}

// TestKeeperKilled: a keeper that is killed takes the run and the state along, which the run
// reports, and the context goes on in another one under the same reference.
func TestKeeperKilled(t *testing.T) {
	ci, a, id := keptContext(t, time.Minute)
	dir, err := keeper.Open(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	kill := func(codeinterp.Output) error { return syscall.Kill(dir.Keepers("*")[0], syscall.SIGKILL) }
	ref, err := a.Refer(t.Context(), id)
	res, rerr := ci.RunInContext(t.Context(), id, "x = 1; print('x', flush=True)\nwhile True: pass", &codeinterp.RunOptions{OnOutput: kill})
	if err != nil || rerr != nil || res.Status != codeinterp.StatusLost || !res.StateLost || res.Stdout() != "x\n" {
		t.Errorf("%+v, %v, %v", res, err, rerr)
	}
	if res, err = ci.RunInContext(t.Context(), id, "print('x' in globals())", nil); err != nil || !res.OK() || res.Stdout() != "False\n" || res.StateLost {
		t.Errorf("%+v, %v", res, err)
	}
	if again, err := a.Detach(t.Context(), id); err != nil || again != ref {
		t.Errorf("%q, %v; before %q", again, err, ref)
	}
	if id, err = a.Attach(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	_ = kill(codeinterp.Output{})
	for end := time.Now().Add(time.Minute); len(dir.Keepers("*")) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still there: %v", dir.Keepers("*"))
		}
	}
	if res, err = ci.RunInContext(t.Context(), id, "print(1)", nil); err != nil || res.Stdout() != "1\n" || !res.StateLost {
		t.Errorf("killed between runs: %+v, %v", res, err)
	}
}

// TestKeepPause: a pause stops the programs of kept contexts too, and ends with its host.
func TestKeepPause(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ci := open(t, keepOptions(time.Minute))
	p := pauser(t, ci)
	n := newNotebook(t, ci, "python")
	began := time.Now()
	ticks, got := make(chan struct{}, 1), make(chan codeinterp.Result)
	go func() {
		got <- n.run("import time\nwhile True: print(time.time_ns(), flush=True); time.sleep(0.01)", &codeinterp.RunOptions{Timeout: time.Second,
			OnOutput: func(codeinterp.Output) error {
				select {
				case ticks <- struct{}{}:
				default:
				}
				return nil
			}})
	}()
	<-ticks
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	paused := time.Now()
	if _, err := ci.RunInContext(t.Context(), n.id, "1", nil); !errors.Is(err, codeinterp.ErrPaused) {
		t.Error(err)
	}
	time.Sleep(1500 * time.Millisecond)
	resumed := time.Now()
	if err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	res := <-got
	if in := resumed.Sub(paused); res.Status != codeinterp.StatusTimeout || res.StateLost || time.Since(began)-res.Duration < in {
		t.Errorf("%s after %v, in pause for %v", summary(res), time.Since(began), in)
	}
	for line := range strings.Lines(res.Stdout()) {
		if ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err != nil || ns > paused.UnixNano() && ns < resumed.UnixNano() {
			t.Fatalf("the program went on in the pause, at %q", line)
		}
	}
	a, _ := codeinterp.Attaches(ci)
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref, err := a.Detach(t.Context(), n.id)
	if err == nil {
		err = p.Resume(t.Context())
	}
	if err == nil {
		n.id, err = a.Attach(t.Context(), ref)
	}
	if err != nil {
		t.Fatal(err)
	}
	if res := n.run("time.sleep(0.01); 42", nil); res.Text() != "42" || res.StateLost {
		t.Error(summary(res))
	}
}

// TestKeepModes: contexts of every language are handed on, in every mode of isolation, with
// their state and directory.
func TestKeepModes(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	programs := map[string][2]string{
		"python":     {"x = 41; _ = open('f', 'w').write('y')", "print(x + 1, open('f').read())"},
		"javascript": {"const x = 41; require('fs').writeFileSync('f', 'y')", "console.log(x + 1, require('fs').readFileSync('f', 'utf8'))"},
		"typescript": {"const x: number = 41; import fs from 'fs'; fs.writeFileSync('f', 'y')", "console.log(x + 1, fs.readFileSync('f', 'utf8'))"},
		"bash":       {"x=41; echo -n y >f", "echo $((x + 1)) $(cat f)"},
	}
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			o := inMode(mode)
			o.Keep = &subprocess.Keep{Lease: time.Minute}
			ci := open(t, o)
			a, _ := codeinterp.Attaches(ci)
			for language, code := range programs {
				id, err := ci.CreateContext(t.Context(), language, nil)
				if err != nil {
					t.Fatal(err)
				}
				first, err := ci.RunInContext(t.Context(), id, code[0], nil)
				var ref codeinterp.Ref
				if err == nil {
					ref, err = a.Detach(t.Context(), id)
				}
				if err == nil {
					id, err = a.Attach(t.Context(), ref)
				}
				if err != nil {
					t.Fatal(language, err, summary(first))
				}
				res, err := ci.RunInContext(t.Context(), id, code[1], nil)
				if err != nil || res.Stdout() != "42 y\n" || res.StateLost || res.ExecutionCount != 2 {
					t.Errorf("%s: %s, %v", language, summary(res), err)
				}
			}
		})
	}
}
