//go:build real && unix

package subprocess_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// command runs a command and wants no Go error.
func command(t testing.TB, ci codeinterp.CodeInterpreter, line string, o *codeinterp.CommandOptions) codeinterp.Result {
	t.Helper()
	sh, ok := codeinterp.Commands(ci)
	if !ok {
		t.Fatal("no commands")
	}
	if o == nil {
		o = &codeinterp.CommandOptions{}
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	res, err := sh.RunCommand(t.Context(), line, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// inModes is eachMode with bash alone.
func inModes(t *testing.T, f func(t *testing.T, o subprocess.Options)) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Languages = []subprocess.Language{subprocess.Bash()}
		f(t, o)
	})
}

// TestCommand: a command has its directory, environment, input and exit code,
// and nothing that it started outlives it.
func TestCommand(t *testing.T) {
	inModes(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		for _, tt := range []struct {
			name, line, want string
			o                codeinterp.CommandOptions
		}{
			{"output", "echo a; echo b", "ok out=a\nb\n", codeinterp.CommandOptions{}},
			{"exit code", "exit 7", "error", codeinterp.CommandOptions{}},
			{"environment", "echo $A", "ok out=x y\n", codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Env: map[string]string{"A": "x y"}}}},
			{"input", "tr a-z A-Z", "ok out=ABC", codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Stdin: []byte("abc")}}},
			{"input that comes", "tr a-z A-Z", "ok out=ABC", codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: strings.NewReader("abc")}}},
			{"input that is opened", "cat /dev/stdin", "ok out=abc", codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Stdin: []byte("abc")}}},
			{"input that comes and is opened", "cat /dev/stdin; cat /dev/stdin; cat", "ok out=abc", codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: strings.NewReader("abc")}}},
			{"streams that are opened", "set -e; echo a > /dev/stdout; echo b > /dev/stderr; echo c > /proc/self/fd/1", "ok out=a\nc\n", codeinterp.CommandOptions{}},
			{"no input", "cat", "ok", codeinterp.CommandOptions{}},
			{"directory", "pwd", "ok out=/usr/lib\n", codeinterp.CommandOptions{Cwd: "/usr/lib"}},
			{"what is left", "sleep 1000 & echo $?", "ok out=0\n", codeinterp.CommandOptions{}},
			{"no programs to find", "echo a; echo b >&1", "ok out=a\nb\n", codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Env: map[string]string{"PATH": "/nowhere"}}}},
			{"nothing of ours", "set | grep -c ^__tool; echo $#", "ok out=0\n0\n", codeinterp.CommandOptions{}},
			{"lines by number", "exec 2>&1; echo $LINENO\nnosuch-1\necho $LINENO", "ok out=1\nbash: line 2: nosuch-1: command not found\n3\n", codeinterp.CommandOptions{}},
			{"several lines", "f() {\n echo \"$1\"\n}\nf 'a  b'\ncat <<E\nx\nE", "ok out=a  b\nx\n", codeinterp.CommandOptions{}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				if got := summary(command(t, ci, tt.line, &tt.o)); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
		res := command(t, ci, "echo in; cd nowhere 2>/dev/null", &codeinterp.CommandOptions{Cwd: "nowhere"})
		if res.ExitCode != 126 || res.Stdout() != "" || !strings.Contains(res.Stderr(), "nowhere") {
			t.Errorf("a directory that is not there: %s %d %s", summary(res), res.ExitCode, res.Stderr())
		}
	})
}

// TestCommandEnds: a timeout, the caller's ctx and Close end a command with all
// that it started.
func TestCommandEnds(t *testing.T) {
	const tree = "trap '' TERM INT; (trap '' TERM INT; sleep 1000 & echo on; wait) & wait"
	inModes(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		res := command(t, ci, tree, &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Timeout: 500 * time.Millisecond}})
		if res.Status != codeinterp.StatusTimeout || res.ExitCode != codeinterp.ExitTimeout {
			t.Errorf("timeout: %s", summary(res))
		}
		sh, _ := codeinterp.Commands(ci)
		var closed error
		res, err := sh.RunCommand(t.Context(), tree, &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{
			Timeout: time.Minute, OnOutput: func(codeinterp.Output) error {
				closed = ci.Close()
				return nil
			},
		}})
		if res.Status != codeinterp.StatusLost || !errors.Is(err, codeinterp.ErrClosed) || closed != nil || res.Stdout() != "on\n" {
			t.Errorf("close: %s, %v, %v", summary(res), err, closed)
		}
	})
}

// TestCommandSignals: a signal reaches all of the command; one that it handles
// does not end it.
func TestCommandSignals(t *testing.T) {
	inModes(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		signals := make(chan codeinterp.Signal, 2)
		o2 := codeinterp.CommandOptions{Signals: signals, RunOptions: codeinterp.RunOptions{OnOutput: func(out codeinterp.Output) error {
			if strings.Contains(string(out.Data), "ready") {
				signals <- codeinterp.SignalUser1
			} else if strings.Contains(string(out.Data), "got") {
				signals <- codeinterp.SignalTerminate
			}
			return nil
		}}}
		res := command(t, ci, "trap 'echo got' USR1; echo ready; while :; do sleep 0.1; done", &o2)
		if res.Status != codeinterp.StatusError || res.ExitCode != 143 || res.Cause != codeinterp.CauseInterrupt || !strings.Contains(res.Stdout(), "got") {
			t.Errorf("%s, %d, %s", summary(res), res.ExitCode, res.Cause)
		}
	})
}

// TestCommandInput: input is read as it comes, and its reader closed at the end.
func TestCommandInput(t *testing.T) {
	inModes(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		r, w := io.Pipe()
		o2 := codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: r, OnOutput: func(out codeinterp.Output) error {
			if string(out.Data) == "one\n" {
				io.WriteString(w, "two\n")
			}
			return nil
		}}}
		go io.WriteString(w, "one\n")
		res := command(t, ci, "read a; echo $a; read b; echo $b", &o2)
		if res.Stdout() != "one\ntwo\n" {
			t.Errorf("got %s", summary(res))
		}
		if _, err := io.WriteString(w, "x"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the input is still open: %v", err)
		}
	})
}

// TestDir: all programs and commands, in contexts and without, share one
// directory, and so does what the host does in it by OpenDir.
func TestDir(t *testing.T) {
	inModes(t, func(t *testing.T, o subprocess.Options) {
		o.Dir = leftover.Dir(t)
		ci := open(t, o)
		dir, err := ci.OpenDir()
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		if err := dir.MkdirAll("sub", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := codeinterp.WriteFile(dir, "sub/host", strings.NewReader("host\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		n := newNotebook(t, ci, "bash")
		for _, got := range []string{
			summary(n.run("pwd; echo context >>sub/host", nil)),
			summary(run(t, ci, "bash", "pwd; echo run >>sub/host", nil)),
			summary(command(t, ci, "pwd; echo command >>sub/host", nil)),
		} {
			if got != "ok out="+o.Dir+"\n" {
				t.Errorf("got %s", got)
			}
		}
		b, err := os.ReadFile(filepath.Join(o.Dir, "sub/host"))
		if string(b) != "host\ncontext\nrun\ncommand\n" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
		if info := codeinterp.Describe(ci); info.Workdir != o.Dir || !strings.Contains(info.Isolation.User, "same for all programs") {
			t.Errorf("%+v", info)
		}
		if err := dir.RemoveAll("sub"); err != nil {
			t.Error(err)
		}
	})
}
