//go:build unix

package subprocess_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBashState has a context keep what the driver's own names might hide,
// over the end of a program that takes the shell along.
func TestBashState(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	const show = "echo $name $status $state $how $run $size $n ${list[1]} $(f) $PWD $x"
	n.run("cd /usr; name=a status=b state=c how=d run=e size=f n=g list=(0 h); f() { echo i; }", nil)
	const want = "a b c d e f g h i /usr"
	for _, tt := range []struct{ code, status string }{
		{"exit 3", "error"},
		{":", "ok"},
		{"set -e; false", "error"},
		{"set +e; exit 0", "ok"},
	} {
		if res := n.run(tt.code, nil); string(res.Status) != tt.status || res.StateLost {
			t.Errorf("%s: got %s", tt.code, summary(res))
		}
		if res := n.run(show, nil); res.Stdout() != want+"\n" {
			t.Errorf("after %s: got %swant %s", tt.code, res.Stdout(), want)
		}
	}
	env := map[string]string{"name": "1", "how": "2", "run": "3", "x": "4"}
	if res := n.run(show, &codeinterp.RunOptions{Env: env}); res.Stdout() != "1 b c 2 3 f g h i /usr 4\n" {
		t.Errorf("with an environment: got %s", summary(res))
	}
	if res := n.run(show, nil); res.Stdout() != want+"\n" {
		t.Errorf("after an environment: got %s", summary(res))
	}
}

// TestBashLines wants the lines in bash's own messages to be the program's.
func TestBashLines(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	n := newNotebook(t, ci, "bash")
	for _, tt := range []struct{ code, want string }{
		{"toolcell_none", "bash: line 1: toolcell_none: command not found\n"},
		{"\n# a comment\ntoolcell_none", "bash: line 3: toolcell_none: command not found\n"},
		{":\nif true; then\n  cd /toolcell/none\nfi", "bash: line 3: cd: /toolcell/none: No such file or directory\n"},
		{"a=$((1 +\n2))\nf() {\n  toolcell_none\n}\nf", "environment: line 4: toolcell_none: command not found\n"}, // so bash calls functions,
		{"echo $LINENO >&2\necho $LINENO >&2", "1\n2\n"},
		{"set -u\necho $toolcell_none", "bash: line 2: toolcell_none: unbound variable\n"},
		{"set +u\n(exit 3)\ntoolcell_none", "bash: line 3: toolcell_none: command not found\n"},
	} {
		for way, res := range map[string]codeinterp.Result{"RunCode": run(t, ci, "bash", tt.code, nil), "RunInContext": n.run(tt.code, nil)} {
			if res.Stderr() != tt.want {
				t.Errorf("%s %q: got %q, want %q", way, tt.code, res.Stderr(), tt.want)
			}
		}
	}
	if res := n.run("echo a\nif then", nil); !strings.Contains(res.Stderr(), "line 2: syntax error near unexpected token `then'") {
		t.Errorf("a syntax error: got %q", res.Stderr())
	}
}

// TestBashLargeState has programs end the shell, whose state takes longer to
// hand to the next one than the next program waits for it.
func TestBashLargeState(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	const large = "x=$(head -c 12000000 /dev/zero | tr '\\0' a); "
	opts := &codeinterp.RunOptions{Timeout: 1500 * time.Millisecond}
	for _, tt := range []struct{ end, status string }{{"exit 3", "error"}, {"while :; do :; done", "timeout"}} {
		n.run(large, nil)
		if res := n.run(tt.end, opts); string(res.Status) != tt.status || res.StateLost {
			t.Fatalf("%s: got %s", tt.end, summary(res))
		}
		if res := n.run("echo ${#x}", nil); res.Stdout() != "12000000\n" || res.StateLost {
			t.Errorf("after %s: got %s", tt.end, summary(res))
		}
	}
}

// TestBashEndWithin: a program that ends within a function whose output goes
// elsewhere takes no later output with it.
func TestBashEndWithin(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	for _, end := range []string{"exit 3", "set -e; false", "kill -INT $$; sleep 5"} {
		for _, to := range []string{"2>/dev/null", ">/dev/null", ">/dev/null 2>&1", "2>&-", ">&-"} {
			n.run("f() { "+end+"; }; f "+to, nil)
			if res := n.run("set +e; echo out; echo err >&2", nil); res.StateLost || res.Stdout() != "out\n" || res.Stderr() != "err\n" {
				t.Errorf("after %s in f %s: %s, stderr %q", end, to, summary(res), res.Stderr())
			}
		}
	}
}

// TestBashKilledBySignal: the end of a shell by a signal is no good end of a program.
func TestBashKilledBySignal(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	functions := &codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "f", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return nil, nil }}}}
	for _, tt := range []struct {
		code string
		exit int
	}{
		{"kill -TERM $$; echo never", 143},
		{"kill -HUP $BASHPID; echo never", 129},
		{"f() { kill -USR1 $$; }; f; echo never", 138},
		{"trap : USR2; trap - USR2; kill -ALRM $$; echo never", 142},
	} {
		n := newNotebook(t, ci, "bash")
		n.run("x=1", nil)
		for way, res := range map[string]codeinterp.Result{"RunCode": run(t, ci, "bash", tt.code, nil), "with functions": run(t, ci, "bash", tt.code, functions), "RunInContext": n.run(tt.code, nil)} {
			if res.Status != codeinterp.StatusLost || res.ExitCode != tt.exit || res.StateLost != (way == "RunInContext") || res.Stdout() != "" {
				t.Errorf("%s, %s: got %s", tt.code, way, summary(res))
			}
		}
		if res := n.run("echo ${x-none}", nil); res.Stdout() != "none\n" || res.StateLost {
			t.Errorf("after %s: got %s", tt.code, summary(res))
		}
	}
	// What exits is none.
	for _, code := range []string{"kept=1; exit", "trap 'exit 0' TERM; kill -TERM $$; sleep 9", "end() { exit; }; trap end USR1; kill -USR1 $$; sleep 9", "trap - TERM USR1; eval exit 0", "f() { exit 0; }; f", "set -eux; exit", "IFS=0; exit 0", "exit() { builtin exit; }; exit"} {
		n := newNotebook(t, ci, "bash")
		n.run("x=1", nil)
		if res := n.run(code, nil); !res.OK() || res.StateLost {
			t.Errorf("%s: got %s", code, summary(res))
		}
		if res := n.run("echo ${x-none}", nil); res.Stdout() != "1\n" {
			t.Errorf("after %s: got %s", code, summary(res))
		}
	}
}

// TestBashReadonlyEnvironment: a run's variables do not reach one that is readonly, and
// one that becomes so stays, which is told once each in words that are no driver's.
func TestBashReadonlyEnvironment(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	n := newNotebook(t, ci, "bash")
	const ignored, kept = ": readonly variable: the run's environment does not change it\n", ": readonly variable: it keeps what the run's environment has set\n"
	for _, step := range []struct{ code, out, err string }{
		{"readonly RO=ro UNSET", "", ""},
		{"echo $RO [$UNSET] $new", "ro [] 3\n", "RO" + ignored + "UNSET" + ignored},
		{"set -o posix; echo $RO $new; readonly new", "ro 3\n", "RO" + ignored + "UNSET" + ignored + "new" + kept},
		{"set +o posix; echo $RO $new; exit 3", "ro 3\n", "RO" + ignored + "UNSET" + ignored + "new" + ignored},
		{"echo $RO $new", "ro 3\n", "RO" + ignored + "new" + ignored},
	} {
		var o codeinterp.RunOptions
		if step.out != "" {
			o.Env = map[string]string{"RO": "1", "UNSET": "2", "new": "3"}
		}
		res := n.run(step.code, &o)
		said := slices.Sorted(strings.Lines(res.Stderr())) // one variable comes before another at random
		if res.Stdout() != step.out || strings.Join(said, "") != step.err || res.StateLost {
			t.Errorf("%s: got %q %q", step.code, res.Stdout(), res.Stderr())
		}
	}
}

// TestBashReadonlyIFS: a program that forbids changes of IFS has its own end.
func TestBashReadonlyIFS(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	n := newNotebook(t, ci, "bash")
	const code = "readonly IFS; echo on; (exit 3)"
	for way, res := range map[string]codeinterp.Result{"RunCode": run(t, ci, "bash", code, nil), "RunInContext": n.run(code, nil), "again": n.run("echo on; (exit 3)", nil)} {
		if res.Status != codeinterp.StatusError || res.ExitCode != 3 || res.Stdout() != "on\n" || res.Stderr() != "" {
			t.Errorf("%s: got %s", way, summary(res))
		}
	}
}

// TestBashStatus: a program begins with the exit status of the one before,
// which ends nothing under set -e and calls no trap.
func TestBashStatus(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	for _, tt := range []struct{ code, want string }{
		{"echo $?", "0\n"},
		{"false", ""},
		{"echo $?", "1\n"},
		{"echo $?", "0\n"},
		{"set -Eu; trap 'echo trapped' ERR; if (exit 5); then :; fi; (exit 6)", "trapped\n"},
		{"echo $?", "6\n"},
		{"trap - ERR; set -e +E; exit 3", ""},
		{"echo $?; false", "3\n"},
		{"echo $?; set +e", "1\n"},
		{"if", ""},
		{"echo $?", "2\n"},
		{"set -x; (exit 4)", ""},
		{"echo $?; set +x; break", "4\n"},
		{"echo $? ${_##*/}; kill -INT $$", "1 bash\n"},
		{"echo $?", "130\n"},
	} {
		res := n.run(tt.code, nil)
		if res.StateLost || res.Stdout() != tt.want || strings.Contains(res.Stderr(), "toolcell") || strings.Contains(res.Stderr(), "return") {
			t.Errorf("%s: got %s %q, want %q", tt.code, summary(res), res.Stderr(), tt.want)
		}
	}
}

// TestBashOwnNames: a program may call and forbid anything what the driver's own is
// called, and be named as what the driver uses, and later ones run.
func TestBashOwnNames(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	for _, program := range []string{
		"readonly size=on f head part left status at n fd name id line open dir args how run; declare -i stat still",
		"REPLY=on; [[ $REPLY ]]; readonly REPLY",
		"eval() { false; }; return() { false; }; printf() { false; }; :() { false; }",
		"set -k",
	} {
		n := newNotebook(t, ci, "bash")
		for _, code := range []string{program, "echo ${size:-${REPLY:-on}}; (exit 3)", "(exit 4)", "exit 5", "echo ${size:-${REPLY:-on}}"} {
			res := n.run(code, &codeinterp.RunOptions{Timeout: 20 * time.Second})
			if res.StateLost || res.Stderr() != "" || strings.HasPrefix(code, "echo") && res.Stdout() != "on\n" {
				t.Errorf("%s, then %s: got %s %q", program, code, summary(res), res.Stderr())
			}
		}
	}
}

// TestBashNoLoop: break and continue where there is no loop end a context's program, and
// not well: what follows them does not run. RunCode goes on behind them, as bash does.
func TestBashNoLoop(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	n := newNotebook(t, ci, "bash")
	o := &codeinterp.RunOptions{Timeout: 20 * time.Second}
	n.run("x=kept", o)
	for _, word := range []string{"break", "continue", "break 4", "continue 4"} {
		code := "echo on; " + word + "; echo off"
		res := n.run(code, o)
		if res.Status != codeinterp.StatusError || res.ExitCode != 1 || res.StateLost || res.Stdout() != "on\n" || !strings.Contains(res.Stderr(), "meaningful in a loop") {
			t.Errorf("%s: got %s %q", code, summary(res), res.Stderr())
		}
		if res := n.run("for i in 1 2; do continue; done; while :; do break; done; echo $x$i", o); res.Stdout() != "kept2\n" {
			t.Errorf("after %s: got %s", code, summary(res))
		}
		if res := run(t, ci, "bash", code, o); !res.OK() || res.Stdout() != "on\noff\n" || !strings.Contains(res.Stderr(), "only meaningful in a") {
			t.Errorf("RunCode, %s: got %s %q", code, summary(res), res.Stderr())
		}
	}
}
