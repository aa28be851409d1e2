// Package humanevaltest gives tests the programs of the HumanEval and MBPP benchmarks.
// Their data is not part of this repository: where no shared/data/HumanEval.jsonl or
// MBPP.jsonl stands beside the repository, or above it, the tests that want it skip, in
// CI too.
package humanevaltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Benchmarks are the names for Programs.
var Benchmarks = []string{"HumanEval", "MBPP"}

// uncover removes what an earlier program of a context has put before builtins: many
// programs call a function or a variable sum, or list.
const uncover = `import builtins
for name in builtins.dir(builtins):
    name[0] == '_' or builtins.globals().pop(name, None)
`

// Programs returns two Python programs for each problem of a benchmark: with its own
// solution, which passes, and one that fails.
func Programs(t testing.TB, benchmark string) []string {
	t.Helper()
	f := open(t, benchmark+".jsonl")
	defer f.Close()
	var list []string
	for dec := json.NewDecoder(f); dec.More(); {
		var p struct {
			Prompt, Test string // HumanEval's
			Solution     string `json:"canonical_solution"`
			Entry        string `json:"entry_point"`

			Code  string   // MBPP's
			Setup string   `json:"test_setup_code"`
			Tests []string `json:"test_list"`
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if tests := strings.Join(p.Tests, "\n"); tests != "" {
			code := uncover + p.Code + "\n" + p.Setup + "\n"
			list = append(list, code+tests+"\n", code+strings.ReplaceAll(tests, "==", "!=")+"\n")
			continue
		}
		for _, body := range []string{p.Solution, "    return None\n"} {
			list = append(list, p.Prompt+body+"\n"+p.Test+"\ncheck("+p.Entry+")\n")
		}
	}
	return list
}

func open(t testing.TB, name string) *os.File {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if f, err := os.Open(filepath.Join(dir, "shared", "data", name)); err == nil {
			return f
		}
	}
	t.Skipf("no shared/data/%s beside the repository", name)
	return nil
}
