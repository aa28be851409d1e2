//go:build unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/pytools/loopstest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestInterruptUponAsyncio: an interrupt that comes upon asyncio's own code loses no
// step of a task: the program ends with its finally, and the context keeps its state.
func TestInterruptUponAsyncio(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Grace: 20 * time.Second})
	n := newNotebook(t, ci, "python")
	n.run(loopstest.Set, nil)
	programs := loopstest.Programs()
	programs["a try of no task"] = "n = 0\ntry:\n while True: n += 1; -long\nfinally: print('fin' if n == 1 else n)"
	for name, program := range programs {
		res := n.run(program, &codeinterp.RunOptions{Timeout: time.Minute})
		if res.Status != codeinterp.StatusError || res.Stdout() != "fin\n" || res.Error == nil || res.Error.Name != "KeyboardInterrupt" || res.StateLost {
			t.Errorf("%s: %s, stdout %q, stderr %q", name, summary(res), res.Stdout(), res.Stderr())
		}
	}
	if res := n.run("await asyncio.sleep(0, 'kept')", nil); res.Text() != "'kept'" {
		t.Errorf("then: %s", summary(res))
	}
	res := run(t, ci, "python", loopstest.Set+"await starts('call_soon')", &codeinterp.RunOptions{Timeout: time.Minute})
	if res.Status != codeinterp.StatusError || res.Stdout() != "fin\n" {
		t.Errorf("RunCode: %s, stdout %q", summary(res), res.Stdout())
	}
}
