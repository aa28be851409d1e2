//go:build real

package pyvalue_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/pyvalue"
)

func TestToJSON(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ value, want string }{
		{"None", "null"}, {"True", "true"}, {"0", "0"}, {"-7", "-7"}, {"2**70", "1180591620717411303424"},
		{"10**4200", "1" + strings.Repeat("0", 4200)}, {"10**4250", ""},
		{"1.5", "1.5"}, {"-0.0", "-0.0"}, {"1e300", "1e+300"}, {"float('nan')", ""}, {"float('-inf')", ""},
		{"'hi'", `"hi"`}, {"''", `""`}, {`'a"\n\\\x00\u00e9'`, `"a\"\n\\\u0000é"`}, {`'\ud800'`, ""},
		{"[]", "[]"}, {"()", "[]"}, {"{}", "{}"}, {"(1, [2, None])", "[1,[2,null]]"}, {"{'a': {'b': (1,)}}", `{"a":{"b":[1]}}`},
		{"{1: 2}", ""}, {"{None: 2}", ""}, {"{1, 2}", ""}, {"b'x'", ""}, {"1j", ""}, {"object()", ""}, {"[lambda: 0]", ""},
		{"type('I', (int,), {})(3)", ""}, {"type('D', (dict,), {})()", ""},
		{"nest(100)", strings.Repeat("[", 100) + strings.Repeat("]", 100)}, {"nest(101)", ""}, {"cycle", ""},
		{"'x' * (2**20 - 2)", `"` + strings.Repeat("x", 1<<20-2) + `"`}, {"'x' * (2**20 - 1)", ""}, {"'\\u00e9' * 2**19", ""},
		{"['x'] * 2**19", ""}, {"endless", ""},
	}
	program := pyvalue.Source + `
import json, sys
def nest(n):
    v = []
    for _ in range(n - 1): v = [v]
    return v
cycle = []
cycle.append(cycle)
endless = [0] * 1000
for _ in range(20): endless = [endless] * 1000  # 10**63 elements
print(json.dumps([to_json(eval(s)) for s in json.load(sys.stdin)]))
`
	var values []string
	for _, c := range cases {
		values = append(values, c.value)
	}
	in, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-I", "-X", "utf8", "-c", program)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got[i] != c.want {
			t.Errorf("%s: got %.60q, want %.60q", c.value, got[i], c.want)
		}
		if got[i] != "" && !json.Valid([]byte(got[i])) {
			t.Errorf("%s: %.60q is no JSON", c.value, got[i])
		}
	}
}
