//go:build full

package python_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/humanevaltest"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// TestHumanEval: the benchmarks' programs have the verdicts that they have under native
// CPython, alone and one after the other in one context.
func TestHumanEval(t *testing.T) {
	for _, name := range humanevaltest.Benchmarks {
		t.Run(name, func(t *testing.T) { testVerdicts(t, humanevaltest.Programs(t, name)) })
	}
}

func testVerdicts(t *testing.T, programs []string) {
	ci := newStateful(t)
	alone, err := inmemory.New(options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	id := newContext(t, ci)
	o := &codeinterp.RunOptions{Timeout: 10 * time.Minute}
	for i, code := range programs {
		want := codeinterp.StatusOK
		if i%2 == 1 {
			want = codeinterp.StatusError
		}
		one, err := alone.RunCode(t.Context(), "python", code, o)
		if err != nil {
			t.Fatal(err)
		}
		two, err := ci.RunInContext(t.Context(), id, code, o)
		if err != nil {
			t.Fatal(err)
		}
		if one.Status != want || two.Status != want || two.StateLost {
			t.Errorf("program %d: %s and %s, want %s: %.200s", i, one.Status, two.Status, want, strings.TrimSpace(one.Stderr()))
		}
	}
}
