//go:build real && unix

package subprocess_test

import (
	"fmt"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestThreadDisplays: a thread may show things during its run, between runs and
// during other runs, and harms none of them.
func TestThreadDisplays(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	if res := n.run(`
import threading, time
shown, go, done = threading.Event(), threading.Event(), threading.Event()
def progress():
    display('0%', display_id='p')
    shown.set()
    go.wait()
    for i in range(200):
        time.sleep(0.005)
        update_display(str(i), display_id='p')
        display('step')
    done.set()
threading.Thread(target=progress, daemon=True).start()
shown.wait(30)`, nil); res.Text() != "True" || lateSteps(res) != 0 {
		t.Fatal(summary(res))
	}
	late := 0
	for i := range 20 {
		res := n.run(fmt.Sprintf("import time; go.set(); time.sleep(0.03); display(%d); print(%d); %d", i, i, i), nil)
		if !res.OK() || res.StateLost || res.Text() != fmt.Sprint(i) || res.Stdout() != fmt.Sprintln(i) {
			t.Fatalf("run %d: %s", i, summary(res))
		}
		late += lateSteps(res)
	}
	res := n.run("done.wait(30)", nil)
	if res.Text() != "True" {
		t.Fatal(summary(res))
	}
	if late += lateSteps(res) + lateSteps(n.run("1", nil)); late != 200 {
		t.Errorf("%d of 200 displays came late", late)
	}
}

func lateSteps(res codeinterp.Result) int {
	n := 0
	for _, o := range res.Outputs {
		if o.Kind == codeinterp.Display && o.Late && o.Text() == "'step'" {
			n++
		}
	}
	return n
}
