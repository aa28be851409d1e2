//go:build linux

package jupyter_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestLastWords wants what a program printed just before it ended its process to
// come, or to be told as what may be lost, and its end to be the program's own.
func TestLastWords(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		const code = "print('x', flush=True); import os; os.kill(os.getpid(), 9)"
		for name, run := range map[string]func() (codeinterp.Result, error){
			"run":        func() (codeinterp.Result, error) { return c.ci.RunCode(t.Context(), "python", code, nil) },
			"in context": func() (codeinterp.Result, error) { return c.run(code, nil) },
		} {
			res, err := run()
			if err != nil || res.Status != codeinterp.StatusLost || res.ExitCode != codeinterp.ExitKilled || res.Cause != codeinterp.CauseExit ||
				reason(res) != codeinterp.TruncatedByExit || res.Stdout() != "" && res.Stdout() != "x\n" {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
		}
	})
}

// TestAtExit: what a program registered with atexit is called at the end of RunCode,
// and heard.
func TestAtExit(t *testing.T) {
	t.Parallel()
	const code = `
import atexit
def gone(): print("never")
def bad(): raise ValueError("boom")
for f in gone, bad, gone: atexit.register(f)
atexit.register(print, "first", end="!\n")
atexit.register(lambda: atexit.register(print, "of a handler"))
atexit.unregister(gone)
print("end")
raise SystemExit(3)`
	both(t, func(t *testing.T, s *server) {
		for name, opts := range map[string]jupyter.Options{"private": {}, "dir": {Dir: "."}, "warm": {Warm: map[string]int{"python": 1}}} {
			ci, err := open(t.Context(), s, opts)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ci.RunCode(t.Context(), "python", code, nil)
			if err != nil || res.ExitCode != 3 || res.Stdout() != "end\nof a handler\nfirst!\n" || !strings.Contains(res.Stderr(), "ValueError: boom") {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			if err := ci.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
