//go:build unix

package subprocess_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBashFewDescriptors: the driver's own are below a limit that is lower than where
// they are mostly, and one that a program lowers takes no state.
func TestBashFewDescriptors(t *testing.T) {
	const sum, nested = `tool add '{"a":1,"b":2}'`, `{ { { echo $(tool echo '{"v":1}') <(:) | cat; } 2>&1; } 3>&1; } 4>&2 | tr -d ' /a-z0-9' | wc -l`
	for _, limit := range []int{32, 64, 200, 1024} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			t.Parallel()
			ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}, Limits: subprocess.Limits{OpenFiles: limit}})
			o := &codeinterp.RunOptions{Functions: callstest.Functions(t)}
			res := run(t, ci, "bash", "ulimit -n; "+sum+"; "+nested, o)
			if want := "ok out=" + strconv.Itoa(limit) + "\n3\n1\n"; summary(res) != want {
				t.Errorf("got %q %q, want %q", summary(res), res.Stderr(), want)
			}
			n := newNotebook(t, ci, "bash")
			for _, step := range []struct {
				code, want string
				o          *codeinterp.RunOptions
			}{
				{"x=1; exit 3", "error", nil},
				{"echo $x; ulimit -n 30; exec 10</dev/null; x=2", "ok out=1\n", nil},
				{"echo $x; exit 4", "error out=2\n", nil},
				{"read -r line <&10; echo $x $?; f() { exit 5; }; f >/dev/null 2>&1", "error out=2 1\n", nil},
				{sum + "; echo $x; exit 6", "error out=3\n2\n", o},
				{sum + "; " + nested, "ok out=3\n1\n", o},
			} {
				res := n.run(step.code, step.o)
				if got := summary(res); got != step.want || res.Stderr() != "" || res.StateLost {
					t.Errorf("%s: got %q %q, lost %v, want %q", step.code, got, res.Stderr(), res.StateLost, step.want)
				}
			}
		})
	}
}

// TestBashNoDescriptors: where a program leaves none to hand the state over by, that it is
// gone is told, and the next run has a shell and the functions.
func TestBashNoDescriptors(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	o := &codeinterp.RunOptions{Functions: callstest.Functions(t)}
	lost := n.run("y=3; ulimit -n 10; exit 2", o).StateLost
	res := n.run(`echo "y=[$y]"; tool add '{"a":1,"b":2}'`, o)
	if !lost && !res.StateLost || res.Status != codeinterp.StatusOK || !strings.HasSuffix(res.Stdout(), "y=[]\n3\n") {
		t.Errorf("lost %v, then %s %q, lost %v", lost, summary(res), res.Stderr(), res.StateLost)
	}
	if res := n.run("exit 3", o); res.StateLost {
		t.Errorf("lost again: %s %q", summary(res), res.Stderr())
	}
	if res := n.run("tool add '{\"a\":1,\"b\":2}'", o); summary(res) != "ok out=3\n" || res.StateLost {
		t.Errorf("then %s %q, lost %v", summary(res), res.Stderr(), res.StateLost)
	}
}

// TestFewestDescriptors: all languages work with the fewest that New takes.
func TestFewestDescriptors(t *testing.T) {
	few := subprocess.Limits{OpenFiles: 31}
	for _, list := range [][]subprocess.Language{nil, {subprocess.Bash()}} {
		_, err := subprocess.NewStateful(&subprocess.Options{Languages: list, Limits: few})
		if !errors.Is(err, codeinterp.ErrInvalid) || !strings.Contains(err.Error(), "32 is the least") {
			t.Errorf("got %v", err)
		}
	}
	few.OpenFiles++
	ci := open(t, subprocess.Options{Limits: few})
	for name, code := range map[string]string{
		"python": "tools.add(a=1, b=2)", "javascript": "await tools.add({a: 1, b: 2})", "typescript": "await tools.add({a: 1, b: 2} as any)", "bash": `tool add '{"a":1,"b":2}'`,
	} {
		o := &codeinterp.RunOptions{Functions: callstest.Functions(t)}
		for way, res := range map[string]codeinterp.Result{"RunCode": run(t, ci, name, code, o), "RunInContext": newNotebook(t, ci, name).run(code, o)} {
			if res.Status != codeinterp.StatusOK || !strings.Contains(summary(res), "3") {
				t.Errorf("%s of %s: %s %q", way, name, summary(res), res.Stderr())
			}
		}
	}
}
