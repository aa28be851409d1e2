//go:build linux && real

// Package attachtest kills hosts at random points, and looks whether the next process finds
// the state of their contexts and the output of their runs.
package attachtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// These environment variables make a process a host: of a directory for probes, or of the
// URL of a server.
const probes, server = "TOOLCELL_ATTACHTEST_PROBES", "TOOLCELL_ATTACHTEST_SERVER"

func TestMain(m *testing.M) {
	subprocess.RunKeeper()
	if dir, url := os.Getenv(probes), os.Getenv(server); dir != "" || url != "" {
		fmt.Fprintln(os.Stderr, serve(open(dir, url)))
		os.Exit(1)
	}
	os.Exit(leftover.Run(m))
}

// open returns a provider whose contexts outlive their host: subprocess with a directory for
// probes, jupyter with the URL of a server.
func open(dir, url string) (codeinterp.CodeInterpreter, error) {
	if url != "" {
		return jupyter.NewStateful(context.Background(), &jupyter.Options{URL: url})
	}
	return subprocess.NewStateful(&subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}, ProbeCache: dir,
		Keep: &subprocess.Keep{Lease: time.Minute, Spool: 1 << 20}, Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}})
}

// TestHostKilled: a host that is killed at any point leaves the state of its context, and the
// output of its run or the report that some is missing, to the next process.
func TestHostKilled(t *testing.T) {
	t.Run("subprocess", func(t *testing.T) {
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		dir := t.TempDir()
		kill(t, dir, "")
		keepers, err := keeper.Open(os.Getenv)
		if left := keepers.Keepers("*"); err != nil || len(left) > 0 {
			t.Errorf("keepers left: %v, %v", left, err)
		}
	})
	t.Run("jupyter", func(t *testing.T) {
		s := jupytertest.Start(t, &jupytertest.Options{Env: "server7", Forked: true})
		kill(t, "", s.Address())
		resp, err := http.Get(strings.Replace(s.Address(), "?", "api/kernels?", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if left, err := io.ReadAll(resp.Body); err != nil || string(left) != "[]" {
			t.Errorf("kernels left: %s, %v", left, err)
		}
	})
}

const (
	lines   = 20
	program = `runs = globals().get("runs", 0) + 1
import time
for i in range(20):
    print(f"{runs}.{i}", flush=True)
    time.sleep(0.004)
`
)

// serve is a host: it runs programs one after the other in a context and writes down what
// it sees, until it is killed.
func serve(ci codeinterp.CodeInterpreter, err error) error {
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, _ := codeinterp.Stateful(ci)
	a, ok := codeinterp.Attaches(ci)
	if !ok {
		return errors.New("the provider has no Attaches")
	}
	id, err := s.CreateContext(ctx, "python", nil)
	if err != nil {
		return err
	}
	ref, err := a.Refer(ctx, id)
	if err != nil {
		return err
	}
	fmt.Println("ref", ref)
	for n := 1; ; n++ {
		fmt.Println("begin", n)
		res, err := s.RunInContext(ctx, id, program, &codeinterp.RunOptions{Timeout: time.Minute, OnOutput: func(o codeinterp.Output) error {
			_, err := fmt.Printf("out %q\n", o.Text())
			return err
		}})
		fmt.Println("end", n, res.Status, err)
		time.Sleep(time.Duration(n%3) * 20 * time.Millisecond)
	}
}

// A seen is what a host wrote down.
type seen struct {
	ref     codeinterp.Ref
	begun   int // the last run
	ended   bool
	calls   int // of OnOutput in it
	printed string
}

// host starts a host, kills it at a random point, and returns what it had seen.
func host(t *testing.T, env ...string) (s seen) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // of a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		what, rest, _ := strings.Cut(in.Text(), " ")
		switch what {
		case "ref":
			s.ref = codeinterp.Ref(rest)
			time.AfterFunc(time.Duration(rand.IntN(700))*time.Millisecond, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		case "begin":
			s.begun++
			s.ended, s.calls, s.printed = false, 0, ""
		case "out":
			var text string
			if _, err := fmt.Sscanf(rest, "%q", &text); err == nil {
				s.calls++
				s.printed += text
			}
		case "end":
			s.ended = true
		}
	}
	_ = cmd.Wait()
	if s.ref == "" {
		t.Fatal("the host did not create a context")
	}
	return s
}

// kill kills hosts, 5 or, every night, 100 of them, at a point each, and attaches their
// contexts to an interpreter like theirs.
func kill(t *testing.T, dir, url string) {
	ci, err := open(dir, url)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	points := 5
	if tier.Full {
		points = 100
	}
	var whole, lossy, none atomic.Int32
	t.Run("points", func(t *testing.T) {
		for n := range points {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				s := host(t, probes+"="+dir, server+"="+url)
				res, runs, err := attach(t, ci, &s)
				missing := s.missing(res)
				switch {
				case runs < s.begun, errors.Is(err, codeinterp.ErrNoRun):
					none.Add(1) // the last run of the host has not begun, or has returned
				case missing == "":
					whole.Add(1)
				case len(res.Truncated) > 0 || s.ended:
					lossy.Add(1)
				default:
					t.Errorf("%q is lost silently: %+v, %v; seen %+v", missing, res, err, s)
				}
			})
		}
	})
	t.Logf("%d points: %d runs whole, %d with a loss that was reported; %d times no run to resume", points, whole.Load(), lossy.Load(), none.Load())
}

// attach attaches the context, resumes the run and returns how many runs have begun.
func attach(t *testing.T, ci codeinterp.CodeInterpreter, s *seen) (res codeinterp.Result, runs int, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, _ := codeinterp.Attaches(ci)
	of, _ := codeinterp.Stateful(ci)
	id, err := a.Attach(ctx, s.ref)
	if err != nil {
		t.Fatalf("attach: %v; seen %+v", err, *s)
	}
	res, err = a.ResumeRun(ctx, id, nil)
	if err != nil && !errors.Is(err, codeinterp.ErrNoRun) || err == nil && !res.OK() {
		t.Errorf("resume: %+v, %v", res, err)
	}
	state, serr := of.RunInContext(ctx, id, "print(globals().get('runs', 0))", nil)
	_, _ = fmt.Sscan(state.Stdout(), &runs)
	// A run that the host was about to start may not have begun.
	if serr != nil || !state.OK() || state.StateLost || runs != s.begun && (runs != s.begun-1 || s.ended || s.calls > 0) {
		t.Errorf("the state: %+v, %v; seen %+v; resumed %+v, %v", state, serr, *s, res, err)
	}
	if errors.Is(err, codeinterp.ErrNoRun) && !s.ended && runs == s.begun && runs > 0 {
		t.Errorf("a run that has begun is not there: seen %+v; state %+v", *s, state)
	}
	if err := of.DeleteContext(ctx, id); err != nil {
		t.Errorf("delete: %v", err)
	}
	return res, runs, err
}

// missing returns the first line of the run that neither process has seen.
func (s *seen) missing(res codeinterp.Result) string {
	all := s.printed + res.Stdout()
	for i := range lines {
		if line := fmt.Sprintf("%d.%d\n", s.begun, i); !strings.Contains(all, line) {
			return line
		}
	}
	return ""
}
