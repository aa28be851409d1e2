//go:build real && unix

package subprocess_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

func TestMain(m *testing.M) {
	subprocess.RunKeeper()
	if killedHost != nil {
		fmt.Fprintln(os.Stderr, killedHost())
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "probes-")
	if err != nil {
		panic(err)
	}
	probes = filepath.Join(dir, "probes")
	code := leftover.Run(m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// killedHost is set in a process that is a host which is to be killed.
var killedHost func() error

// probes remembers what interpreters are, so that not every test asks them.
var probes string

// open returns an interpreter with contexts, in Landlock mode unless o says otherwise,
// and closes it after the test.
func open(t testing.TB, o subprocess.Options) *subprocess.Stateful {
	t.Helper()
	if o.Sandbox.Mode == subprocess.Auto {
		o.Sandbox.Mode = subprocess.Landlock
	}
	if o.ProbeCache == "" {
		o.ProbeCache = probes
	}
	ci, err := subprocess.NewStateful(&o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
	})
	return ci
}

// python returns the language with the numeric libraries of .testenv.
func python(t testing.TB) subprocess.Language {
	t.Helper()
	path, err := filepath.Abs("../../.testenv/python/bin/python")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal("no .testenv/python; run make testenv: ", err)
	}
	l := subprocess.Python()
	l.Commands = []string{path}
	return l
}

// run runs code in a fresh process and wants no Go error.
func run(t testing.TB, ci codeinterp.CodeInterpreter, language, code string, o *codeinterp.RunOptions) codeinterp.Result {
	t.Helper()
	if o == nil {
		o = &codeinterp.RunOptions{Timeout: time.Minute}
	}
	res, err := ci.RunCode(t.Context(), language, code, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A notebook is a context under test.
type notebook struct {
	t  testing.TB
	ci *subprocess.Stateful
	id codeinterp.ContextID
}

func newNotebook(t testing.TB, ci *subprocess.Stateful, language string) *notebook {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), language, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &notebook{t, ci, id}
}

func (n *notebook) run(code string, o *codeinterp.RunOptions) codeinterp.Result {
	n.t.Helper()
	if o == nil {
		o = &codeinterp.RunOptions{Timeout: time.Minute}
	}
	res, err := n.ci.RunInContext(n.t.Context(), n.id, code, o)
	if err != nil {
		n.t.Fatal(err)
	}
	return res
}

// summary says what a Result is, for comparison.
func summary(res codeinterp.Result) string {
	s := string(res.Status)
	if out := res.Stdout(); out != "" {
		s += " out=" + out
	}
	if text := res.Text(); text != "" {
		s += " value=" + text
	}
	if res.Error != nil {
		s += " error=" + res.Error.Error()
	}
	if res.StateLost {
		s += " lost"
	}
	return s
}
