//go:build real

package inmemory_test

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// language.txt has expressions of the sections of test262, one a line, and what
// each is as a string, or the name of the error that it ends with.
//
//go:embed testdata/language.txt
var languageSample string

// A sample is one line of it.
type sample struct{ section, expression, want string }

func samples(t *testing.T) (list []sample) {
	t.Helper()
	section := ""
	for line := range strings.SplitSeq(strings.TrimSpace(languageSample), "\n") {
		if s, ok := strings.CutPrefix(line, "# "); ok {
			section = s
			continue
		}
		expression, want, ok := strings.Cut(line, "  ⇒  ")
		want, err := strconv.Unquote(`"` + want + `"`)
		if !ok || err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, sample{section, expression, want})
	}
	return list
}

// TestLanguageSample evaluates a sample of the language and of its built-ins,
// which is not taken from test262 but follows its sections: TestTest262 runs
// all of that. Where node is installed, it judges what is expected.
func TestLanguageSample(t *testing.T) {
	list := samples(t)
	expressions := make([]string, len(list))
	for i, s := range list {
		expressions[i] = s.expression
	}
	b, err := json.Marshal(expressions)
	if err != nil {
		t.Fatal(err)
	}
	program := "const out = []; for (const x of " + string(b) + ") { let v; try { v = String((0, eval)(x)) } catch (e) { v = '!' + e.name } out.push(v) } console.log(JSON.stringify(out))"
	compare := func(who, printed string) {
		t.Helper()
		var got []string
		if err := json.Unmarshal([]byte(printed), &got); err != nil || len(got) != len(list) {
			t.Fatalf("%s printed %q, %v", who, printed, err)
		}
		for i, s := range list {
			if got[i] != s.want {
				t.Errorf("%s: %s: %s: got %q, want %q", who, s.section, s.expression, got[i], s.want)
			}
		}
	}
	res, err := open(t, nil).RunCode(t.Context(), "javascript", program, nil)
	if err != nil || !res.OK() {
		t.Fatal(res.Error, err)
	}
	compare("the engine", res.Stdout())
	compare("node", nodeOutput(t, lookNode(t), []string{program})[0])
}
