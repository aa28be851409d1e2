//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal is one that a test sits at.
type terminal struct {
	t    *testing.T
	file *os.File

	mu   sync.Mutex
	text bytes.Buffer
	read int // what was waited for ends here
}

// atTerminal starts the command on a terminal.
func atTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	cmd := command(t, args...)
	cmd.Stderr = nil // the terminal too
	cmd.Env = append(append(cmd.Env, "TERM=xterm", "TERM_PROGRAM=", "TMUX=", "LC_TERMINAL=", "KITTY_WINDOW_ID="), env...)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, file: file}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for b := make([]byte, 4096); ; {
			n, err := file.Read(b)
			x.mu.Lock()
			x.text.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() // which ends the reading
		<-ended
		file.Close()
		if t.Failed() {
			t.Logf("the terminal shows %q", x.text.String())
		}
	})
	return x
}

func (x *terminal) keys(s string) {
	x.t.Helper()
	if _, err := x.file.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

// sees waits until the terminal shows a text, after what was seen before.
func (x *terminal) sees(want string) {
	x.t.Helper()
	if !x.seesWithin(2*time.Minute, want) {
		x.t.Fatalf("the terminal does not show %q", want)
	}
}

func (x *terminal) seesWithin(d time.Duration, want string) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		i := strings.Index(x.text.String()[x.read:], want)
		if i >= 0 {
			x.read += i + len(want)
		}
		x.mu.Unlock()
		if i >= 0 {
			return true
		}
	}
	return false
}

// completes types the beginning of a name, and Tab until the terminal shows it whole:
// a completer that is loading yet is not waited for.
func (x *terminal) completes(beginning, whole string) {
	x.t.Helper()
	x.keys(beginning)
	for range 10 {
		x.keys("\t")
		if x.seesWithin(15*time.Second, whole) {
			return
		}
	}
	x.t.Fatalf("the terminal does not show %q", whole)
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
)

// A typist types at a provider's prompt.
type typist struct{ provider, prompt, set, get, forever, lines, answer, member, whole, call string }

const foreverPython = `exec("print('g' + 'o', flush=True)\nwhile True: pass")`

// TestReplAtATerminal types at every provider's prompt that works here.
func TestReplAtATerminal(t *testing.T) {
	for _, tt := range []typist{
		{"inmemory", "> ", "let number = 41", "number + 1", "console.log('go'); for(;;);", "[1,\r2].length", "2\r\n", "JSON.pars", "JSON.parse", "('6')"},
		{"subprocess", ">>> ", "number = 41", "number + 1", foreverPython, "if number:\r\tprint('in' + 'side')\r", "inside\r\n", "number.bit_len", "number.bit_length", "()"},
	} {
		t.Run(tt.provider, func(t *testing.T) {
			if tt.provider == "subprocess" {
				needs(t, "python3")
			}
			tt.types(t)
		})
	}
}

func (tt typist) types(t *testing.T, flags ...string) {
	history := filepath.Join(t.TempDir(), "below", "history")
	x := atTerminal(t, nil, append([]string{"repl", "--provider", tt.provider, "--history", history}, flags...)...)
	x.sees(":help")
	x.sees(tt.prompt)
	x.keys(tt.set + "\r")
	x.sees("\n")
	x.sees(tt.prompt)
	x.keys(tt.get + "\r")
	x.sees("\n42\r\n")
	x.sees(tt.prompt)
	x.completes("numb", "number")
	x.keys(" - 40\r")
	x.sees("\n1\r\n")
	x.sees(tt.prompt)
	x.completes(tt.member, tt.whole) // which was never typed
	x.keys(tt.call + "\r")
	x.sees("\n6\r\n")
	x.sees(tt.prompt)
	x.keys(up + up + up + "\r")
	x.sees("\n42\r\n")
	x.keys(tt.lines + "\r")
	x.sees("\n... ")
	x.sees("\n" + tt.answer)
	x.sees(tt.prompt)
	x.keys(tt.forever + "\r")
	x.sees("\ngo\r\n")
	x.keys(ctrlC)
	x.sees("interrupted")
	x.sees(tt.prompt)
	x.keys("dropped" + ctrlC)
	x.sees(tt.prompt)
	x.keys(tt.get + "\r")
	x.sees("\n42\r\n") // the interrupt took no variables
	x.sees(tt.prompt)
	x.keys(":restart\r")
	x.sees("forgotten")
	x.sees(tt.prompt)
	x.keys(tt.get + "\r")
	x.sees("number")
	x.sees("defined")
	x.sees(tt.prompt)
	x.keys(ctrlD)
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(history)
		if err == nil && strings.Contains(string(text), tt.get+"\n:restart\n") {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the history holds %q, %v", text, err)
		}
	}
}

// TestInputAtATerminal: what is typed reaches the program as it is typed.
func TestInputAtATerminal(t *testing.T) {
	needs(t, "python3")
	x := atTerminal(t, nil, "run", "--provider", "subprocess", "--language", "python", "--stdin", "-e", "a = input('first? '); b = input(a + ' second? '); print(a + b)")
	x.sees("first? ")
	x.keys("one\r")
	x.sees("one second? ")
	x.keys("two\r")
	x.sees("\nonetwo\r\n")
}

// TestReplInput: a program reads what is typed while it runs, up to its end; what is
// typed while one runs that does not read is the next program.
func TestReplInput(t *testing.T) {
	needs(t, "python3")
	x := atTerminal(t, nil, "repl", "--provider", "subprocess", "--language", "python", "--history", "none")
	x.sees(">>> ")
	x.keys("import time; print('be' + 'gun'); time.sleep(1)\r")
	x.sees("begun")
	x.keys("'ah' + 'ead'\r")
	x.sees("'ahead'")
	x.sees(">>> ")
	x.keys("name = input('na' + 'me? ')\r")
	x.sees("name? ")
	x.keys("Ada\r")
	x.sees(">>> ")
	x.keys("name + '!'\r")
	x.sees("'Ada!'")
	x.sees(">>> ")
	x.keys("input('mo' + 're? ')\r")
	x.sees("more? ")
	x.keys("\x03")
	x.sees("interrupted")
	x.sees(">>> ")
	x.keys("name * 2\r")
	x.sees("'AdaAda'")
	x.keys(":quit\r")
}

// TestReplShowsImages: inline where the terminal can, else a file's name.
func TestReplShowsImages(t *testing.T) {
	const png = "display('image/png', Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')); undefined\r"
	for _, tt := range []struct{ name, env, want string }{
		{"iTerm2", "TERM_PROGRAM=iTerm.app", "\x1b]1337;File="},
		{"kitty", "TERM=xterm-kitty", "\x1b_G"},
		{"others", "TERM=xterm", "image/png saved as "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := atTerminal(t, []string{tt.env, "TMPDIR=" + t.TempDir()}, "repl", "--history", "none")
			x.sees("> ")
			x.keys(png)
			x.sees(tt.want)
			x.sees("> ")
			x.keys(":quit\r")
		})
	}
}
