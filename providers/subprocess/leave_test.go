//go:build unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestForgedLeave: a program that says that its driver leaves, which it does not,
// has the next run wait for nothing, or in bash for little more than its own time.
// What a program says about a shell that is there has the next one lose nothing.
func TestForgedLeave(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Grace: time.Second})
	for _, tt := range []struct{ language, code string }{
		{"python", "import os\nos.write(3, b'00000001X')"},
		{"python", "import os, threading, time\nthreading.Thread(target=lambda: (time.sleep(.5), os.write(3, b'00000001X'))).start()"},
		{"bash", `__toolcell_send X; __toolcell_send Z "$__toolcell_run" ok 0 '' '' 0 '' ''; while :; do sleep 1; done`},
	} {
		n := newNotebook(t, ci, tt.language)
		n.run(tt.code, &codeinterp.RunOptions{Timeout: time.Minute})
		time.Sleep(time.Second) // until the thread has written; too short, and the test sees less
		began := time.Now()
		res, err := ci.RunInContext(t.Context(), n.id, "1", &codeinterp.RunOptions{Timeout: 3 * time.Second})
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("%s: the next run took %v: %s, %v", tt.code, took, summary(res), err)
		}
	}
	n := newNotebook(t, ci, "bash")
	n.run("a=1; __toolcell_send X", nil)
	for range 2 {
		if res := n.run("echo $a; exit", nil); res.Stdout() != "1\n" || res.StateLost {
			t.Errorf("after a leave that was none: %s", summary(res))
		}
	}
}
