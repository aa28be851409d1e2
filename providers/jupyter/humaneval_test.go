//go:build linux

package jupyter_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// humanEval reads the benchmark's programs, if they are beside the repository:
// each with its own solution, and with one that returns nothing.
func humanEval(t *testing.T) []string {
	t.Helper()
	root := filepath.Dir(filepath.Dir(testenv()))
	var f *os.File
	for _, dir := range []string{"..", "../.."} {
		if f, _ = os.Open(filepath.Join(root, dir, "shared", "data", "HumanEval.jsonl")); f != nil {
			break
		}
	}
	if f == nil {
		t.Skip("no HumanEval.jsonl beside the repository")
	}
	defer f.Close()
	var list []string
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
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

// plainVerdicts runs the programs with plain Python, each in a namespace of
// its own.
func plainVerdicts(t *testing.T, programs []string) []string {
	t.Helper()
	in, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", `
import io, json, sys
verdicts, out = [], sys.stdout
for source in json.load(sys.stdin):
    sys.stdout = io.StringIO()
    try:
        exec(compile(source, "program", "exec"), {"__name__": "__main__"})
        verdicts.append("ok")
    except BaseException as e:
        verdicts.append(type(e).__name__)
json.dump(verdicts, out)`)
	cmd.Stdin = bytes.NewReader(in)
	data, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	if err := json.Unmarshal(data, &verdicts); err != nil {
		t.Fatal(err)
	}
	return verdicts
}

// TestHumanEval wants all programs, run in one context, to end as they do in
// plain Python.
func TestHumanEval(t *testing.T) {
	t.Parallel()
	programs := humanEval(t)
	want := plainVerdicts(t, programs)
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{})
	counts := map[string]int{}
	for i, code := range programs {
		res, err := c.run(code, &codeinterp.RunOptions{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		got := string(res.Status)
		if res.Error != nil {
			got = res.Error.Name
		}
		counts[got]++
		if got != want[i] {
			t.Errorf("program %d: %s, want %s", i, got, want[i])
		}
	}
	t.Logf("%d programs: %v", len(programs), counts)
}
