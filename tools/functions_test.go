package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
)

// TestOptionsFunctions: programs that a model writes call functions of the host,
// in run_code and in contexts that the model creates; descriptions declare them.
func TestOptionsFunctions(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	double := tools.Func("double", "Twice n.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		if in.N < 0 {
			return 0, errors.New("hidden")
		}
		return 2 * in.N, nil
	})
	var calls []string
	set := watched{newSet(t, ci, &tools.Options{Functions: []codeinterp.Function{double}}), func(e observe.Event) error {
		if e.Call != nil {
			calls = append(calls, e.Call.Name+e.Call.Args)
		}
		return nil
	}}
	for _, tool := range set.Tools()[:2] {
		if !strings.Contains(tool.Description, "call") || tool.Name == runCode && !strings.Contains(tool.Description, `- double: Twice n. Arguments: {`) {
			t.Errorf("%s: %s", tool.Name, tool.Description)
		}
	}
	a := set.Dispatch(t.Context(), "workspace__w__create_code_context", []byte(`{"language":"javascript"}`), nil)
	var made struct{ ContextID string }
	if err := json.Unmarshal(a.JSON(), &made); err != nil {
		t.Fatal(err)
	}
	for i, call := range [][2]string{
		{runCode, `{"language":"javascript","code":"await tools.double({n: 21})"}`},
		{"workspace__w__run_in_code_context", `{"contextId":"` + made.ContextID + `","code":"await tools.double({n: 21})"}`},
		{runCode, `{"language":"javascript","code":"await tools.double({n: -1})"}`},
	} {
		want := []string{"42", "42", "the function failed"}[i]
		if a := set.Dispatch(t.Context(), call[0], []byte(call[1]), nil); !strings.Contains(a.Text, want) {
			t.Errorf("%s: %s", call, a.Text)
		}
	}
	if got := strings.Join(calls, " "); got != `double{"n":21} double{"n":21} double{"n":-1}` {
		t.Errorf("events of calls: %s", got)
	}
	if _, err := tools.ForCode("w", ci, &tools.Options{Functions: []codeinterp.Function{{Name: "no name"}}}); err == nil {
		t.Error("a function that no program can call is no error")
	}
}

// TestMessageLines: the message of an error keeps its line breaks.
func TestMessageLines(t *testing.T) {
	r := run(t, codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: &codeinterp.ProgramError{Name: "E", Message: "one\n  two", Line: 3}}, nil)
	if !strings.Contains(r.Text, "E: one\n  two") || !strings.Contains(string(r.JSON()), `"message":"one\n  two"`) {
		t.Errorf("%s\n%s", r.Text, r.JSON())
	}
}

// TestNotesOnce: what languages have in common is described once.
func TestNotesOnce(t *testing.T) {
	ci := &fake{info: &codeinterp.Info{Provider: "fake", Languages: []codeinterp.LanguageInfo{
		{Name: "javascript", Notes: "There is no require."}, {Name: "python", Notes: "Types are erased. There is no require."},
	}}}
	list, err := tools.ForCode("w", ci, nil)
	if err != nil || !strings.Contains(list[0].Description, "- javascript There is no require.\n- python Types are erased. Otherwise like javascript.") {
		t.Errorf("%v: %s", err, list[0].Description)
	}
}
