// Package attachtest kills hosts at random points, and looks whether the next process finds
// the state of their contexts and the output of their runs.
package attachtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Variable names the environment variable of a process that is to be a host.
const Variable = "TOOLCELL_ATTACHTEST"

const (
	lines   = 20
	program = `runs = globals().get("runs", 0) + 1
import time
for i in range(20):
    print(f"{runs}.{i}", flush=True)
    time.sleep(0.004)
`
)

// Host is a host: it runs programs one after the other in a context and writes down what
// it sees, until it is killed.
func Host(ci codeinterp.CodeInterpreter, err error) error {
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
func host(t testing.TB, env []string) (s seen) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(append(os.Environ(), Variable+"=1"), env...)
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

// Kill kills hosts at so many points and attaches their contexts to interpreters of open.
// env is for the hosts.
func Kill(t *testing.T, points int, env []string, open func() (codeinterp.CodeInterpreter, error)) {
	var resumed, whole, lossy, none int
	for n := range points {
		s := host(t, env)
		ci, err := open()
		if err != nil {
			t.Fatal(err)
		}
		res, err := attach(t, ci, &s)
		missing := s.missing(res)
		switch {
		case errors.Is(err, codeinterp.ErrNoRun):
			none++
		default:
			resumed++
			if missing == "" {
				whole++
			} else if len(res.Truncated) > 0 {
				lossy++
			}
		}
		if !s.ended && s.begun > 0 && missing != "" && len(res.Truncated) == 0 && !errors.Is(err, codeinterp.ErrNoRun) {
			t.Errorf("point %d: lost silently: %s; result %+v, %v; seen %+v", n, missing, res, err, s)
		}
		if err := ci.Close(); err != nil {
			t.Errorf("point %d: Close: %v", n, err)
		}
	}
	t.Logf("%d points: %d runs resumed, %d of them whole, %d with a loss that was reported; %d times none to resume", points, resumed, whole, lossy, none)
}

// attach attaches the context and resumes the run, and wants its state.
func attach(t *testing.T, ci codeinterp.CodeInterpreter, s *seen) (codeinterp.Result, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, _ := codeinterp.Attaches(ci)
	of, _ := codeinterp.Stateful(ci)
	id, err := a.Attach(ctx, s.ref)
	if err != nil {
		t.Fatalf("attach: %v; seen %+v", err, *s)
	}
	res, err := a.ResumeRun(ctx, id, nil)
	if err != nil && !errors.Is(err, codeinterp.ErrNoRun) {
		t.Errorf("resume: %+v, %v", res, err)
	}
	if err == nil && !res.OK() {
		t.Errorf("the run that was resumed: %+v", res)
	}
	count, cerr := of.RunInContext(ctx, id, "print(globals().get('runs', 0))", nil)
	var runs int
	_, _ = fmt.Sscan(count.Stdout(), &runs)
	// A run that the host was about to start may not have begun.
	if cerr != nil || !count.OK() || count.StateLost || runs != s.begun && (runs != s.begun-1 || s.ended || s.calls > 0 || err == nil && strings.Contains(res.Stdout(), fmt.Sprint(s.begun, "."))) {
		t.Errorf("the state: %+v, %v; seen %+v; resumed %+v, %v", count, cerr, *s, res, err)
	}
	if errors.Is(err, codeinterp.ErrNoRun) && !s.ended && runs == s.begun && s.begun > 0 {
		t.Errorf("a run that had begun is not there: seen %+v; state %+v", *s, count)
	}
	return res, err
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
