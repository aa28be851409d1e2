//go:build full

package python_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/packtest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

// scientific is one engine for all tests: to load the science pack takes a second.
var scientific = sync.OnceValues(func() (*python.Engine, error) {
	return python.New(context.Background(), &python.Options{Pack: os.DirFS(scienceDir), Cache: filepath.Join(scienceDir, "native"), Ready: 2})
})

var scienceDir string

func newScientific(t testing.TB) *inmemory.Stateful {
	t.Helper()
	scienceDir = packtest.Science(t)
	e, err := scientific()
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{e}, MaxMemory: 3 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	return ci
}

// numbers are programs that show numbers, and what they print with the same packages under
// native CPython, each behind a line with its name.
//
//go:embed testdata/numbers.txt
var numbers string

// otherText are programs that print something else than native ones, and why. Values are
// the same.
var otherText = map[string]string{
	"p19": "indices show int32", "p20": "indices show int32", "p36": "indices show int32", "p42": "indices show int32", "p52": "indices show int32",
	"n13": "indices show int32", "n36": "indices show int32", "d15": "indices show int32", "d23": "indices show int32", "d41": "indices show int32",
	"d45": "indices show int32", "p26": "words of an error", "s25": "words of an error",
	"p27": "what can be cast to indices, and words of an error", "p37": "sizes of pointers", "p49": "the last digit",
}

// failing are programs that print what native ones do until they fail, and where.
var failing = map[string]string{
	"n25": "numpy.fromfile and numpy.memmap", "s18": "scipy reads a sound by numpy.fromfile", "n44": "a pickle of indices is one of int32",
	"d32": "a column of indices does not take more than 32 bits", "d49": "indices in a Series times more than 32 bits",
}

// TestScienceNumbers: programs print what they print under native CPython.
func TestScienceNumbers(t *testing.T) {
	ci := newScientific(t)
	parts := regexp.MustCompile(`(?m)^-- (\w+)\.(py|out) --\n`).Split(numbers, -1)
	names := regexp.MustCompile(`(?m)^-- (\w+)\.py --\n`).FindAllStringSubmatch(numbers, -1)
	same := 0
	for i, name := range names {
		code, want := parts[1+2*i], parts[2+2*i]
		id := newContext(t, ci)
		res, err := ci.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		_, known := otherText[name[1]]
		_, fails := failing[name[1]]
		switch got := res.Stdout(); {
		case fails && res.Error != nil && got != want && strings.HasPrefix(want, got):
		case got == want && (known || fails):
			t.Errorf("%s prints what native ones do", name[1])
		case got == want:
			same++
		case !known:
			t.Errorf("%s: %s, %v: got\n%s\nwant\n%s", name[1], res.Status, res.Error, got, want)
		}
		if err := ci.DeleteContext(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of %d programs print what they print natively", same, len(names))
}

// TestScienceIndices: arithmetic on indices has 64 bits, or warns.
func TestScienceIndices(t *testing.T) {
	ci := newScientific(t)
	got := stdout(t, ci, newContext(t, ci), `
import numpy as np, warnings
i = np.where(np.ones(70000, bool))[0]
for f in (lambda: i * i, lambda: i ** 2, lambda: i << 16, lambda: i @ i, lambda: i[-1] * i[-1], lambda: i[-1] << 20,
        lambda: np.dot(i, i), lambda: np.einsum('i,i->', i, i), lambda: np.convolve(i, i), lambda: i.dot(i), lambda: i.__imul__(70000)):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        r = int(np.ravel(f())[-1])
    print(r if not w else w[0].message)
`)
	want := "4899860001\n4899860001\n4587454464\n114330883345000\n4899860001\n73399271424\n114330883345000\n114330883345000\n" +
		"4899860001\noverflow encountered in dot\noverflow encountered in multiply\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestScienceDisplays: figures and tables are shown as under the subprocess provider.
func TestScienceDisplays(t *testing.T) {
	ci := newScientific(t)
	res, err := ci.RunInContext(t.Context(), newContext(t, ci), `
import matplotlib.pyplot as plt, pandas as pd
df = pd.DataFrame({'x': [1, 2, 3], 'y': [2.5, 4, 8]})
df.plot(x='x', y='y', title='$y^2$')
df`, nil)
	if err != nil || res.Status != codeinterp.StatusOK {
		t.Fatalf("%v %v %s", err, res.Error, res.Stderr())
	}
	var shown []string
	for _, o := range res.Outputs {
		for _, m := range o.Bundle {
			shown = append(shown, fmt.Sprint(o.Kind, " ", m.MIME, " ", len(m.Data) > 0))
		}
	}
	for _, want := range []string{"result text/html true", "result text/plain true", "display image/png true"} {
		if !strings.Contains(strings.Join(shown, "\n"), want) {
			t.Errorf("no %s in %q", want, shown)
		}
	}
}

// TestScienceEnds: a program of numpy that goes on is interrupted and keeps its state.
func TestScienceEnds(t *testing.T) {
	ci := newScientific(t)
	id := newContext(t, ci)
	stdout(t, ci, id, "import numpy as np\na = np.random.rand(50, 50)")
	start := time.Now()
	res, err := ci.RunInContext(t.Context(), id, "while True: a @ a", &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	if err != nil || res.Status != codeinterp.StatusTimeout || res.StateLost {
		t.Errorf("%v, %+v after %v", err, res, time.Since(start))
	}
	if got := stdout(t, ci, id, "print(a.shape)"); got != "(50, 50)\n" {
		t.Errorf("got %q", got)
	}
}

// TestScienceForks: a copy has the tables of the first, and other random numbers.
func TestScienceForks(t *testing.T) {
	ci := newScientific(t)
	id := newContext(t, ci)
	stdout(t, ci, id, "import numpy as np, pandas as pd\ndf = pd.DataFrame({'v': np.arange(1000)})")
	forks, ok := codeinterp.Forks(ci)
	if !ok {
		t.Fatal("no forks")
	}
	copied, err := forks.ForkContext(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	stdout(t, ci, copied, "df['v'] = 0")
	seen := map[string]bool{}
	for _, c := range []codeinterp.ContextID{id, copied, newContext(t, ci)} {
		seen[stdout(t, ci, c, "print(__import__('numpy').random.rand())")] = true
	}
	if got := stdout(t, ci, id, "print(df.v.sum())"); got != "499500\n" || len(seen) != 3 {
		t.Errorf("got %q, %d random numbers", got, len(seen))
	}
}
