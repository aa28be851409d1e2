//go:build real && unix

package subprocess_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// A console is a terminal under test.
type console struct {
	t       *testing.T
	in      *io.PipeWriter
	resizes chan codeinterp.TerminalSize
	signals chan codeinterp.Signal
	stop    context.CancelFunc
	done    chan struct{}
	res     codeinterp.Result

	mu   sync.Mutex
	out  strings.Builder
	seen int
}

// openConsole runs a command on a terminal.
func openConsole(t *testing.T, ci codeinterp.CodeInterpreter, command string) *console {
	t.Helper()
	of, ok := codeinterp.Terminals(ci)
	if !ok {
		t.Fatal("no terminals")
	}
	r, w := io.Pipe()
	c := &console{t: t, in: w, resizes: make(chan codeinterp.TerminalSize), signals: make(chan codeinterp.Signal), done: make(chan struct{})}
	o := &codeinterp.TerminalOptions{Size: codeinterp.TerminalSize{Columns: 70, Rows: 20}, Resizes: c.resizes}
	o.Input, o.Signals, o.Timeout = r, c.signals, 3*time.Minute
	o.OnOutput = func(out codeinterp.Output) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.out.Write(out.Data)
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel
	t.Cleanup(func() { cancel(); <-c.done })
	go func() {
		defer close(c.done)
		var err error
		if c.res, err = of.RunTerminal(ctx, command, o); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}()
	return c
}

// expect waits until the terminal has shown a text, after what was expected before.
func (c *console) expect(text string) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		all := c.out.String()
		i := strings.Index(all[c.seen:], text)
		if i >= 0 {
			c.seen += i + len(text)
		}
		c.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("%q has not come after %q", text, all)
		}
	}
}

// send hands something to the terminal, unless that has ended.
func send[T any](c *console, to chan T, v T) {
	select {
	case to <- v:
	case <-c.done:
	}
}

func (c *console) typeText(text string) { io.WriteString(c.in, text) }

func (c *console) ends(want string) {
	c.t.Helper()
	<-c.done
	if got := summary(c.res); !strings.HasPrefix(got, want) {
		c.t.Errorf("ended %s, want %s", got, want)
	}
}

// terminalModes runs a test in the modes that have terminals of their own make.
func terminalModes(t *testing.T, f func(t *testing.T, ci codeinterp.CodeInterpreter)) {
	modes := []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap}
	if tier.Full {
		modes = append(modes, subprocess.None)
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			o := inMode(mode)
			o.Languages = []subprocess.Language{subprocess.Bash(), subprocess.Python()}
			f(t, open(t, o))
		})
	}
}

// TestTerminal: a shell for a person has a terminal of its own, with its size, keys that
// send signals, and an exit code.
func TestTerminal(t *testing.T) {
	terminalModes(t, func(t *testing.T, ci codeinterp.CodeInterpreter) {
		c := openConsole(t, ci, "")
		c.typeText("stty size; echo $TERM; test -t 0 -a -t 1 -a -t 2 && echo is a$((1))\r")
		c.expect("20 70\r\nxterm-256color\r\nis a1")
		send(c, c.resizes, codeinterp.TerminalSize{Columns: 100, Rows: 30})
		c.typeText("until stty size | grep -x '30 1''00'; do sleep 0.05; done\r") // not before it is applied
		c.expect("30 100")
		c.typeText("bash -c 'echo be${X}gun; exec sleep 1000'\r")
		c.expect("begun")
		c.typeText("\x03")
		c.expect("^C")
		c.typeText("echo it goes o$((0))n; exec 7>/dev/tty && echo to it >&7; exit 3\r")
		c.expect("it goes o0n\r\nto it")
		c.ends("error")
		if c.res.ExitCode != 3 || strings.Contains(c.res.Stdout(), "job control") {
			t.Errorf("exit code %d, shown %q", c.res.ExitCode, c.res.Stdout())
		}
	})
}

// TestTerminalPrograms: a REPL takes an interrupt and goes on, and a password is not shown.
func TestTerminalPrograms(t *testing.T) {
	terminalModes(t, func(t *testing.T, ci codeinterp.CodeInterpreter) {
		c := openConsole(t, ci, "python3 -q")
		c.expect(">>> ")
		c.typeText("print('be' 'gun'); exec('while True: pass')\r")
		c.expect("begun")
		c.typeText("\x03")
		c.expect("KeyboardInterrupt")
		c.typeText("import getpass; got = getpass.getpass()\r")
		c.expect("Password: ")
		c.typeText("hunter2\r")
		c.expect(">>> ")
		c.typeText("got[::-1]\r")
		c.expect("2retnuh")
		c.expect(">>> ") // before it, the kernel drops an end of input
		c.typeText("\x04")
		c.ends("ok")
		if strings.Contains(c.res.Stdout(), "hunter2") {
			t.Error("the password is shown")
		}
	})
}

// TestTerminalSignals: a signal ends what runs on a terminal, as it ends a command.
func TestTerminalSignals(t *testing.T) {
	terminalModes(t, func(t *testing.T, ci codeinterp.CodeInterpreter) {
		c := openConsole(t, ci, "echo on; sleep 1000")
		c.expect("on\r\n")
		send(c, c.signals, codeinterp.SignalTerminate)
		<-c.done
		if c.res.Status != codeinterp.StatusError || c.res.Cause != codeinterp.CauseInterrupt || c.res.ExitCode != 143 {
			t.Errorf("got %+v", c.res)
		}
	})
}

// TestTerminalEnds: with a terminal ends all that was started on it, also what ignores
// its hangup, has a group of its own, or left its session.
func TestTerminalEnds(t *testing.T) {
	terminalModes(t, func(t *testing.T, ci codeinterp.CodeInterpreter) {
		arg := fmt.Sprintf("3600.%d", rand.Int32())
		c := openConsole(t, ci, "")
		leave := "(setsid sleep " + arg + " &); "
		if strings.HasSuffix(t.Name(), "none") {
			leave = "" // which can be done there
		}
		c.typeText("trap '' HUP; " + leave + "nohup sleep " + arg + " & sleep " + arg + " & echo al$((1))l\r")
		c.expect("al1l")
		c.stop()
		<-c.done
		if left := leftover.Running(arg); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
		c = openConsole(t, ci, "sleep "+arg+" & exit 0")
		c.ends("ok")
		if left := leftover.Running(arg); len(left) > 0 {
			t.Errorf("processes %v are left after the end", left)
		}
	})
}

// TestTerminalWalls: programs put no input into a terminal and give it no other driver.
func TestTerminalWalls(t *testing.T) {
	terminalModes(t, func(t *testing.T, ci codeinterp.CodeInterpreter) {
		c := openConsole(t, ci, `python3 -c 'import fcntl
for name, request, arg in ("STI", 0x5412, b"x"), ("SETD", 0x5423, b"\0\0\0\0"):
    try:
        fcntl.ioctl(0, request, arg)
        print(name, "went through")
    except OSError as e:
        print(name, e.strerror)
'`)
		c.ends("ok")
		got := c.res.Stdout()
		if strings.Count(got, "Operation not permitted") != 2 && !strings.HasSuffix(t.Name(), "none") {
			t.Errorf("got %q", got)
		}
	})
}

// TestTerminalRefused: sizes that no terminal has are refused before anything runs.
func TestTerminalRefused(t *testing.T) {
	ci := open(t, subprocess.Options{Sandbox: inMode(subprocess.Landlock).Sandbox, ProbeCache: probes, Languages: []subprocess.Language{subprocess.Bash()}})
	of, _ := codeinterp.Terminals(ci)
	for _, size := range []codeinterp.TerminalSize{{Columns: -1}, {Rows: 201}} {
		res, err := of.RunTerminal(t.Context(), "true", &codeinterp.TerminalOptions{Size: size})
		if res.Status != codeinterp.StatusNotRun || err == nil {
			t.Errorf("%v: %v, %v", size, res.Status, err)
		}
	}
}
