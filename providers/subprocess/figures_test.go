//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const plot = "import matplotlib.pyplot as plt, sys, time\n_ = plt.plot([1, 2])\n"

var plotting = &subprocess.Warm{Preload: []string{"matplotlib.pyplot"}}

// pngs counts a run's images.
func pngs(res codeinterp.Result) (n int) {
	for _, rep := range res.Images() {
		if rep.MIME == "image/png" && strings.HasPrefix(string(rep.Data), "\x89PNG") {
			n++
		}
	}
	return n
}

// TestFiguresOfEnds: however a program ends, its figures are among its own
// output, and never among that of the next one.
func TestFiguresOfEnds(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Warm: plotting})
	n := newNotebook(t, ci, "python")
	for _, tt := range []struct {
		code string
		want codeinterp.Status
	}{
		{"1/0", codeinterp.StatusError},
		{"sys.exit(3)", codeinterp.StatusError},
		{"sys.exit(0)", codeinterp.StatusOK},
		{"sys.exit()", codeinterp.StatusOK},
		{"try: sys.exit('said')\nfinally: _ = plt.gca().bar([1], [2])", codeinterp.StatusError},
		{"raise KeyboardInterrupt", codeinterp.StatusError},
	} {
		for name, res := range map[string]codeinterp.Result{"once": run(t, ci, "python", plot+tt.code, nil), "context": n.run(plot+tt.code, nil)} {
			if res.Status != tt.want || pngs(res) != 1 || len(res.Truncated) != 0 {
				t.Errorf("%s, %s: %s, %d images, stderr %s", tt.code, name, summary(res), pngs(res), res.Stderr())
			}
		}
		if res := n.run("print('next')", nil); pngs(res) != 0 || res.Stdout() != "next\n" {
			t.Errorf("after %s: %s, %d images", tt.code, summary(res), pngs(res))
		}
	}
	if res := run(t, ci, "python", "import threading\n"+plot+"threading.Thread(target=lambda: (time.sleep(.1), plt.plot([1]))).start()\nplt.close()", nil); !res.OK() || pngs(res) != 1 {
		t.Errorf("of a thread: %s, %d images", summary(res), pngs(res))
	}
}

// TestFiguresOfStopped: what is stopped shows its figures while there is time,
// and says so where there is none.
func TestFiguresOfStopped(t *testing.T) {
	t.Parallel()
	// The second interrupt comes while one is drawn.
	const drawn = `
class Slow(plt.Figure):
    def savefig(self, *a, **k): signal.raise_signal(signal.SIGINT); time.sleep(300)
_ = plt.figure(FigureClass=Slow)
`
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Warm: plotting, Grace: 4 * time.Minute}), "python")
	for _, code := range []string{"", drawn} {
		res := n.run(plot+"import signal\n"+code+"print('drawn', flush=True)\ntime.sleep(300)", &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			if o.Kind == codeinterp.Stdout {
				return n.ci.InterruptContext(t.Context(), n.id)
			}
			return nil
		}})
		warned := strings.Contains(res.Stderr(), "1 open figures were dropped")
		if res.Cause != codeinterp.CauseInterrupt || res.StateLost || pngs(res) != 1 || warned != (code != "") {
			t.Errorf("%s: %s, %d images, stderr %s", code, summary(res), pngs(res), res.Stderr())
		}
		if res := n.run("print('next')", nil); pngs(res) != 0 || res.Stdout() != "next\n" {
			t.Errorf("after that: %s, %d images", summary(res), pngs(res))
		}
	}
}
