//go:build real && full && unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/humanevaltest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestHumanEval wants all programs to end in the same way in a process of
// their own, forked from a warm one, and one after the other in one context.
func TestHumanEval(t *testing.T) {
	for _, name := range humanevaltest.Benchmarks {
		t.Run(name, func(t *testing.T) { testVerdicts(t, humanevaltest.Programs(t, name)) })
	}
}

func testVerdicts(t *testing.T, programs []string) {
	languages := []subprocess.Language{subprocess.Python()}
	cold := open(t, subprocess.Options{Languages: languages})
	warm := open(t, subprocess.Options{Languages: languages, Warm: &subprocess.Warm{}})
	n := newNotebook(t, cold, "python")
	passed := 0
	for k, code := range programs {
		o := &codeinterp.RunOptions{Timeout: 10 * time.Minute}
		verdict := verdictOf(run(t, cold, "python", code, o))
		if verdict == "ok" {
			passed++
		}
		if k%2 == 0 && verdict != "ok" {
			t.Errorf("program %d: %s", k/2, verdict)
		}
		if got := verdictOf(run(t, warm, "python", code, o)); got != verdict {
			t.Errorf("program %d: %s warm, %s cold", k/2, got, verdict)
		}
		if got := verdictOf(n.run(code, o)); got != verdict {
			t.Errorf("program %d: %s in a context, %s alone", k/2, got, verdict)
		}
	}
	t.Logf("%d of %d programs pass", passed, len(programs))
}

func verdictOf(res codeinterp.Result) string {
	if res.Error != nil {
		return res.Error.Name
	}
	return string(res.Status)
}
