//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// typeAt types at a prompt, one key sequence after what is expected before it. A step
// waits for the prompt before Ctrl-D: the kernel drops an end of input that was typed
// before a line editor has changed the terminal's mode.
func typeAt(t *testing.T, args []string, steps ...[2]string) {
	t.Helper()
	if len(args) == 0 || args[0] != "shell" {
		args = append([]string{"repl", "--history", "none"}, args...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asToolcell+"=1", "TERM=xterm")
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	pieces := make(chan string, 100)
	go func() {
		defer close(pieces)
		b := make([]byte, 4096)
		for {
			n, err := term.Read(b)
			if n > 0 {
				pieces <- string(b[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	seen := ""
	until := func(text string) (ended bool) {
		for text == "" || !strings.Contains(seen, text) {
			select {
			case p, ok := <-pieces:
				if seen += p; !ok {
					return true
				}
			case <-ctx.Done():
				t.Fatalf("no %q: %q", text, seen)
			}
		}
		return false
	}
	for _, step := range steps {
		if step[0] != "" && until(step[0]) {
			t.Fatalf("ended before %q: %q", step[0], seen)
		}
		_, seen, _ = strings.Cut(seen, step[0])
		if _, err := io.WriteString(term, step[1]); err != nil {
			t.Fatal(err)
		}
	}
	until("") // which is its end
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v after %q", err, seen)
	}
}

// TestReplOfATerminal: a paste is one program, a block is recalled whole, Tab completes,
// Ctrl-C drops what was typed, and exit() ends.
func TestReplOfATerminal(t *testing.T) {
	const up, paste, pasted = "\x1b[A", "\x1b[200~", "\x1b[201~"
	typeAt(t, nil,
		[2]string{"> ", paste + "function twice(x) {\r\r  return 2 * x\r}\r'de' + 'fined'" + pasted + "\r"},
		[2]string{"defined", ""}, [2]string{"> ", "const number = 2\r"},
		[2]string{"> ", "twice(num\t) + 'two'\r"},
		[2]string{"4two", ""}, [2]string{"> ", up + up + up + "\r"},
		[2]string{"defined", ""}, [2]string{"> ", "dropped\x03"},
		[2]string{"> ", ":he\t\r"},
		[2]string{":restart", ""}, [2]string{"> ", "[1,\r2].map(twice)\r"},
		[2]string{"[ 2, 4 ]", ""}, [2]string{"> ", "exit()\r"})
}
