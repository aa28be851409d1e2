//go:build linux && real

package jupyter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/shell"
)

// hostVariable has the server of a host that is to be killed.
const hostVariable = "TOOLCELL_TEST_HOST"

// TestMain is also the host of TestKeptCommand.
func TestMain(m *testing.M) {
	if url := os.Getenv(hostVariable); url != "" {
		fmt.Fprintln(os.Stderr, commandHost(context.Background(), url))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// BenchmarkAttach detaches and attaches a context.
func BenchmarkAttach(b *testing.B) {
	ci, err := open(b.Context(), start(b, "server7", false), jupyter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ci.Close()
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

// keptLine prints more than a kernel keeps.
const keptLine, keptLines = "seq 1 500000; read x; echo got $x; exit 7", 500_000

// commandHost starts keptLine, and is killed in the middle. It prints what describes it.
func commandHost(ctx context.Context, url string) error {
	ci, err := jupyter.NewStateful(ctx, &jupyter.Options{URL: url, KeepCommands: time.Minute})
	if err != nil {
		return err
	}
	sh, err := shell.New(ci, nil)
	if err != nil {
		return err
	}
	id, err := sh.Start(ctx, keptLine, nil)
	if err != nil {
		return err
	}
	for e, err := range sh.Events(ctx, id, 0) {
		if err != nil || e.Exit != nil {
			return fmt.Errorf("%+v, %w", e.Exit, err)
		}
		if e.Next > 3<<19 {
			info, err := sh.Info(ctx, id)
			if err == nil {
				err = json.NewEncoder(os.Stdout).Encode(info)
			}
			if err != nil {
				return err
			}
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	return nil
}

// TestKeptCommand: a command in the background goes on without its host, which was killed
// while it printed, and so does one that is left; each ends with its lease.
func TestKeptCommand(t *testing.T) {
	s := start(t, "server7", true)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), hostVariable+"="+s.url+"?token="+s.token)
	cmd.Stderr = os.Stderr
	out, _ := cmd.Output()
	var info shell.Info
	if err := json.Unmarshal(out, &info); err != nil || info.Ref == "" {
		t.Fatalf("%s, %v", out, err)
	}
	client := func(lease time.Duration) (*jupyter.Stateful, *shell.Shell) {
		ci, err := open(t.Context(), s, jupyter.Options{KeepCommands: lease})
		if err != nil {
			t.Fatal(err)
		}
		sh, err := shell.New(ci, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ci, sh
	}
	ci, sh := client(0)
	if err := sh.Attach(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	if _, err := sh.Write(t.Context(), info.ID, []byte("some\n"), nil); err != nil {
		t.Error(err)
	}
	var all strings.Builder
	for n := range keptLines {
		fmt.Fprintln(&all, n+1)
	}
	want := all.String() + "got some\n"
	var missed int64
	for e, err := range sh.Events(t.Context(), info.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if missed += e.Missed; e.Exit == nil && string(e.Data) != want[e.Offset:e.Next] {
			t.Fatalf("%d to %d is not what was printed there", e.Offset, e.Next)
		}
		if e.Exit != nil && (e.Exit.Result.ExitCode != 7 || e.Exit.Err != nil || e.Exit.Written != int64(len(want))) {
			t.Errorf("%+v; %d bytes were printed", e.Exit, len(want))
		}
	}
	if missed == 0 {
		t.Error("all is kept")
	}

	other, sh2 := client(time.Minute)
	id, err := sh2.Start(t.Context(), "echo on; cat", nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err = sh2.Info(t.Context(), id); err != nil || info.Ref == "" {
		t.Fatal(info, err)
	}
	if err := sh.Attach(t.Context(), info); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("attached twice: %v", err)
	}
	if err := errors.Join(sh2.Detach(t.Context(), id), other.Close()); err != nil {
		t.Error(err)
	}
	third, sh3 := client(0)
	if err := errors.Join(sh3.Attach(t.Context(), info), sh3.Detach(t.Context(), id), third.Close()); err != nil {
		t.Error(err)
	}
	if err := sh.Attach(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	if c, err := sh.Follow(t.Context(), id, nil); err != nil || string(c.Data) != "on\n" {
		t.Errorf("%+v, %v", c, err)
	}
	if info, err := sh.Stop(t.Context(), id); err != nil || info.Result.Cause != codeinterp.CauseInterrupt {
		t.Errorf("%+v, %v", info, err)
	}
	if err := sh.Attach(t.Context(), info); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("once it was stopped: %v", err)
	}

	other, sh2 = client(time.Second)
	if id, err = sh2.Start(t.Context(), "echo $$; exec sleep 3600", nil); err != nil {
		t.Fatal(err)
	}
	c, err := sh2.Follow(t.Context(), id, nil)
	info, _ = sh2.Info(t.Context(), id)
	if err := errors.Join(err, sh2.Detach(t.Context(), id), other.Close()); err != nil {
		t.Error(err)
	}
	process := "/proc/" + strings.TrimSpace(string(c.Data))
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(process); err != nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%s goes on after its lease", process)
		}
	}
	if err := sh.Attach(t.Context(), info); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("after the lease: %v", err)
	}
	if err := ci.Close(); err != nil {
		t.Error(err)
	}
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("%d kernels left", len(left))
	}
}
