//go:build unix

package subprocess_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// trapping are programs whose traps would see what the driver does. In a context, what
// --- divides are programs of their own. bash itself runs all in one, as RunCode does.
var trapping = []string{
	// ERR
	"trap 'echo E $? $BASH_COMMAND' ERR\n---\nls /toolcell/none 2>/dev/null\n---\nfalse; true\n---\n(exit 3)\n---\n! true; false && true; if false; then :; fi\n---\nexit 4",
	"trap 'echo E $? $LINENO' ERR; f() { false; echo in; }; f; f || :; g() {\nreturn 5; }; g\nset -E; f\n(exit 4)\ng; exit",
	"trap 'echo E $BASH_COMMAND' ERR; set -e; echo on\n---\nfalse || echo or\n---\nfalse; echo never",
	"set -eE; trap 'echo E $?' ERR; f() { (exit 4); echo never; }; trap 'echo X $?' EXIT\n---\nf; echo never",
	"set -e; trap 'echo E $?' ERR\n---\nfalse && true\n---\necho on $?; exit 2",
	"trap 'echo E; exit 7' ERR\n---\necho a; false; echo never",
	"trap 'echo E $?' ERR\n---\ntrue | false\n---\nset -o pipefail; false | true\n---\n[[ a == b ]]\n---\n((0))\n---\nx=$(false)\n---\nexit 1",
	"trap 'echo E' ERR; trap - ERR\n---\nfalse\n---\ntrap 'echo F' ERR; false; trap '' ERR; false\n---\nfalse; exit 3",
	"trap 'echo E $?; false' ERR\n---\nfalse; echo on\n---\nfalse\n---\nexit",
	"trap 'echo E ${FUNCNAME-none} $BASH_SUBSHELL' ERR; set -E\n---\nf() { g; }; g() { (false); }; f\n---\n(f; exit 1)\n---\necho $(false; echo x); exit 1",
	"trap 'echo E \"${PIPESTATUS[*]}\"' ERR\n---\nfalse | true | (exit 3)\n---\nexit 3",
	"trap 'echo E $?' ERR\n---\neval false\n---\ncommand false\n---\nbuiltin false\n---\n. /dev/stdin <<<false; exit 3",
	"f() { trap 'echo E' ERR; false; }; f; false\n---\nfalse; exit 1",
	"set -u; trap 'echo E $?' ERR; trap 'echo X' EXIT; trap 'echo D' DEBUG\n---\n(echo $none); exit",

	// DEBUG
	"trap 'echo D $BASH_COMMAND' DEBUG\n---\necho one\n---\nx=1\n---\n\n---\nfor i in 1 2; do :; done; exit 3",
	"trap 'echo D $? $LINENO $BASH_COMMAND' DEBUG; false; (exit 4)\ntrue\necho on\nexit 3",
	"n=0; trap 'n=$((n + 1))' DEBUG\n---\n:; :\n---\necho $n; f() { :; :; }; f\n---\necho $n; exit",
	"n=0; trap 'n=$((n + 1))' DEBUG; set -T\n---\nf() { :; :; }; f; echo $n\n---\n(f; echo $n); echo $(f; echo $n)\n---\necho $n; exit $n",
	"set -T; trap 'echo D ${FUNCNAME-} $BASH_COMMAND' DEBUG; f() { echo $1; }\n---\nf a\n---\ntrap 'echo x' TERM\n---\ntrap -p TERM\n---\nkill -TERM $$; exit 3",
	"trap 'echo D $BASH_COMMAND' DEBUG; set -e\n---\nfalse || echo or; (exit 3)",
	"trap 'echo D $BASH_COMMAND' DEBUG; set -e\n---\nfalse || :\n---\nfalse; echo never",
	"trap 'echo D' DEBUG; trap 'echo E' ERR; set -eu\n---\nfalse",
	"trap 'echo D' DEBUG; trap - DEBUG\n---\necho a; trap 'echo D' DEBUG\n---\necho b; trap '' DEBUG; echo c\n---\necho d; exit",
	"trap 'echo D # c' DEBUG\n---\necho a; exit",
	"trap 'echo D\necho second' DEBUG\n---\necho a; trap -p; exit",
	"trap 'echo D ${PIPESTATUS[*]}' DEBUG\n---\ntrue | false; echo a b; exit",
	"f() { trap 'echo D $BASH_COMMAND' DEBUG; :; }; f\n---\necho on; exit",
	"shopt -s extdebug; trap '[[ $BASH_COMMAND != skip* ]]' DEBUG\n---\necho a; skip this; echo b\n---\nskip; exit 3",
	"trap 'echo D' DEBUG; trap 'echo X; echo $?' EXIT\n---\nexit 3",
	"trap 'echo D' DEBUG; trap 'echo X' EXIT; set -e\n---\nfalse",
	"trap 'echo D' DEBUG; trap 'echo X; exit 5' EXIT; f() { exit 3; }\n---\nf",
	"set -T; trap 'echo D' DEBUG; trap 'echo X' EXIT; f() { exit 3; }\n---\nf",
	"trap 'echo D' DEBUG; if true; then echo a; fi; case a in a) ;; esac; [[ a ]]; ((1)); while ((i++ < 2)); do :; done\n---\n{ :; }; (:); : | :; exit",
	"trap 'echo D >&2' DEBUG; exec 2>&1\n---\necho a; exit",

	// RETURN
	"trap 'echo R' RETURN\n---\necho x\n---\nset -T\n---\necho y\n---\nf() { echo f; }; f\n---\ntrap -p RETURN\n---\nexit",
	"set -T; trap 'echo R ${FUNCNAME-} $?' RETURN; f() { return 4; }; g() { f; }\n---\ng\n---\n(g); exit",
	"set -T; trap 'echo R' RETURN; trap - RETURN; f() { :; }\n---\nf; trap 'echo S' RETURN; f\n---\nf; trap '' RETURN; f; exit",
	"trap 'echo R' RETURN\n---\n. /dev/stdin <<<'echo in'\n---\nf() { :; }; declare -ft f; f; exit",
	"set -T; trap 'echo R' RETURN; trap 'echo X' EXIT; f() { exit 3; }; f",
	"set -T; trap 'echo R' RETURN\n---\ntrap 'echo X' EXIT; trap -p EXIT\n---\nset -e; false",
	"set -ET; trap 'echo R' RETURN; trap 'echo D' DEBUG; trap 'echo E' ERR; trap 'echo X' EXIT\n---\nf() { false; }; f\n---\nexit 3",
	"set -T; trap 'echo R' RETURN; trap 'echo D' DEBUG\n---\ntrap 'echo T' TERM; exit 2",
	"f() { trap 'echo R' RETURN; }; f\n---\nf; g() { :; }; g; exit",

	// EXIT
	"trap 'echo X $?; f' EXIT; f() { false; echo f; }; trap 'echo E' ERR\n---\nexit 3",
	"set -E; trap 'echo X $?; f' EXIT; f() { false; echo f; }; trap 'echo E' ERR\n---\nexit 3",
	"trap 'echo X; (false); echo on' EXIT; trap 'echo E' ERR; set -e\n---\nexit 3",
	"trap 'exit 1 2; echo never' EXIT\n---\nexit 3",
	"trap 'exit 1 2; echo never' EXIT; trap 'echo E' ERR; set -e\n---\nfalse",
	"trap 'exit x; echo never' EXIT\n---\nexit 3",
	"trap 'f; echo never' EXIT; f() { exit 1 2; }\n---\nexit 3",
	"trap 'echo X $LINENO\necho $LINENO' EXIT; exit 3",
	"trap 'echo X' EXIT\n---\n(exit 1 2); echo $?; exit 4",
	"set -T; trap 'echo D' DEBUG; trap 'echo R' RETURN\n---\n(exit 4); exit 5",
	"trap 'echo \"X $BASH_COMMAND\"' EXIT; set -e\n---\nfalse a",
	"trap 'echo X $BASH_COMMAND $LINENO' EXIT\n---\necho a | (exit 4); exit $?",
	"last() { echo \"last: $BASH_COMMAND\"; }; trap last EXIT; set -e; trap 'echo E $BASH_COMMAND' ERR\n---\n(exit 5)",
	"trap 'echo X $BASH_COMMAND' EXIT; trap; true | false; echo ${PIPESTATUS[*]} a; echo $_; false; echo $?; exit $((1 + 1))",
	"set -T; trap 'echo D $BASH_COMMAND' DEBUG; trap 'echo X $BASH_COMMAND' EXIT\n---\nexit 3",
	"trap 'echo X $BASH_COMMAND' EXIT; trap 'echo D' DEBUG; :; trap - DEBUG; :\n---\ntrap -p DEBUG; exit 4",
	"shopt -s extdebug; trap 'echo X $BASH_COMMAND' EXIT; echo a; exit 2",
	"set -x; trap 'echo X $?; f; (echo s)' EXIT; f() { echo f; }\n---\nexit 3",
	"set -x; trap 'set +x; echo X; echo Y' EXIT; exit 3",
	"trap 'set -x; echo X; echo Y' EXIT; exit 3",
	"set -xe; trap 'echo X $BASH_COMMAND' EXIT\n---\necho a\n---\nfalse",
	"trap 'echo X; exit abc' EXIT; exit 3",
	"f() { exit abc 2; }\n---\nf; echo never",
	"exit -- 3",
	"set -E; trap 'echo E' ERR; trap x NONE 2>/dev/null\n---\ntrap x NONE 2>/dev/null; exit 3",

	// noexec, posix
	"set -o posix; x=1\n---\nexit 3",
	"set -o posix\n---\necho $POSIXLY_CORRECT; exit",
	"export POSIXLY_CORRECT=1\n---\n[[ -o posix ]] && echo on; exit 3",
	"set -o posix; f() { echo f; }; alias a='echo aliased'\n---\nexport x=1; a; f; exit 2",
	"set -o posix; trap 'echo E' ERR\n---\nfalse\n---\nset +o posix; false; exit 3",
	"set -o posix; set -e; trap 'echo X $?' EXIT\n---\nfalse; echo never",
	"set -o posix; set -o; set +o posix; shopt; trap 'echo X' EXIT; exit 3",

	"set -o posix; trap 'echo X' EXIT; exit 3",
	"set -o posix; trap 'echo X $?' 0; trap 'echo T' TERM\necho a b; echo $_; exit",
	"set -o posix\n---\ntrap 'echo X $?' EXIT; set -e; (exit 4)",
	"set -o posix; exit 0",
	"set -o posix\n---\n(exit 0)\n---\nexit",
	"set -n; echo no",
	"false; set -n\nif",
	"trap 'echo X' EXIT; trap 'echo D' DEBUG; set -o noexec; echo no\nexit 3",

	// what leaves past exit
	"trap 'builtin exit 0' TERM; kill -TERM $$; sleep 5",
	"f() { builtin exit 0; }; f",
	"builtin exit 0",
	"(kill -TERM $BASHPID); command exit 0",

	// what is fed piece by piece
	"set -e\n---\n! true\n---\necho $?; ! false\n---\nif false; then :; fi; echo $?\n---\nf() { false; echo f; }; f || :; f && :\n---\nf; echo never",
	"set -e; f() { set +e; }; f\n---\nfalse; echo on; set -e\n---\necho ${-/c/}; (exit 5)",
	"set -eux 2>/dev/null\n---\n{ set +x; } 2>/dev/null; echo ${-/c/}; exit 3",
	"set -ET\n---\necho ${-/c/}; trap 'echo D' DEBUG; echo ${-/c/}\n---\nexit 3",
}

// TestBashTrapsItself compares RunCode and contexts with bash itself, which reads the
// program from a file.
func TestBashTrapsItself(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	dir := t.TempDir()
	n := newNotebook(t, ci, "bash")
	for i, code := range trapping {
		if !race.Takes(i, 3) {
			continue
		}
		whole := strings.ReplaceAll(code, "\n---\n", "\n")
		file := filepath.Join(dir, "bash")
		if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		itself := bashItself(t, file)
		itself.Stdin = strings.NewReader("")
		var said strings.Builder
		itself.Stderr = &said
		out, err := itself.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		want, trace := itself.ProcessState.ExitCode(), traced(said.String())
		o := &codeinterp.RunOptions{Timeout: 30 * time.Second}
		if i%4 == 0 {
			o.Functions = callstest.Functions(t)
		}
		if res := run(t, ci, "bash", whole, o); res.ExitCode != want || res.Stdout() != string(out) || strings.Contains(res.Stderr(), "__toolcell") || traced(res.Stderr()) != trace {
			t.Errorf("RunCode, %q: got %s, exit code %d, stderr %q; bash itself %d, %q and %q", code, summary(res), res.ExitCode, res.Stderr(), want, out, said.String())
		}
		var got, stderr strings.Builder
		var last codeinterp.Result
		for _, part := range strings.Split(code, "\n---\n") {
			last = n.run(part, o)
			got.WriteString(last.Stdout())
			stderr.WriteString(last.Stderr())
			if last.StateLost && !strings.Contains(part, "noexec") && !strings.Contains(part, "set -n") {
				t.Errorf("RunInContext, %q: %q lost the state: %s", code, part, summary(last))
			}
		}
		if last.ExitCode != want && !last.StateLost || got.String() != string(out) || strings.Contains(stderr.String(), "__toolcell") || traced(stderr.String()) != trace {
			t.Errorf("RunInContext, %q: got %q, exit code %d, stderr %q; bash itself %d, %q and %q", code, got.String(), last.ExitCode, stderr.String(), want, out, said.String())
		}
		if err := ci.RestartContext(t.Context(), n.id); err != nil {
			t.Fatal(err)
		}
	}
}

// traced is what set -x has said, whatever the depth.
func traced(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "+") {
			b.WriteString("+" + strings.TrimLeft(line, "+"))
		}
	}
	return b.String()
}

// TestBashNoExec: set -n, after which a shell does nothing more, ends a context's shell
// at once, which says so.
func TestBashNoExec(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	n.run("x=1", nil)
	res := n.run("echo on; set -n; echo no", &codeinterp.RunOptions{Timeout: time.Minute})
	if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseExit || !res.StateLost || res.Stdout() != "on\n" {
		t.Errorf("got %s", summary(res))
	}
	if res := n.run("echo ${x-none}", nil); res.Stdout() != "none\n" || res.StateLost {
		t.Errorf("the next run: %s", summary(res))
	}
}

// TestBashPast has programs go past the function trap, in posix mode and by builtin, and
// end in ways of which a context makes less than bash does. The state stays.
func TestBashPast(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	for _, tt := range []struct{ code, want string }{
		{"exit 1 2; echo never", ""},
		{"f() { exit 1 2; }; f; echo never", ""},
		{"trap 'echo X; trap - EXIT' EXIT; exit 1 2; echo never", "X\n"},
		{"set -T; trap 'echo R' RETURN; exit 1 2; echo never", ""},
		{"echo $((1 / 0)); echo never", ""},
		{"set -o posix; export 1=2; echo on", ""},
		{"set -o posix; if", ""},
		{"set -o posix; exit() { :; }; echo never", ""},
		{"set -eo posix; false", ""},
		{"set -o posix; builtin trap 'echo E' ERR; false", "E\n"},
		{"builtin trap 'echo E' ERR; false", "E\n"},
		{"return 3", ""},
	} {
		n := newNotebook(t, ci, "bash")
		n.run("kept=1", nil)
		res := n.run(tt.code, nil)
		if res.StateLost || res.OK() && !strings.HasSuffix(tt.code, "on") || strings.TrimSuffix(res.Stdout(), "on\n") != tt.want {
			t.Errorf("%s: got %s, stderr %q", tt.code, summary(res), res.Stderr())
		}
		for range 2 {
			if res := n.run("set +e; echo $kept; trap - ERR; exit 3", nil); res.StateLost || res.ExitCode != 3 || res.Stdout() != "1\n" {
				t.Errorf("after %s: got %s, stderr %q", tt.code, summary(res), res.Stderr())
			}
		}
		if err := ci.DeleteContext(t.Context(), n.id); err != nil {
			t.Fatal(err)
		}
	}
	id, err := ci.CreateContext(t.Context(), "bash", &codeinterp.ContextOptions{Env: map[string]string{"POSIXLY_CORRECT": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if res, err := ci.RunInContext(t.Context(), id, "[[ -o posix ]] && echo $POSIXLY_CORRECT; exit 3", nil); err != nil || res.Stdout() != "1\n" || res.StateLost || res.ExitCode != 3 {
			t.Errorf("POSIXLY_CORRECT of a context: %s, %v", summary(res), err)
		}
	}
}
