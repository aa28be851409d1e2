package conformance

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func TestWithinReportsGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := within(time.Second, "Close", func() error { time.Sleep(time.Hour); return nil })
		if err == nil || !strings.Contains(err.Error(), "Close did not return within 1s") || !strings.Contains(err.Error(), "TestWithinReportsGoroutines") {
			t.Errorf("within = %v, want the stacks", err)
		}
		time.Sleep(2 * time.Hour)
	})
}

// A report stays readable where cases hang: one line each, and the goroutines
// once.
func TestReportOfHangs(t *testing.T) {
	h := &hang{what: "Hammer", limit: time.Second, stacks: "1 @ main"}
	got := (&Report{Tried: 2, Failures: []Failure{
		{Group: "interpreter", Check: "Hammer", Clause: "all of it", Err: h},
		{Check: "Close", Clause: "Close returns", Err: &hang{what: "Close", limit: time.Minute, stacks: "2 @ main"}},
	}}).Error()
	const want = `conformance: 2 of 2 checks failed (0 do not apply)

interpreter/Hammer: Hammer did not return within 1s
  contract: all of it

Close: Close did not return within 1m0s
  contract: Close returns

The goroutines when Hammer did not return:
1 @ main`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestWithinReportsPanics(t *testing.T) {
	err := within(time.Minute, "a case", func() error { panic("oops") })
	if err == nil || !strings.Contains(err.Error(), "oops") || !strings.Contains(err.Error(), "suite_test.go") {
		t.Errorf("within = %v, want the panic and where", err)
	}
}

func TestLacks(t *testing.T) {
	cfg := Config{Lacks: []Feature{Stdin, Values.In("bash")}}
	for _, tt := range []struct {
		feature  Feature
		language string
		want     bool
	}{
		{Stdin, "python", true},
		{Stdin, "", true},
		{Values, "bash", true},
		{Values, "python", false},
		{Values, "", false},
		{Env, "bash", false},
	} {
		if got := cfg.lacks(tt.feature, tt.language); got != tt.want {
			t.Errorf("lacks(%s, %q) = %v", tt.feature, tt.language, got)
		}
	}
}

// TestFeatures wants each feature to be proved by one check, which is what
// tells a declared lack that is none.
func TestFeatures(t *testing.T) {
	proved := map[Feature]int{}
	for _, c := range checks() {
		if c.proves != "" {
			proved[c.proves]++
		}
	}
	for _, c := range checks() {
		for _, f := range c.needs {
			if proved[f] != 1 {
				t.Errorf("%s needs %s, which %d checks prove, want 1", c.name, f, proved[f])
			}
		}
	}
}

func TestConfigFaults(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no interpreter": {New: func() (codeinterp.CodeInterpreter, error) { return nil, nil }},
		"an error":       {New: func() (codeinterp.CodeInterpreter, error) { return nil, errors.New("oops") }},
		"no programs":    {New: newToyStateless},
		"programs without Pause": {New: newToyStateless, Programs: map[string]Programs{
			"toy": {Print: toyPrograms().Print, PrintErr: toyPrograms().PrintErr}}},
		"no programs for these": {New: newToyStateless, Languages: []string{"toy"}},
	} {
		t.Run(name, func(t *testing.T) {
			report, ok := errors.AsType[*Report](Check(context.Background(), cfg))
			if !ok || len(report.Failures) != 1 || report.Failures[0].Check != "New" {
				t.Errorf("Check = %v, want one failure of New", report)
			}
		})
	}
}

func TestCheckReportsTheClause(t *testing.T) {
	slow(t)
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(func() (codeinterp.CodeInterpreter, error) {
			ci, err := newToyStateful()
			return results(func(c codeinterp.Call, res *codeinterp.Result) { res.Truncated = nil })(ci), err
		}, true)
		err := Check(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), "toy/RunCode/LimitHeadAndTail: got Truncated []") || !strings.Contains(err.Error(), "contract: of output beyond MaxOutput") {
			t.Errorf("Check = %v", err)
		}
	})
}

// TestFewPrograms leaves out programs that several clauses share: the clauses that need it do not
// concern the language then, and no other stumbles.
func TestFewPrograms(t *testing.T) {
	slow(t)
	few := toyPrograms()
	few = Programs{Print: few.Print, PrintErr: few.PrintErr, Pause: few.Pause}
	list := map[string]Programs{"all but three": few}
	for _, name := range []string{"Comment", "Exit", "Fail", "FailName", "SyntaxError", "Set", "Get", "Has", "WriteFile", "ReadFile"} {
		p := toyPrograms()
		reflect.ValueOf(&p).Elem().FieldByName(name).SetZero()
		list[name] = p
	}
	for name, p := range list {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := toyConfig(newToyStateful, true)
				cfg.Programs["toy"] = p
				s, err := newSuite(cfg)
				if err != nil {
					t.Fatal(err)
				}
				s.announce = io.Discard
				s.all = slices.DeleteFunc(s.all, func(c check) bool { return slices.Contains(heavy, c.name) })
				if err := s.check(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestCheckEnds ends the check's ctx: it comes back, and says what failed.
func TestCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Check(ctx, toyConfig(newToyStateful, true)); err == nil {
		t.Error("Check with a ctx that is done = nil")
	}
}

func BenchmarkToy(b *testing.B) { RunBenchmarks(b, toyConfig(newToyStateful, true)) }
