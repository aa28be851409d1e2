//go:build unix && real

package subprocess_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBashState: a context keeps its state from run to run and over an interrupt
// (contract, InterruptKeepsState); what ends the shell ends the state, and StateLost
// says so (contract, row 7). Options stay with the shell.
func TestBashState(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	const set = "cd /usr; set -u -o pipefail; name=a status=b state=c list=(0 d); f() { echo e; }; trap 'echo bye' EXIT"
	const show, want = "echo $name $status $state ${list[1]} $(f) $PWD ${-//[^euv]/}", "a b c d e /usr u\n"
	for _, tt := range []struct{ code, status, out string }{
		{"(exit 3)", "error", ""},
		{"break", "error", ""},
		{"set -v; set +v", "ok", ""},
		{"f() { while :; do for x in 1 2; do f2; done; done; }; f2() { sleep 60; echo never; }; f; echo never", "timeout", ""},
		{"until false; do :; done; echo never", "timeout", ""},
		{"exit 3", "error", "bye\n"},
		{"exit 0", "lost", "bye\n"},
		{"set -e; false; echo never", "error", "bye\n"},
		{"echo $unset; echo never", "error", "bye\n"},
		{"trap - EXIT; exec sh -c 'exit 4'", "error", ""},
	} {
		n := newNotebook(t, ci, "bash")
		n.run(set, nil)
		res := n.run(tt.code, &codeinterp.RunOptions{Timeout: 2 * time.Second})
		ends := tt.out != "" || strings.Contains(tt.code, "exec")
		if string(res.Status) != tt.status || res.Stdout() != tt.out || res.StateLost != ends {
			t.Errorf("%s: got %s %q", tt.code, summary(res), res.Stderr())
		}
		if ends {
			if res := n.run("echo ${name-none}", nil); res.Stdout() != "none\n" || res.StateLost {
				t.Errorf("after %s: got %s", tt.code, summary(res))
			}
		} else if res := n.run(strings.Replace(show, "f)", "type f >/dev/null && echo e)", 1), nil); res.Stdout() != want {
			t.Errorf("after %s: got %q %q, want %q", tt.code, res.Stdout(), res.Stderr(), want)
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
		for _, code := range []string{program, "echo ${size:-${REPLY:-on}}; (exit 3)", "(exit 4)", "echo ${size:-${REPLY:-on}}"} {
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
	for _, word := range []string{"break", "continue"} {
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
