//go:build linux

package jupyter_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// afterDeath is what a run needs besides its code, and what it prints in a process
// that was set up for its context.
type afterDeath struct {
	code string
	opts codeinterp.RunOptions
	want string
}

func afterDeaths() map[string]afterDeath {
	return map[string]afterDeath{
		"plain":       {},
		"surrounding": {code: "print(os.environ['RUN'], input())", opts: codeinterp.RunOptions{Env: map[string]string{"RUN": "of the run"}, Stdin: []byte("a line\n")}, want: "of the run a line\n"},
		"functions": {code: "print(tools.f())", want: "5\n", opts: codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "f",
			Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
				return json.RawMessage("5"), nil
			}}}}},
		"files": {code: "print(open('given').read())", want: "input\n", opts: codeinterp.RunOptions{Artifacts: true,
			Files: fstest.MapFS{"given": {Data: []byte("input")}}}},
	}
}

// TestDeathBetweenRuns kills the kernel's process between two runs, of which its server
// takes seconds to hear: the next program waits, runs once, in a process that was
// set up for the context, and tells once that the state was lost.
func TestDeathBetweenRuns(t *testing.T) {
	t.Parallel()
	servers := generations(t)
	if !testing.Short() {
		servers = append(servers, "gateway")
	}
	if !race.Enabled || race.Full() {
		servers = append(servers, "eg")
	}
	for _, name := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sharedServer(t, name)
			for about, c := range afterDeaths() {
				if about != "plain" && (name == "gateway" || name == "eg") {
					continue
				}
				t.Run(about, func(t *testing.T) {
					t.Parallel()
					dieBetween(t, s, c)
				})
			}
		})
	}
}

func dieBetween(t *testing.T, s *server, c afterDeath) {
	ci, err := open(t.Context(), s, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Env: map[string]string{"GIVEN": "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	report := "import os; print(os.environ.get('GIVEN'), os.path.basename(os.getcwd())[:9], 'x' in globals(), len(In)); open(" + strconv.Quote(trace) + ", 'a').write('x')\n"
	kill := func() {
		res, err := ci.RunInContext(t.Context(), id, "x = 1; import os; os.getpid()", nil)
		v, _ := res.Value()
		pid, perr := strconv.Atoi(v.Text())
		if err != nil || perr != nil {
			t.Fatal(res, err, perr)
		}
		endKernel(t, pid)
	}
	kill()
	res, err := ci.RunInContext(t.Context(), id, report+c.code, &c.opts)
	ran, _ := os.ReadFile(trace)
	if err != nil || !res.OK() || !res.StateLost || res.ExecutionCount != 1 || string(ran) != "x" || res.Stdout() != "yes toolcell- False 2\n"+c.want {
		t.Errorf("%+v, %v, ran %q", res, err, ran)
	}
	if len(res.Truncated) > 0 {
		t.Errorf("truncated: %+v", res.Truncated)
	}
	res, err = ci.RunInContext(t.Context(), id, "import os; os.environ['GIVEN']", nil)
	if err != nil || !res.OK() || res.ExecutionCount != 2 || res.StateLost {
		t.Errorf("the next run: %+v, %v", res, err)
	}
}

// endKernel kills a kernel's process, and returns when its server's connections to it
// are closed: what is sent into them before is lost with it.
func endKernel(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
}

// TestDeathBetweenOthersRuns is TestDeathBetweenRuns for a kernel that opens nothing
// that is sealed, after a moment without a run.
func TestDeathBetweenOthersRuns(t *testing.T) {
	t.Parallel()
	for language, c := range map[string]struct{ pid, code, want string }{
		"bash": {"echo $PPID", `echo "$GIVEN" "$x" $(basename $PWD | cut -c1-9)`, "yes toolcell-"},
		"deno": {"console.log(Deno.pid)", `console.log(Deno.env.get("GIVEN"), Deno.cwd().includes("toolcell-"))`, "yes true"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := sharedServer(t, "server6")
			ci, err := open(t.Context(), s, jupyter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer ci.Close()
			id, err := ci.CreateContext(t.Context(), language, &codeinterp.ContextOptions{Env: map[string]string{"GIVEN": "yes"}})
			if err != nil {
				missing(t, false, "no kernel for %s: %v", language, err)
			}
			res, err := ci.RunInContext(t.Context(), id, c.pid, nil)
			pid, perr := strconv.Atoi(strings.TrimSpace(res.Stdout()))
			if err != nil || perr != nil {
				t.Fatal(res, err, perr)
			}
			endKernel(t, pid)
			res, err = ci.RunInContext(t.Context(), id, c.code, nil)
			if err != nil || !res.OK() || !res.StateLost || strings.Join(strings.Fields(res.Stdout()), " ") != c.want {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}
