//go:build unix && real

package subprocess_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// callingBash are bash programs that call functions, and their summaries.
var callingBash = []struct{ name, code, want string }{
	{"sequential", `a=$(tool add '{"a":1,"b":2}'); tool add "{\"a\":$a,\"b\":$a}"`, "ok out=6\n"},
	{"bare", `tool nothing; tool echo '{"v":"x"}' | tr x y`, "ok out=null\n\"y\"\n"},
	{"caught", `tool fail '{}' 2>&1 || echo "failed $?"`, "ok out=fail: no such café\nfailed 1\n"},
	{"uncaught", "(set -e; tool fail; echo on)", "error"},
	{"secret", "tool secret 2>&1 | grep -c secret.*secret", "error out=0\n"},
	{"unknown", "tool other 2>&1", "error out=other: the run was given no function of this name\n"},
	{"IFS is readonly", "(readonly IFS; tool echo '{\"v\":1}')", "ok out=1\n"},
	{"no object", "tool echo '[1]' 2>&1", "error out=echo: the arguments are not a JSON object\n"},
	{"no name", "tool 2>/dev/null; echo $?", "ok out=2\n"},
	{"zero byte", `tool zero '{"n":1}' 2>&1; echo $?`, "ok out=zero: x\uFFFDy\n1\n"},
	{"zero byte in much", `tool zero '{"n":5000}' 2>&1 | wc -m; echo ${PIPESTATUS[0]}`, "ok out=5009\n1\n"},
	{"unicode", `tool echo '{"v":"é漢😀\"$x"}'`, "ok out=\"é漢😀\\\"$x\"\n"},
	{"options", "set -euf; IFS=0123456789:; tool echo '{\"v\":\"1:2\"}'; set +euf; IFS=$' \\t\\n'", "ok out=\"1:2\"\n"},
	{"subshells", `for i in $(seq 40); do ( for j in 1 2 3; do [[ $(tool echo "{\"v\":$i$j}") == $i$j ]] || echo "wrong $i$j"; done ) & done; wait`, "ok"},
	{"pipeline", `tool echo '{"v":1}' | (read -r v; tool echo "{\"v\":$((v + 1))}")`, "ok out=2\n"},
	{"large", `v=$(tool repeat '{"s":"é","n":5000000}'); echo ${#v}`, "ok out=5000002\n"},
	{"large argument", `printf -v s '%*s' 3000000 ''; tool size "{\"s\":\"$s\"}"`, "ok out=3000000\n"},
	{"job that is terminated", `tool nap > /dev/null & sleep 0.1; kill -TERM $!; tool echo '{"v":2}'; wait`, "ok out=2\n"},
	{"reader that leaves", `tool repeat '{"s":"x","n":1000000}' 2>/dev/null | head -c 1; tool echo '{"v":3}'`, "ok out=\"3\n"},
	{"places", `tool echo '{"v":1}' | cat; (tool echo '{"v":2}'); x=$(tool echo '{"v":3}'); echo $x; tool echo '{"v":4}' & wait; cat <(tool echo '{"v":5}')`, "ok out=1\n2\n3\n4\n5\n"},
	{"no standard error", `(exec 2>&-; tool echo '{"v":1}'; tool fail; echo $?)`, "ok out=1\n1\n"},
	{"no standard error for good", `exec 3>&2 2>&-; tool echo '{"v":1}'; tool fail; echo $?; exec 2>&3 3>&-`, "ok out=1\n1\n"},
}

// TestFunctionsInBash runs the programs of the table in a context, and in fresh
// processes and warm ones by turns.
func TestFunctionsInBash(t *testing.T) {
	t.Parallel()
	o := subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}
	fresh := open(t, o)
	o.Warm = &subprocess.Warm{}
	warm := open(t, o)
	n := newNotebook(t, fresh, "bash")
	list := append(callstest.Functions(t), callstest.Function("nap", func(context.Context, map[string]any) (any, error) {
		time.Sleep(300 * time.Millisecond)
		return nil, nil
	}), callstest.Function("zero", func(_ context.Context, args map[string]any) (any, error) {
		return nil, &codeinterp.FunctionError{Message: strings.Repeat("x", int(args["n"].(float64))) + "\x00y"}
	}))
	for i, p := range callingBash {
		out := newOutputMeter()
		opts := &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: append(list[:len(list):len(list)], out.doze()), OnOutput: out.output}
		if s := summary(n.run(p.code, opts)); s != p.want {
			t.Errorf("%s: got %.500q, want %.500q", p.name, s, p.want)
		}
		if out.bytes = 0; i%8 > 0 && !tier.Full {
			continue
		}
		if s := summary(run(t, []*subprocess.Stateful{fresh, warm}[i%2], "bash", p.code, opts)); s != p.want {
			t.Errorf("%s, once: got %.500q, want %.500q", p.name, s, p.want)
		}
	}
	if s := summary(n.run("type tool 2>/dev/null || echo none", nil)); s != "ok out=none\n" {
		t.Error(s)
	}
}

// An outputMeter knows how much a run has printed.
type outputMeter struct {
	mu    sync.Mutex
	more  *sync.Cond
	bytes int
}

func newOutputMeter() *outputMeter {
	h := &outputMeter{}
	h.more = sync.NewCond(&h.mu)
	return h
}

func (h *outputMeter) output(out codeinterp.Output) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.Kind == codeinterp.Stdout {
		h.bytes += len(out.Data)
		h.more.Broadcast()
	}
	return nil
}

// doze is a function that returns once the run has printed so many bytes, on however
// busy a machine.
func (h *outputMeter) doze() codeinterp.Function {
	return callstest.Function("doze", func(ctx context.Context, args map[string]any) (any, error) {
		defer context.AfterFunc(ctx, func() {
			h.mu.Lock() // not between the look at ctx and the wait
			defer h.mu.Unlock()
			h.more.Broadcast()
		})()
		h.mu.Lock()
		defer h.mu.Unlock()
		for h.bytes < int(args["bytes"].(float64)) && ctx.Err() == nil {
			h.more.Wait()
		}
		return nil, ctx.Err()
	})
}

// TestFunctionsInBashTogether: jobs call at once, and none waits for another's
// answer.
func TestFunctionsInBashTogether(t *testing.T) {
	t.Parallel()
	const n = 20 // each is three processes
	meet := callstest.Meet(n)
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	code := `for i in $(seq 20); do ( [[ $(tool meet "{\"v\":$i}") == $i ]] || echo "wrong $i" ) & done; wait`
	if s := summary(run(t, ci, "bash", code, &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: []codeinterp.Function{meet}})); s != "ok" {
		t.Errorf("%.500s", s)
	}
}

// TestFunctionsInBashBesideSlowOnes: the answers of quick functions do not wait for
// those of slow ones, whichever of the calls is the one that reads.
func TestFunctionsInBashBesideSlowOnes(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	for range 3 {
		out := newOutputMeter()
		res := n.run(`for i in {0..9}; do tool doze '{"bytes":20}' >/dev/null & tool echo "{\"v\":$i}" & done; wait`,
			&codeinterp.RunOptions{Timeout: time.Minute, Functions: append(callstest.Functions(t), out.doze()), OnOutput: out.output})
		if !res.OK() || len(res.Stdout()) != 20 {
			t.Fatal(summary(res))
		}
	}
}

// TestFunctionsInBashAfterTheEnd: a job that a run left behind calls nothing.
func TestFunctionsInBashAfterTheEnd(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: callstest.Functions(t)}
	if s := summary(n.run(`(until [[ -e go ]]; do sleep 0.01; done; tool echo '{"v":1}' > out 2>&1; touch done) & echo on`, o)); s != "ok out=on\n" {
		t.Fatal(s)
	}
	res := n.run(`touch go; until [[ -e done ]]; do sleep 0.01; done; cat out; tool echo '{"v":2}'`, o)
	if s := summary(res); s != "ok out=echo: the run has ended\n2\n" || len(res.Calls) != 1 {
		t.Errorf("%s, %d calls", s, len(res.Calls))
	}
}

// TestFunctionsInBashWithoutALock: a program whose functions cannot be set up does
// not run, which is no good end.
func TestFunctionsInBashWithoutALock(t *testing.T) {
	ci := open(t, subprocess.Options{Require: subprocess.Landlock, Languages: []subprocess.Language{subprocess.Bash()}, Env: map[string]string{"TMPDIR": "/nowhere"}})
	res, err := ci.RunCode(t.Context(), "bash", "echo on", &codeinterp.RunOptions{Timeout: time.Minute, Functions: callstest.Functions(t)})
	if res.OK() && res.Stdout() == "" {
		t.Errorf("%s, %v", summary(res), err)
	}
}

// TestFunctionsInBashThatCannotWrite: a call that cannot be noted fails at once,
// and the context goes on.
func TestFunctionsInBashThatCannotWrite(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	o := &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: callstest.Functions(t)}
	const cannot = "echo: the files of calls cannot be written: the disk may be full, or ulimit -f too low\n"
	for _, c := range []struct{ name, code, again string }{
		{"nothing can be appended", `rm "$__toolcell_tools/log"; mkdir "$__toolcell_tools/log"`, cannot},
		{"the files are gone", `rm -r "$__toolcell_tools"`, cannot},
		{"in a subshell alone", "(ulimit -f 0; tool echo '{\"v\":0}'); false", "1\n"},
	} {
		n := newNotebook(t, ci, "bash")
		if res := n.run(c.code+"; tool echo '{\"v\":1}' 2>&1; kept=$?", o); res.Stdout() != c.again {
			t.Errorf("%s: %s", c.name, summary(res))
		}
		if res := n.run("echo $kept; for i in 1 2; do tool echo '{\"v\":1}' & done 2>&1; wait; tool echo '{\"v\":1}' 2>&1", o); !strings.HasSuffix(res.Stdout(), c.again) || !strings.HasPrefix(res.Stdout(), map[bool]string{true: "1\n", false: "0\n"}[c.again == cannot]) || res.StateLost {
			t.Errorf("%s, next: %s", c.name, summary(res))
		}
	}
}
