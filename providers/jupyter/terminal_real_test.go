//go:build linux && real

package jupyter_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// onTerminal protects what docs/terminal.md says of terminals, on a server's.
func onTerminal(t *testing.T, s *server) {
	run := func(t *testing.T, s *server, line string, set func(*codeinterp.TerminalOptions)) (codeinterp.Result, error) {
		ci, err := open(t.Context(), s, jupyter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ci.Close() })
		of, ok := codeinterp.Terminals(ci)
		if !ok {
			t.Fatal("no terminals")
		}
		o := &codeinterp.TerminalOptions{}
		if set != nil {
			set(o)
		}
		return of.RunTerminal(t.Context(), line, o)
	}
	t.Run("surroundings", func(t *testing.T) {
		dir := t.TempDir()
		long := strings.Repeat("x", 20000)
		res, err := run(t, s, "echo $A.b $TERM ${COLUMNS-none}; pwd; [ -t 0 ] && echo tty; x="+long+"; echo ${#x}; echo é; exit 7",
			func(o *codeinterp.TerminalOptions) { o.Env, o.Cwd = map[string]string{"A": "it's"}, dir })
		want := "it's.b xterm-256color none\r\n" + dir + "\r\ntty\r\n20000\r\né\r\n"
		if err != nil || res.ExitCode != 7 || res.Stdout() != want {
			t.Errorf("%q, %+v, %v", res.Stdout(), res, err)
		}
		if res, err := run(t, s, "echo no", func(o *codeinterp.TerminalOptions) { o.Cwd = dir + "/none" }); err != nil || res.ExitCode != 126 {
			t.Errorf("a directory that is not there: %+v, %v", res, err)
		}
		res, err = run(t, s, "", func(o *codeinterp.TerminalOptions) { o.Stdin = []byte("stty size\recho $((6*7))\rexit 5\r") })
		if err != nil || res.ExitCode != 5 || !strings.Contains(res.Stdout(), "42") || !strings.Contains(res.Stdout(), "24 80") {
			t.Errorf("a shell: %q, %+v, %v", res.Stdout(), res, err)
		}
	})
	t.Run("killed guard", func(t *testing.T) {
		res, err := run(t, s, "setsid sleep 1 & kill -9 $PPID; sleep 1", nil)
		if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "may still be running") || res.Status != codeinterp.StatusLost {
			t.Errorf("%+v, %v", res, err)
		}
	})
	// Nothing of it runs once the caller has the result.
	const beat, begun = `(trap "" HUP INT TERM; while :; do echo >>FILE; sleep 0.02; done) & `, "while ! [ -s FILE ]; do sleep 0.01; done; "
	for name, start := range map[string]string{
		"survivor": beat + begun, "left session": "setsid sh -c '" + beat + "' & " + begun, "stopped jobs": "set -m; " + beat + begun,
	} {
		for _, stop := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", stop), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "beat")
				line := strings.ReplaceAll(start, "FILE", file)
				want := codeinterp.StatusOK
				if stop {
					line, want = line+"sleep 600", codeinterp.StatusTimeout
				}
				res, err := run(t, s, line, func(o *codeinterp.TerminalOptions) {
					if stop {
						o.Timeout = 5 * time.Second // in which it begins, also on a busy machine
					}
				})
				if err != nil || res.Status != want {
					t.Errorf("%q: %+v, %v", line, res, err)
				}
				before, err := os.ReadFile(file)
				time.Sleep(300 * time.Millisecond)
				after, _ := os.ReadFile(file)
				if err != nil || len(before) != len(after) {
					t.Errorf("it goes on: %d bytes, then %d, %v", len(before), len(after), err)
				}
			})
		}
	}
	t.Run("much", func(t *testing.T) {
		res, err := run(t, s, "yes é | head -c 3000000", func(o *codeinterp.TerminalOptions) { o.MaxOutput = 8 << 20 })
		if n := strings.Count(res.Stdout(), "é\r\n"); err != nil || !res.OK() || n != 1000000 || len(res.Stdout()) != 4*n {
			t.Errorf("%d lines, %d bytes, %+v, %v", n, len(res.Stdout()), res.Status, err)
		}
		res, err = run(t, s, "stty raw -echo; sleep 600", func(o *codeinterp.TerminalOptions) {
			o.Stdin, o.Timeout = bytes.Repeat([]byte("x"), 1<<20), time.Second
		})
		if err != nil || res.Status != codeinterp.StatusTimeout {
			t.Errorf("input that is not read: %q, %v", res.Status, err)
		}
		in, w := io.Pipe()
		begin := sync.OnceFunc(func() {
			go func() { _, _ = w.Write(append(bytes.Repeat([]byte("x"), 19996), "last"...)) }()
		})
		res, err = run(t, s, "stty raw -echo; echo on; head -c 20000 | tr -d x", func(o *codeinterp.TerminalOptions) {
			o.Input, o.OnOutput = in, func(codeinterp.Output) error { begin(); return nil }
		})
		if err != nil || res.Stdout() != "on\nlast" {
			t.Errorf("much input: %q, %v", res.Stdout(), err)
		}
	})
	t.Run("signal", func(t *testing.T) {
		signals := make(chan codeinterp.Signal, 1)
		res, err := run(t, s, "echo on; sleep 600; echo no", func(o *codeinterp.TerminalOptions) {
			o.Signals = signals
			o.OnOutput = func(codeinterp.Output) error {
				select {
				case signals <- codeinterp.SignalTerminate:
				default:
				}
				return nil
			}
		})
		if err != nil || res.ExitCode != 128+15 || res.Cause != codeinterp.CauseInterrupt {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("connections lost", func(t *testing.T) {
		way, cut := cuttable(t, s)
		shown := 0
		res, err := run(t, way, "for i in $(seq 3); do seq 1000; sleep 0.3; done; printf '\\377\\n'; kill -9 $$", func(o *codeinterp.TerminalOptions) {
			o.OnOutput = func(out codeinterp.Output) error {
				if shown += bytes.Count(out.Data, []byte("1000")); shown > 0 {
					cut()()
					shown -= 10
				}
				return nil
			}
		})
		if n := strings.Count(res.Stdout(), "\r\n1000\r\n1"); err != nil || n != 2 || !strings.HasSuffix(res.Stdout(), "\r\n1000\r\n\xff\r\n") || res.Cause != codeinterp.CauseSignal {
			t.Errorf("%d, %.20q, %+v, %v", n, res.Stdout(), res.Status, err)
		}
	})
}
