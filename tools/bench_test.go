package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// A bare interpreter answers at once, so that what is measured is what stands
// around it.
type bare struct{ res codeinterp.Result }

func (b *bare) Languages() []string { return []string{"javascript", "python"} }
func (b *bare) Close() error        { return nil }

func (b *bare) RunCode(_ context.Context, _, _ string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if opts.OnOutput != nil {
		for _, o := range b.res.Outputs {
			if err := opts.OnOutput(o); err != nil {
				return b.res, err
			}
		}
	}
	return b.res, nil
}

func smallResult() codeinterp.Result {
	return codeinterp.Result{
		Status: codeinterp.StatusOK, Duration: 3 * time.Millisecond, ExecutionCount: 7,
		Outputs: []codeinterp.Output{
			out("the mean is 3.5\n"), errOut("warning: few values\n"),
			{Kind: codeinterp.Value, Value: json.RawMessage("42"), Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("42")}}},
		},
	}
}

var smallArgs = []byte(`{"language":"python","code":"import statistics\nprint('the mean is', statistics.mean([1, 6]))\n42","timeoutMs":5000}`)

// BenchmarkDispatch is a call from the model's JSON to the answer's text and
// JSON, with events and an id. Target over the bare call: 30 µs and 100
// allocations.
func BenchmarkDispatch(b *testing.B) {
	ci := &bare{smallResult()}
	events := 0
	set := watched{newSet(b, ci, nil), func(observe.Event) error { events++; return nil }}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ci.RunCode(b.Context(), "python", "x", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { return nil }}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := set.Dispatch(b.Context(), runCode, smallArgs, nil); r.Failure != nil {
				b.Fatal(r.Text)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := set.Dispatch(b.Context(), runCode, smallArgs, nil); len(r.JSON()) == 0 {
				b.Fatal(r.Text)
			}
		}
	})
	b.Run("id", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if r := set.Dispatch(b.Context(), runCode, smallArgs, &tools.DispatchOptions{ID: fmt.Sprint(i)}); r.Failure != nil {
				b.Fatal(r.Text)
			}
		}
	})
	scrubbing := watched{newSet(b, ci, &tools.Options{Secrets: secrets(b, "hunter22", "a-much-longer-secret-value-of-some-service")}), func(observe.Event) error { return nil }}
	b.Run("secrets", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := scrubbing.Dispatch(b.Context(), runCode, smallArgs, nil); r.Failure != nil {
				b.Fatal(r.Text)
			}
		}
	})
}

// large are 10 MB of output of different kinds.
func large() map[string]string {
	return map[string]string{
		"ascii":    strings.Repeat("the quick brown fox jumps over the lazy dog, again and again and again, 01234\n", 10<<20/78),
		"unicode":  strings.Repeat("日本語のテキストは一文字が三バイトになります。\n", 10<<20/70),
		"ansi":     strings.Repeat("\x1b[32mINFO\x1b[0m something happened at 12:34:56 and went on as it was to be expected\n", 10<<20/88),
		"progress": strings.Repeat(strings.Repeat("downloading 42% |####      |\r", 50)+"\n", 10<<20/1451),
		"one line": strings.Repeat("x", 10<<20),
	}
}

// TestCost keeps the costs within their targets, with room for a machine that
// does other things.
func TestCost(t *testing.T) {
	ci := &bare{smallResult()}
	set := watched{newSet(t, ci, nil), func(observe.Event) error { return nil }}
	n := testing.AllocsPerRun(200, func() {
		if r := set.Dispatch(t.Context(), runCode, smallArgs, nil); len(r.JSON()) == 0 {
			t.Fatal(r.Text)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations for a small call", n)
	}
	scrubbed := map[string]*secret.Scrubber{"ansi": secrets(t, "hunter22", "a-much-longer-secret-value-of-some-service")}
	for name, text := range large() {
		for _, s := range slices.Compact([]*secret.Scrubber{nil, scrubbed[name]}) {
			set := newSet(t, &bare{ok(out(text))}, &tools.Options{Secrets: s})
			set.Dispatch(t.Context(), runCode, smallArgs, nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			set.Dispatch(t.Context(), runCode, smallArgs, nil)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 3*tools.DefaultMaxText {
				t.Errorf("%s, secrets %t: rendering takes %d bytes", name, s != nil, n)
			}
		}
	}
}
