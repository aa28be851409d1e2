//go:build linux

package jupyter_test

import (
	"testing"
	"time"

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

// TestKilledWords wants the same of a program that lets no other thread run, and has to
// be killed for it.
func TestKilledWords(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer ci.Close()
		res, err := ci.RunCode(t.Context(), "python", "print('x')\nsum(range(10**12))", &codeinterp.RunOptions{Timeout: 2 * time.Second})
		if err != nil || res.Status != codeinterp.StatusTimeout || reason(res) != codeinterp.TruncatedByExit || res.Stdout() != "" && res.Stdout() != "x\n" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
