//go:build unix

package subprocess_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// exitTraps are programs that end the shell with traps of their own: what bash itself
// makes of each is what a context does, which keeps its state.
var exitTraps = []string{
	"trap 'echo bye' EXIT; exit 3",
	"trap 'echo bye' EXIT; exit 0",
	"trap 'echo bye $?' EXIT; exit 3",
	"trap 'echo bye $?' EXIT; set -e; false; echo never",
	"set -eu; trap 'echo bye $?' EXIT; echo $nothing; echo never",
	"trap 'echo bye' EXIT; : ${nothing:?}; echo never",
	"set -e; trap 'echo bye; false && :' EXIT; exit 3",
	"set -e; trap 'echo bye; false' EXIT; exit 3",
	"trap 'echo failed' ERR; trap 'echo bye; false' EXIT; exit 3",
	"trap 'echo bye; return 5' EXIT; exit 3",
	"trap 'echo bye $BASH_COMMAND' EXIT; f() { exit 4; }; f b",
	"trap '{ echo bye; return; }' EXIT; f() { exit 3; }; f",
	"trap - EXIT; exit 3",
	"trap '' EXIT; exit 3",
	"trap 'echo bye' 0; exit 3",
	"trap 'echo bye' SIGEXIT; exit 3",
	"trap 'echo bye' exit; exit",
	"trap -- 'echo bye' EXIT; false; exit",
	"trap 'echo one' EXIT; trap 'echo two' EXIT; exit 3",
	"trap 'echo one' EXIT; trap - EXIT; exit 3",
	"trap 'echo one' EXIT; trap EXIT; exit 3",
	"trap 'echo one' EXIT TERM; trap 0 TERM; trap -p; exit 3",
	"trap 'exit 4' EXIT; exit 3",
	"trap 'exit 300' EXIT; exit 3",
	"trap 'false; exit' EXIT; exit 3",
	"trap 'false' EXIT; exit 3",
	"cleanup() { local code=$?; echo gone $code; exit $code; }; trap cleanup EXIT; exit 3",
	"cleanup() { false; return 9; }; trap cleanup EXIT; exit 3",
	"cleanup() { trap - EXIT TERM; echo once; exit 5; }; trap cleanup EXIT; exit 3",
	"set -e; trap 'echo a; false; echo never' EXIT; exit 3",
	"set -e; cleanup() { echo a; (exit 6); echo never; }; trap cleanup EXIT; exit 3",
	"set -e; trap 'false || echo b; if false; then :; fi; ! true; (false) && :; echo c' EXIT; exit 3",
	"set -e; trap 'echo $(false; echo d); (false; echo never) || :; echo e' EXIT; exit 0",
	"trap 'echo failed' ERR; set -e; trap 'echo bye' EXIT; false",
	"set -eE; trap 'echo failed' ERR; trap 'echo bye' EXIT; f() { false; }; f",
	"trap 'echo failed' ERR; trap - ERR; trap 'echo bye' EXIT; false; exit 2",
	"f() { trap 'echo back' RETURN; echo in; }; f; g() { :; }; trap 'echo bye' EXIT; g; exit 2",
	"f() { trap 'echo back' RETURN; trap - RETURN; }; f; exit 2",
	"trap 'echo bye' EXIT; (exit 4); echo $?; (trap 'echo sub' EXIT; exit 5); echo $?; exit 6",
	"trap 'echo bye' EXIT; bash -c 'trap \"echo inner\" EXIT; exit 7'; exit",
	"trap 'echo bye' EXIT; trap -p EXIT; echo \"$(trap -p EXIT)\"; (trap -p EXIT; trap : TERM; trap -p); f() { trap -p 0; }; f; exit 3",
	"trap; trap -p; trap -p EXIT INT; echo \"[$(trap)]\"; (trap; trap -p INT); exit 3",
	"trap \"echo it\\\\'s\" EXIT; trap 'a\nb' TERM; trap 'echo e' ERR; trap '' HUP; trap; trap -p ERR TERM EXIT; exit 3",
	"trap 'echo bye' EXIT TERM INT; trap - TERM; trap -p; exit 3",
	"trap 'echo $1 $# $@' EXIT; exit 3",
	"set -- a b; trap 'echo $1 $# $@' EXIT; set -e; false",
	"f() { local x=inner; trap 'echo $x' EXIT; exit 3; }; f",
	"trap 'echo $LINENO\necho $LINENO' EXIT; exit 3",
	"trap 'if; echo never' EXIT; exit 3",
	"trap 'echo bye' NONE EXIT; echo $?; exit 3",
	"trap 'exit 8' TERM; trap 'echo bye $?' EXIT; kill -TERM $$; sleep 5",
	"trap 'exit 0' TERM; trap 'echo bye $?' EXIT; kill -TERM $$; sleep 5",
	"sleep 60 & trap 'kill $(jobs -p); wait; echo ended' EXIT; exit 3",
	"IFS=x; set -f; trap 'echo bye' EXIT; exit 3",
	"set -u; trap 'echo bye; trap' EXIT; exit",
	"set -k; trap 'echo bye' EXIT; exit 3",
	"shopt -s nocasematch; trap 'echo bye' EXIT; exit 3",
	"trap 'echo bye' EXIT; exec 2>/dev/null; exit 3",
	"builtin trap 'echo bye' EXIT; exit 3",
	"command trap 'echo bye $?' EXIT; exit 0",
	"trap 'echo one' EXIT; builtin trap - EXIT; exit 3",
}

// bashItself is bash as programs have it, which ignores no signal. What these tests
// were told to ignore, as by nohup, is by default again where they listen to it.
func bashItself(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	return exec.Command("bash", append([]string{"--norc"}, args...)...)
}

// TestBashExitTrap compares contexts with bash itself.
func TestBashExitTrap(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	n := newNotebook(t, ci, "bash")
	for i, code := range exitTraps {
		if !race.Takes(i, 2) {
			continue
		}
		n.run("kept=1", nil)
		itself := bashItself(t, "-c", code)
		out, err := itself.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		want := itself.ProcessState.ExitCode()
		res := n.run(code, nil)
		if res.StateLost || res.ExitCode != want || res.OK() != (want == 0) || res.Stdout() != string(out) {
			t.Errorf("%s: got %s, exit code %d, stderr %q; bash itself %d and %q", code, summary(res), res.ExitCode, res.Stderr(), want, out)
		}
		if res := n.run("set +eufkE; shopt -u nocasematch; trap - EXIT INT TERM HUP ERR RETURN; IFS=$' \\t\\n'; set --; echo $kept; unset kept; trap", nil); res.Stdout() != "1\n" || res.StateLost {
			t.Errorf("after %s: got %s, stderr %q", code, summary(res), res.Stderr())
			n = newNotebook(t, ci, "bash")
		}
	}
}

// TestBashExitTrapStays has traps of earlier runs, which are there for each end, and
// ends that are the host's.
func TestBashExitTrapStays(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	soon := &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}
	for _, tt := range []struct {
		code, want string
		exit       int
		o          *codeinterp.RunOptions
	}{
		{"x=1; trap 'echo bye $x $?; x=$((x + 1))' EXIT; trap 'echo failed' ERR; trap : TERM; trap 'echo int; exit 9' INT", "", 0, nil},
		{"trap", "trap -- 'echo bye $x $?; x=$((x + 1))' EXIT\ntrap -- 'echo int; exit 9' SIGINT\ntrap -- ':' SIGTERM\ntrap -- 'echo failed' ERR\n", 0, nil},
		{"exit 3", "bye 1 3\n", 3, nil},
		{"exit 0", "bye 2 0\n", 0, nil},
		{"trap", "trap -- 'echo bye $x $?; x=$((x + 1))' EXIT\ntrap -- 'echo int; exit 9' SIGINT\ntrap -- ':' SIGTERM\ntrap -- 'echo failed' ERR\n", 0, nil},
		{"if ! (false); then false; fi; :", "failed\n", 0, nil},
		{"trap - INT ERR; while :; do :; done", "bye 3 130\n", 124, soon},
		{"sleep 60", "bye 4 130\n", 124, soon},
		{"trap 'echo on; sleep 60' EXIT; exit 3", "on\n", 124, soon},
		{"trap 'while :; do :; done' EXIT; exit 3", "", 124, soon},
		{"trap 'echo end $?' EXIT; kill -INT $$; sleep 5", "end 130\n", 130, nil},
		{"builtin trap 'echo other $?' EXIT", "", 0, nil},
		{"trap -p EXIT; set -e; false", "trap -- 'echo other $?' EXIT\nother 1\n", 1, nil},
		{"set +e; builtin trap 'echo mine' EXIT; while :; do :; done", "mine\n", 124, soon},
		{"declare -F trap exit; unset -f trap; trap - EXIT; echo $x", "trap\nexit\n5\n", 0, nil},
		{"exit 2", "", 2, nil},
	} {
		res := n.run(tt.code, tt.o)
		if res.StateLost || res.ExitCode != tt.exit || res.Stdout() != tt.want || res.Stderr() != "" {
			t.Errorf("%s: got %s, exit code %d, stderr %q; want %d and %q", tt.code, summary(res), res.ExitCode, res.Stderr(), tt.exit, tt.want)
		}
	}
}

// TestBashExitTrapCalls: what a job waits for is not lost by a trap of EXIT, which may
// call functions too.
func TestBashExitTrapCalls(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	n := newNotebook(t, ci, "bash")
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: holding()}
	for _, tt := range []struct{ code, want string }{
		{`trap 'tool release; tool hold >/dev/null; tool held; echo $?' EXIT; exit 3`, "null\nnull\n0\n"},
		{`trap 'echo bye; tool release >/dev/null' EXIT; tool hold & tool held >/dev/null; exit 3`, "bye\nnull\n"},
		{`trap 'echo bye' EXIT; trap -p EXIT; (exit 3)`, "trap -- 'echo bye' EXIT\n"},
	} {
		for way, res := range map[string]codeinterp.Result{"RunCode": run(t, ci, "bash", tt.code, o), "RunInContext": n.run(tt.code, o)} {
			want := tt.want
			if way == "RunCode" && strings.Contains(tt.code, "trap -p") {
				want += "bye\n" // since there the end of the program is one of the shell
			}
			if res.ExitCode != 3 || res.StateLost || res.Stdout() != want {
				t.Errorf("%s, %s: got %s, exit code %d, stderr %q", tt.code, way, summary(res), res.ExitCode, res.Stderr())
			}
		}
	}
}

// holding are functions of which hold returns after release, and held once hold waits.
func holding() []codeinterp.Function {
	held, release := make(chan bool, 1), make(chan bool, 1)
	wait := func(name string, before, on chan bool) codeinterp.Function {
		return callstest.Function(name, func(ctx context.Context, _ map[string]any) (any, error) {
			if before != nil {
				before <- true
			}
			if on != nil {
				select {
				case <-on:
				case <-ctx.Done():
				}
			}
			return nil, nil
		})
	}
	return []codeinterp.Function{wait("hold", held, release), wait("held", nil, held), wait("release", release, nil)}
}
