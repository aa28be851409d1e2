package inmemory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/typescripttest"
)

// TestTypeScriptHostile runs what is made to end or occupy a translator, in
// processes of their own. However it ends, it does so with the run's timeout,
// and the provider lives on. The bound on how late is for busy machines.
func TestTypeScriptHostile(t *testing.T) {
	typescripttest.Run(t, 4, 5*time.Minute, func(t *testing.T) func(*testing.T, string) {
		s := open(t, both())
		return func(t *testing.T, source string) {
			began := time.Now()
			res, err := s.RunCode(t.Context(), "typescript", source, &codeinterp.RunOptions{Timeout: 500 * time.Millisecond})
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if err != nil {
				t.Error(err)
			}
			if res.Status == codeinterp.StatusNotRun || res.Status == codeinterp.StatusLost {
				t.Errorf("status %v: %v", res.Status, res.Error)
			}
			if n := s.Abandoned(); n > 0 {
				t.Errorf("%d engines could not be stopped", n)
			}
			if res := run(t, s, create(t, s, "typescript"), "1 as number + 1", nil); res.Text() != "2" {
				t.Errorf("afterwards 1+1 is %q", res.Text())
			}
		}
	})
}

// TestTypeScriptCounts has a translation that takes longer than the run may.
func TestTypeScriptCounts(t *testing.T) {
	s := open(t, both())
	id := create(t, s, "typescript")
	run(t, s, id, "let kept: number = 1", nil)
	source := strings.Repeat("let a1: number = 1; a1++;\n", 8<<20/26)
	res := run(t, s, id, source, &codeinterp.RunOptions{Timeout: time.Millisecond})
	if res.Status != codeinterp.StatusTimeout || res.StateLost {
		t.Errorf("got %v, lost %v: %v", res.Status, res.StateLost, res.Error)
	}
	if res := run(t, s, id, "kept", nil); res.Text() != "1" {
		t.Errorf("afterwards kept is %q", res.Text())
	}
}

// TestTypeScriptMemory has none left for a translation.
func TestTypeScriptMemory(t *testing.T) {
	opts := both()
	opts.MaxMemory = 140 << 20
	s := open(t, opts)
	res := run(t, s, create(t, s, "typescript"), "let a: number = 1;"+strings.Repeat(" ", 6<<20), nil)
	if res.Cause != codeinterp.CauseMemory || res.Status != codeinterp.StatusError {
		t.Errorf("got %v %v: %v", res.Status, res.Cause, res.Error)
	}
}

// TestTypeScriptPrograms runs what behaves the same in every provider.
func TestTypeScriptPrograms(t *testing.T) {
	s := open(t, both())
	for _, p := range typescripttest.Programs {
		res := run(t, s, create(t, s, "typescript"), p.Code, nil)
		failure, value := "", ""
		if res.Error != nil {
			failure = res.Error.Error()
		}
		for _, o := range res.Outputs {
			value += string(o.Value)
		}
		p.Check(t, res.Text(), value, failure)
	}
}

// BenchmarkTypeScript runs a program in a context, and for comparison the same
// in JavaScript.
func BenchmarkTypeScript(b *testing.B) {
	s := open(b, both())
	for _, bb := range []struct{ name, language, code string }{
		{"1+1/javascript", "javascript", "1+1"}, {"1+1/typescript", "typescript", "1+1"},
		{"types/javascript", "javascript", "[1, 2].map((x) => x + 1)[0]"},
		{"types/typescript", "typescript", "[1, 2].map((x: number): number => x + 1)[0] as number"},
		{"enum/typescript", "typescript", "enum E { A, B } E.B"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			id := create(b, s, bb.language)
			b.ReportAllocs()
			for b.Loop() {
				if res, err := s.RunInContext(b.Context(), id, bb.code, nil); err != nil || !res.OK() {
					b.Fatal(res.Error, err)
				}
			}
		})
	}
}
