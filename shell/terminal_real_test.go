//go:build real && linux

package shell_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/shell/screen"
)

// A terminal is one under test.
type terminal struct {
	t  *testing.T
	s  *shell.Shell
	id shell.ID
}

// openTerminal runs a command on a terminal, in a directory.
func openTerminal(t *testing.T, dir, line string) *terminal {
	t.Helper()
	ci, err := subprocess.New(&subprocess.Options{Dir: dir, Languages: []subprocess.Language{subprocess.Bash(), subprocess.Python()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	s, err := shell.New(ci, &shell.Options{Emulator: screen.New})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	id, err := s.StartTerminal(t.Context(), line, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &terminal{t, s, id}
}

func (c *terminal) write(text string) {
	c.t.Helper()
	if _, err := c.s.Write(c.t.Context(), c.id, []byte(text), nil); err != nil {
		c.t.Fatal(err)
	}
}

func (c *terminal) press(keys ...string) {
	c.t.Helper()
	if err := c.s.Press(c.t.Context(), c.id, keys...); err != nil {
		c.t.Fatal(err)
	}
}

// shows waits until the screen matches.
func (c *terminal) shows(pattern string) shell.Screen {
	c.t.Helper()
	re := regexp.MustCompile("(?ms)" + pattern)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		st, err := c.s.Screen(c.t.Context(), c.id)
		if err != nil {
			c.t.Fatal(err)
		}
		if re.MatchString(st.Text()) {
			return st
		}
		if time.Now().After(end) {
			c.t.Fatalf("the screen does not match %s:\n%s", pattern, st.Text())
		}
	}
}

func (c *terminal) exits(code int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	info, err := c.s.Wait(ctx, c.id)
	if err != nil || info.Result.ExitCode != code {
		st, _ := c.s.Screen(c.t.Context(), c.id)
		c.t.Errorf("exit code %d, %v; want %d; on the screen\n%s", info.Result.ExitCode, err, code, st.Text())
	}
}

// need skips a test where a program is not installed, unless it has to be.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

// TestPrograms: an editor, a pager, a monitor, a REPL and a password prompt are driven by keys.
func TestPrograms(t *testing.T) {
	t.Run("vim", func(t *testing.T) {
		need(t, "vim")
		dir := leftover.Dir(t)
		c := openTerminal(t, dir, "vim -u NONE -N a.txt")
		c.shows(`^~$.*a\.txt`)
		c.write("ione")
		c.press("enter")
		c.write("tow")
		c.press("left", "left", "delete", "delete")
		c.write("wo")
		c.press("up", "home")
		c.write("number ")
		c.press("esc")
		c.shows(`\Anumber one\ntwo\n~`)
		c.write(":wq")
		c.press("enter")
		c.exits(0)
		if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "number one\ntwo\n" {
			t.Errorf("the file has %q", b)
		}
	})
	t.Run("less", func(t *testing.T) {
		need(t, "less")
		c := openTerminal(t, "", "seq 1 500 | less")
		c.shows(`\A1\n2\n.*\n23\n:`)
		c.press("page-down")
		c.shows(`\A24\n.*\n46\n:`)
		c.press("down", "down", "up")
		c.shows(`\A25\n.*\n47\n:`)
		c.write("/321")
		c.press("enter")
		c.shows(`\A321\n`)
		c.write("q")
		c.exits(0)
	})
	t.Run("top", func(t *testing.T) {
		need(t, "top")
		c := openTerminal(t, "", "top -d 1 -o PID")
		if st, _ := c.s.Screen(t.Context(), c.id); strings.Contains(st.Text(), "mount") {
			t.Skip("there is no /proc")
		}
		c.shows(`PID.*COMMAND`)
		c.write("q")
		c.exits(0)
	})
	t.Run("python", func(t *testing.T) {
		c := openTerminal(t, "", "python3 -q")
		c.shows(`>>>$`)
		c.write("6 * 7")
		c.press("enter")
		c.shows(`^42$`)
		c.write("print('be' 'gun'); exec('while True: pass')")
		c.press("enter")
		c.shows(`^begun$`)
		c.press("ctrl-c")
		c.shows(`^KeyboardInterrupt$`)
		c.write("'o' 'n'") // python's exit code is that of an interrupt otherwise
		c.press("enter")
		c.shows(`^'on'\n>>>$`) // before the prompt, the kernel drops an end of input
		c.press("ctrl-d")
		c.exits(0)
	})
	t.Run("password", func(t *testing.T) {
		c := openTerminal(t, "", "read -rs -p 'Password: ' x; echo; test \"$x\" = secret; exit")
		c.shows(`Password:`)
		c.write("secrex")
		c.press("backspace")
		c.write("t")
		c.press("enter")
		c.exits(0)
		if st := c.shows(`Password:`); strings.Contains(st.Text(), "secr") {
			t.Errorf("shown: %s", st.Text())
		}
	})
	t.Run("shell", func(t *testing.T) {
		c := openTerminal(t, "", "")
		c.shows(`\$ ?$`)
		for range 2 { // with the second one the first is in force
			if err := c.s.Resize(t.Context(), c.id, codeinterp.TerminalSize{Columns: 40, Rows: 10}); err != nil {
				t.Fatal(err)
			}
		}
		c.write("stty size; exit 5")
		c.press("enter")
		c.exits(5)
		if st := c.shows(`^10 40$`); len(st.Lines) != 10 || st.Columns != 40 {
			t.Errorf("got %+v", st)
		}
	})
}

// TestScreenOfTmux: the screen is what tmux shows of the same output.
func TestScreenOfTmux(t *testing.T) {
	need(t, "tmux")
	dir := leftover.Dir(t)
	text := filepath.Join(dir, "text")
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d\t%s wörter 世界 é\n", i, strings.Repeat("abc ", i%30))
	}
	if err := os.WriteFile(text, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	const socket = "toolcell-test"
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-L", socket, "-f", "/dev/null", "-u"}, args...)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX_TMPDIR="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-s", "t", "-x", "80", "-y", "24", "env TERM=xterm-256color LC_ALL=C.UTF-8 bash --norc")
	defer tmux("kill-server")
	theirs := func() string { return strings.TrimRight(tmux("capture-pane", "-p", "-t", "t"), "\n") }
	for _, tt := range []struct {
		line  string
		begun string   // what both show after it
		keys  []string // what is pressed then, in both
		ended string   // what both show after that
	}{
		{"PS1='$ '; clear; cat " + text, `^299 .*^\$$`, nil, ""},
		{"vim -u NONE -N -R " + text, `\A0 .*^"`, []string{"page-down", "down", "down", "right", "page-down", "up"}, `\A25 `},
		{"less -S " + text, `\A0 .*text$`, []string{"page-down", "down", "right", "page-up", "down", "down", "down"}, `\A\n é$`},
		{"clear; ls -C --color=always /usr/bin | head -60", `\w\n\$$`, nil, ""},
		{"clear; printf '\\e[5;10Hx\\e[31mred\\e[2;5r\\e[3;1H\\n\\n\\n\\nregion\\e[r\\e[10;1Hafter\\e[1K\\e[3P'; sleep 1", ` xred$.*^region$.* \$$`, nil, ""},
	} {
		c := openTerminal(t, dir, "env LC_ALL=C.UTF-8 bash --norc")
		both := func(pattern string) {
			t.Helper()
			re := regexp.MustCompile("(?ms)" + pattern)
			for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
				got, want := c.shows(pattern).Text(), theirs()
				if got == want && re.MatchString(want) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("%s, and then %s:\n%s\n--- tmux:\n%s", tt.line, pattern, got, want)
				}
			}
		}
		enter := func(line string) {
			c.write(line + "\r")
			tmux("send-keys", "-t", "t", "-l", line)
			tmux("send-keys", "-t", "t", "Enter")
		}
		tmux("respawn-pane", "-k", "-t", "t")
		c.shows(`\$ ?$`)
		enter("PS1='$ '; clear")
		both(`\A\$$`)
		enter(tt.line)
		both(tt.begun)
		for _, k := range tt.keys {
			c.press(k)
			tmux("send-keys", "-t", "t", strings.NewReplacer("page-down", "PageDown", "page-up", "PageUp", "down", "Down", "up", "Up", "right", "Right").Replace(k))
		}
		both(tt.ended)
	}
}

// TestMuchOutput: 50 MB go through a terminal in bounded memory, also where its reader is
// gone, and a reader that comes later learns what it missed.
func TestMuchOutput(t *testing.T) {
	c := openTerminal(t, "", "yes 'line of some text that is long enough' | head -c 50000000; echo; echo the end")
	for range c.s.Events(t.Context(), c.id, 0) {
		break // a reader that leaves
	}
	var peak uint64
	start := time.Now()
	done := make(chan struct{})
	go func() { defer close(done); c.exits(0) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(50 * time.Millisecond):
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
		}
	}
	t.Logf("50 MB in %v, heap at most %d MiB", time.Since(start), peak>>20)
	if peak > 64<<20 {
		t.Errorf("the heap grew to %d MiB", peak>>20)
	}
	chunk, err := c.s.Output(t.Context(), c.id, nil)
	if err != nil || chunk.Missed < 40_000_000 || chunk.Offset != chunk.Missed {
		t.Errorf("got %d bytes at %d, missed %d, %v", len(chunk.Data), chunk.Offset, chunk.Missed, err)
	}
	c.shows(`the end$`)
}

// TestStopTerminal: with a terminal ends all that was started on it.
func TestStopTerminal(t *testing.T) {
	c := openTerminal(t, "", "")
	arg := fmt.Sprintf("3600.%d", rand.Int32())
	c.write("trap '' HUP; nohup sleep " + arg + " & sleep " + arg + "; echo $((1+1))\r")
	c.shows(`sleep ` + arg)
	if _, err := c.s.Stop(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	if left := leftover.Running("sleep\x00" + arg); len(left) > 0 {
		t.Errorf("processes %v go on", left)
	}
}
