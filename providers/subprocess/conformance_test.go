//go:build unix

package subprocess_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// modes are the ways of isolation to test; each is skipped where the machine
// does not have it, unless CI is set.
var modes = []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap, subprocess.None}

// How long a case may take, and a stop, where much else runs on the machine.
const busyTimeout, busyPatience = 2 * time.Minute, 10 * time.Second

// eachMode runs a test in each mode that the machine has.
func eachMode(t *testing.T, f func(t *testing.T, o subprocess.Options)) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) { f(t, inMode(t, mode)) })
	}
}

// inMode returns the options of a mode, which the machine has.
func inMode(t *testing.T, mode subprocess.Mode) subprocess.Options {
	t.Helper()
	o := subprocess.Options{Require: mode, AllowNone: mode == subprocess.None}
	ci, err := subprocess.New(&o)
	if err != nil {
		missing(t, err)
	}
	if err := ci.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// missing skips a test for want of a part of the machine, and fails in CI.
func missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" || !errors.Is(err, codeinterp.ErrIsolation) && !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Fatal(err)
	}
	t.Skip(err)
}

// oneStream says in which languages what an earlier run left behind writes to the
// very pipe of the next.
var oneStream = []conformance.Feature{conformance.LateApart.In("bash"), conformance.LateApart.In("javascript"), conformance.LateApart.In("typescript")}

// full has every mode tried with every language, and as much of each as the first.
func full() bool { return race.Full() }

// Landlock mode has every language, in contexts with all clauses, of which TypeScript,
// which runs as JavaScript does, tries a quarter. With a process for each program the
// four languages divide the clauses. The other modes try an eighth each so, and a
// quarter in contexts, as processes that are warm do. make race tries all, and with
// -short the languages divide the clauses in contexts too, and bwrap alone of the other
// modes tries some.
func TestConformanceLandlock(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	for i, language := range untyped {
		t.Run(language, func(t *testing.T) {
			conformHere(t, subprocess.Landlock, conformance.Config{Languages: []string{language}, Share: share(i, 4)})
		})
	}
}

func TestConformanceTypeScript(t *testing.T) {
	race.Long(t, "the other languages try clauses")
	conform(t, subprocess.Landlock, conformance.Config{Languages: typed, Share: share(3, 4)})
}

func TestConformanceBwrap(t *testing.T) {
	race.Long(t, "the other modes try clauses")
	conform(t, subprocess.Bwrap, conformance.Config{Share: share(0, 8), Brief: !full()})
}

func TestConformanceNone(t *testing.T) {
	race.Long(t, "the other modes try clauses")
	conform(t, subprocess.None, conformance.Config{Share: share(4, 8), Brief: !full()})
}

var untyped, typed = []string{"bash", "javascript", "python"}, []string{"typescript"}

// languagesOf returns the languages that are tried: others would be looked for and
// started with each interpreter of the suite. None stands for all.
func languagesOf(names []string) []subprocess.Language {
	var list []subprocess.Language
	for _, l := range []subprocess.Language{subprocess.Bash(), subprocess.JavaScript(), subprocess.Python(), subprocess.TypeScript()} {
		if slices.Contains(names, l.Name) {
			list = append(list, l)
		}
	}
	return list
}

func share(number, of int) conformance.Share {
	if full() {
		return conformance.Share{}
	}
	return conformance.Share{Number: number, Of: of * race.Short(1, 2)}
}

func conform(t *testing.T, mode subprocess.Mode, cfg conformance.Config) {
	if !aparttest.Run(t) {
		conformHere(t, mode, cfg)
	}
}

func conformHere(t *testing.T, mode subprocess.Mode, cfg conformance.Config) {
	o := inMode(t, mode)
	cfg.Timeout, cfg.Patience = busyTimeout, busyPatience
	cfg.Thrifty = !full()
	o.Languages = languagesOf(cfg.Languages)
	if cfg.Lacks = oneStream; cfg.Stateful {
		cfg.New = func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) }
	} else {
		cfg.New = func() (codeinterp.CodeInterpreter, error) { return subprocess.New(&o) }
		cfg.Lacks = []conformance.Feature{conformance.Manager}
	}
	conformance.Run(t, cfg)
}

// TestWarmConformance is the same with processes that are forked or come from
// a pool, and with a newer node.
func TestWarmConformance(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	o := subprocess.Options{
		Require:   subprocess.Landlock,
		Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript(), newerNode(t)},
		Warm:      &subprocess.Warm{},
	}
	open(t, o)
	conformance.Run(t, conformance.Config{
		Timeout: busyTimeout, Patience: busyPatience,
		New:      func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) },
		Stateful: true,
		Thrifty:  true,
		Lacks:    oneStream,
		Brief:    !full(),
		Share:    share(0, 4),
	})
}

// The same with contexts. RunCode is that of New, so that what holds for both is
// tried with contexts only.
func TestStatefulConformanceLandlock(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	cfg := conformance.Config{Stateful: true, Languages: untyped}
	if !testing.Short() {
		conformHere(t, subprocess.Landlock, cfg)
		return
	}
	for i, language := range untyped {
		t.Run(language, func(t *testing.T) {
			cfg.Languages, cfg.Share = []string{language}, conformance.Share{Number: i, Of: len(untyped)}
			conformHere(t, subprocess.Landlock, cfg)
		})
	}
}

func TestStatefulConformanceTypeScript(t *testing.T) {
	race.Long(t, "the other languages try clauses")
	conform(t, subprocess.Landlock, conformance.Config{Stateful: true, Languages: typed, Share: share(2, 4)})
}

func TestStatefulConformanceBwrap(t *testing.T) {
	conform(t, subprocess.Bwrap, conformance.Config{Stateful: true, Share: share(1, 4), Brief: !full()})
}

func TestStatefulConformanceNone(t *testing.T) {
	race.Long(t, "the other modes try clauses")
	conform(t, subprocess.None, conformance.Config{Stateful: true, Share: share(3, 4), Brief: !full()})
}
