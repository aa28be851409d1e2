//go:build unix

package subprocess_test

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// modes are the ways of isolation to test; each is skipped where the machine
// does not have it, unless CI is set.
var modes = []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap, subprocess.None}

// How long a case may take, and a stop, where much else runs on the machine.
const busyTimeout, busyPatience = 2 * time.Minute, 10 * time.Second

// eachMode runs a test in each mode that the machine has.
func eachMode(t *testing.T, f func(t *testing.T, o subprocess.Options)) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			o := subprocess.Options{Require: mode, AllowNone: mode == subprocess.None}
			ci, err := subprocess.New(&o)
			if err != nil {
				missing(t, err)
			}
			if err := ci.Close(); err != nil {
				t.Fatal(err)
			}
			f(t, o)
		})
	}
}

// missing skips a test for want of a part of the machine, and fails in CI.
func missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" || !errors.Is(err, codeinterp.ErrIsolation) && !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Fatal(err)
	}
	t.Skip(err)
}

// apart has the test run in a process of its own, beside the other such tests:
// the suite counts what its process has, and waits most of the time. It reports
// false in that process.
func apart(t *testing.T) bool {
	const env = "TOOLCELL_TEST_APART"
	if os.Getenv(env) == t.Name() {
		return false
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v=true", "-test.timeout=20m")
	cmd.Env = append(os.Environ(), env+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, regexp.MustCompile(`(?m)^\s*(=== |--- (PASS|SKIP)).*\n`).ReplaceAll(out, nil))
	}
	for _, why := range regexp.MustCompile(`conformance_test\.go:\d+: .*`).FindAll(out, -1) {
		t.Logf("skipped: %s", why)
	}
	return true
}

// full has every mode tried with every language, and as much of each as the first.
func full() bool { return race.Full() }

// TestConformance tries every language in landlock mode, and in the others each
// clause with one of them.
func TestConformance(t *testing.T) {
	if apart(t) {
		return
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		conformance.Run(t, conformance.Config{
			Timeout: busyTimeout, Patience: busyPatience,
			New:   func() (codeinterp.CodeInterpreter, error) { return subprocess.New(&o) },
			Brief: o.Require != subprocess.Landlock && !full(),
			Lacks: []conformance.Feature{conformance.Manager},
		})
	})
}

// TestWarmConformance is the same with processes that are forked or come from
// a pool, and with a newer node.
func TestWarmConformance(t *testing.T) {
	if apart(t) {
		return
	}
	o := subprocess.Options{
		Require:   subprocess.Landlock,
		Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript(), newerNode(t)},
		Warm:      &subprocess.Warm{},
	}
	open(t, o)
	conformance.Run(t, conformance.Config{
		Timeout: busyTimeout, Patience: busyPatience,
		New:      func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) },
		Stateful: true,
		Thrifty:  true,
	})
}

// TestStatefulConformance does the same with contexts. RunCode is that of New,
// so that what holds for both is tried with contexts only.
func TestStatefulConformance(t *testing.T) {
	if apart(t) {
		return
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		conformance.Run(t, conformance.Config{
			Timeout: busyTimeout, Patience: busyPatience,
			New:      func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) },
			Stateful: true,
			Thrifty:  !full(),
			Brief:    o.Require != subprocess.Landlock && !full(),
		})
	})
}
