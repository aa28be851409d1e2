//go:build unix

package subprocess_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// humanEval returns the benchmark's programs, if they are beside the
// repository: each with its own solution, and with one that returns nothing.
func humanEval(t *testing.T) []string {
	t.Helper()
	for _, path := range []string{"../../../shared/data/HumanEval.jsonl", "../../../../shared/data/HumanEval.jsonl"} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		var list []string
		for dec := json.NewDecoder(f); dec.More(); {
			var p struct {
				Prompt, Test string
				Solution     string `json:"canonical_solution"`
				Entry        string `json:"entry_point"`
			}
			if err := dec.Decode(&p); err != nil {
				t.Fatal(err)
			}
			for _, body := range []string{p.Solution, "    return None\n"} {
				list = append(list, p.Prompt+body+"\n"+p.Test+"\ncheck("+p.Entry+")\n")
			}
		}
		return list
	}
	t.Skip("no HumanEval.jsonl beside the repository")
	return nil
}

// TestHumanEval wants all programs to end in the same way in a process of
// their own, forked from a warm one, and one after the other in one context.
func TestHumanEval(t *testing.T) {
	programs := humanEval(t)
	languages := []subprocess.Language{subprocess.Python()}
	cold := open(t, subprocess.Options{Languages: languages})
	warm := open(t, subprocess.Options{Languages: languages, Warm: &subprocess.Warm{}})
	n := newNotebook(t, cold, "python")
	passed := 0
	for k, code := range programs {
		o := &codeinterp.RunOptions{Timeout: time.Minute}
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
