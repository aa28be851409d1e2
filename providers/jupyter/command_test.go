//go:build linux

package jupyter_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/shelltest"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/shell"
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
		o.Timeout = 2 * time.Minute
	}
	res, err := sh.RunCommand(t.Context(), line, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestCommand: a command has its directory, environment, input and exit code,
// and nothing that it started outlives it, on servers of each kernel generation
// and on a gateway, which has no terminals.
func TestCommand(t *testing.T) {
	t.Parallel()
	for _, name := range everywhere(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ci := realSession(t, sharedServer(t, name), jupyter.Options{}).ci
			for _, tt := range []struct {
				name, line, stdout, stderr string
				code                       int
				o                          codeinterp.CommandOptions
			}{
				{"output", "echo a; echo b", "a\nb\n", "", 0, codeinterp.CommandOptions{}},
				{"streams", "echo out; echo err >&2; exit 7", "out\n", "err\n", 7, codeinterp.CommandOptions{}},
				{"bytes", `printf '\0\1\r\n\377'`, "\x00\x01\r\n\xff", "", 0, codeinterp.CommandOptions{}},
				{"environment", "echo $A", "x y\n", "", 0, codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Env: map[string]string{"A": "x y"}}}},
				{"no colors", "echo $FORCE_COLOR$CLICOLOR$CLICOLOR_FORCE", "\n", "", 0, codeinterp.CommandOptions{}},
				{"input", "tr a-z A-Z", "ABC", "", 0, codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Stdin: []byte("abc")}}},
				{"input that comes", "tr a-z A-Z", "ABC", "", 0, codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: strings.NewReader("abc")}}},
				{"no input", "cat", "", "", 0, codeinterp.CommandOptions{}},
				{"directory", "pwd", "/usr/lib\n", "", 0, codeinterp.CommandOptions{Cwd: "/usr/lib"}},
				{"what is left", "sleep 1000 & setsid sleep 1000 & echo $?", "0\n", "", 0, codeinterp.CommandOptions{}},
				{"no terminal", "tty >/dev/null; echo $?; [ -t 1 ] || echo none", "1\nnone\n", "", 0, codeinterp.CommandOptions{}},
				{"nothing of ours", "set | grep -c ^__tool; echo $#; ls /proc/self/fd", "0\n0\n0\n1\n2\n3\n", "", 0, codeinterp.CommandOptions{}},
				{"signals as they are by default", "kill -INT $$; echo no", "", "", 130, codeinterp.CommandOptions{}},
				{"several lines", "f() {\n echo \"$1\"\n}\nf 'a  b'\ncat <<E\nx\nE", "a  b\nx\n", "", 0, codeinterp.CommandOptions{}},
				{"much code", "x=" + strings.Repeat("a", 1<<20) + "; echo ${#x}", "1048576\n", "", 0, codeinterp.CommandOptions{}},
			} {
				t.Run(tt.name, func(t *testing.T) {
					res := command(t, ci, tt.line, &tt.o)
					if res.Stdout() != tt.stdout || res.Stderr() != tt.stderr || res.ExitCode != tt.code || len(res.Truncated) > 0 {
						t.Errorf("%v %d: %q, %q, %v", res.Status, res.ExitCode, res.Stdout(), res.Stderr(), res.Truncated)
					}
				})
			}
			res := command(t, ci, "echo in", &codeinterp.CommandOptions{Cwd: "nowhere"})
			if res.ExitCode != 126 || res.Stdout() != "" || !strings.Contains(res.Stderr(), "nowhere") {
				t.Errorf("a directory that is not there: %d %s", res.ExitCode, res.Stderr())
			}
		})
	}
}

// TestCommandDir: with Options.Dir commands start where programs do, and without
// in a directory of their own, which goes with them.
func TestCommandDir(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "server6")
	dir := t.TempDir()
	c := realSession(t, s, jupyter.Options{Dir: dir})
	c.ok("open('a', 'w').write('code\\n')")
	if res := command(t, c.ci, "pwd; echo command >>a", nil); res.Stdout() != dir+"\n" {
		t.Errorf("%+v", res)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a")); string(b) != "code\ncommand\n" {
		t.Errorf("%q, %v", b, err)
	}
	own := realSession(t, s, jupyter.Options{}).ci
	res := command(t, own, "pwd; echo x >a", nil)
	at := strings.TrimSpace(res.Stdout())
	if _, err := os.Stat(at); !strings.Contains(at, "toolcell-") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", at, err)
	}
}

// TestCommandEnds: a timeout and Close end a command with all that it started, and
// so does the death of its kernel.
func TestCommandEnds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		ci := realSession(t, s, jupyter.Options{}).ci
		file := filepath.Join(t.TempDir(), "pids")
		tree := "trap '' TERM INT; (trap '' TERM INT; setsid sleep 1000 & echo $! >>" + file + "; echo on; wait) & wait"
		res := command(t, ci, tree, &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Timeout: 2 * time.Second}})
		if res.Status != codeinterp.StatusTimeout || res.ExitCode != codeinterp.ExitTimeout || res.Stdout() != "on\n" || res.Error != nil {
			t.Errorf("timeout: %+v", res)
		}
		begun := filepath.Join(t.TempDir(), "begun")
		res = command(t, ci, tree+"& until [ -e "+begun+" ]; do sleep 0.1; done; kill -9 $(ps -o ppid= -p $PPID)", &codeinterp.CommandOptions{
			RunOptions: codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { return os.WriteFile(begun, nil, 0o600) }}})
		if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseExit || len(res.Truncated) == 0 {
			t.Errorf("the kernel's death: %+v", res)
		}
		if res = command(t, ci, "echo again", nil); res.Stdout() != "again\n" {
			t.Errorf("after that: %+v", res)
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
			t.Errorf("close: %+v, %v, %v", res, err, closed)
		}
		pids, err := os.ReadFile(file)
		if err != nil || strings.Count(string(pids), "\n") != 3 {
			t.Errorf("%q, %v", pids, err)
		}
		for pid := range strings.FieldsSeq(string(pids)) {
			gone := func() bool { _, err := os.Stat("/proc/" + pid); return err != nil }
			// Who was a kernel's is ended soon after that.
			for end := time.Now().Add(time.Minute); !gone() && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
			if !gone() {
				t.Errorf("process %s is still there", pid)
			}
		}
	})
}

// TestCommandSignals: a signal reaches all of the command; one that it handles
// does not end it.
func TestCommandSignals(t *testing.T) {
	t.Parallel()
	ci := realSession(t, sharedServer(t, "server6"), jupyter.Options{}).ci
	signals := make(chan codeinterp.Signal, 2)
	res := command(t, ci, "trap 'echo got' USR1; echo ready; while :; do sleep 0.1; done", &codeinterp.CommandOptions{
		Signals: signals, RunOptions: codeinterp.RunOptions{OnOutput: func(out codeinterp.Output) error {
			if strings.Contains(string(out.Data), "ready") {
				signals <- codeinterp.SignalUser1
			} else if strings.Contains(string(out.Data), "got") {
				signals <- codeinterp.SignalTerminate
			}
			return nil
		}}})
	if res.Status != codeinterp.StatusError || res.ExitCode != 143 || res.Cause != codeinterp.CauseInterrupt || !strings.Contains(res.Stdout(), "got") {
		t.Errorf("%+v", res)
	}
	if res := command(t, ci, "kill -9 $$", nil); res.Status != codeinterp.StatusLost || res.ExitCode != 137 || res.Cause != codeinterp.CauseSignal {
		t.Errorf("%+v", res)
	}
}

// TestCommandInput: input is read as it comes, and its reader closed at the end.
func TestCommandInput(t *testing.T) {
	t.Parallel()
	ci := realSession(t, sharedServer(t, "server6"), jupyter.Options{}).ci
	r, w := io.Pipe()
	go io.WriteString(w, "one\n")
	res := command(t, ci, "read a; echo $a; read b; echo $b", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{
		Input: r, OnOutput: func(out codeinterp.Output) error {
			if string(out.Data) == "one\n" {
				go io.WriteString(w, "two\n")
			}
			return nil
		}}})
	if res.Stdout() != "one\ntwo\n" {
		t.Errorf("got %+v", res)
	}
	if _, err := io.WriteString(w, "x"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the input is still open: %v", err)
	}
	big := strings.Repeat("0123456789abcdef", 1<<19)
	if res := command(t, ci, "sha256sum; echo done >&2", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Stdin: []byte(big)}}); !strings.HasPrefix(res.Stdout(), sum(big)) {
		t.Errorf("got %+v", res)
	}
}

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// TestShell runs the table of what a shell has to do.
func TestShell(t *testing.T) {
	if aparttest.Run(t) { // it looks at the memory of its process
		return
	}
	both(t, func(t *testing.T, s *server) {
		ci := realSession(t, s, jupyter.Options{}).ci
		shelltest.Run(t, func(t testing.TB, o *shell.Options) *shell.Service {
			sh, err := shell.New(ci, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { sh.Close() })
			return sh
		})
	})
}

// TestCommandCut: nothing of a command's output and input is lost, and nothing
// comes twice, where the connection is lost again and again.
func TestCommandCut(t *testing.T) {
	t.Parallel()
	way, outage := outages(t, sharedServer(t, "server6"))
	ci := realSession(t, way, jupyter.Options{}).ci
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintln(&want, i)
	}
	lines := 0
	res := command(t, ci, "while read x; do echo $x; sleep 0.01; done", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{
		Stdin: []byte(want.String()), OnOutput: func(o codeinterp.Output) error {
			before := lines
			if lines += strings.Count(string(o.Data), "\n"); before/60 != lines/60 {
				restore := outage()
				time.AfterFunc(50*time.Millisecond, restore)
			}
			return nil
		}}})
	if res.Stdout() != want.String() || !res.OK() || len(res.Truncated) > 0 {
		t.Errorf("%v, %d bytes of %d, %v", res.Status, len(res.Stdout()), want.Len(), res.Truncated)
	}
}

// TestCommandAlone: a command whose client is gone is ended in the end.
func TestCommandAlone(t *testing.T) {
	t.Parallel()
	way, outage := outages(t, sharedServer(t, "server6"))
	ci := realSession(t, way, jupyter.WithLease(jupyter.Options{ReconnectTimeout: time.Second}, 4*time.Second)).ci
	file := filepath.Join(t.TempDir(), "pid")
	restore := func() {}
	sh, _ := codeinterp.Commands(ci)
	res, err := sh.RunCommand(t.Context(), "trap '' TERM; echo $$ >"+file+"; echo on; sleep 1000", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{
		OnOutput: func(codeinterp.Output) error { restore = outage(); return nil }}})
	defer restore()
	if res.Status != codeinterp.StatusLost || !errors.Is(err, codeinterp.ErrUnavailable) || res.Cause != codeinterp.CauseServer || len(res.Truncated) == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gone := func() bool { _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); return err != nil }
	for end := time.Now().Add(time.Minute); !gone() && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	if !gone() {
		t.Error("it still runs")
	}
}
