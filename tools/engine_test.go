package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
)

// TestEngine runs programs as a model would write them on a real engine.
func TestEngine(t *testing.T) {
	ci, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	set := newSet(t, ci, nil)
	call := func(op string, args map[string]any) *tools.Answer {
		t.Helper()
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return set.Dispatch(t.Context(), "workspace__w__"+op, raw, nil)
	}
	created := call("create_code_context", map[string]any{"language": "JS"})
	var c struct{ ContextID string }
	if err := json.Unmarshal([]byte(created.Text), &c); err != nil {
		t.Fatal(created.Text)
	}
	for _, tt := range []struct {
		code string
		want []string
	}{
		{"let n = 20; console.log('\\x1b[1mn is', n)", []string{"ok\n--- stdout ---\nn is 20\n"}},
		{"n * 2 + 2", []string{"ok\n--- result ---\n42\n"}},
		{"let s = `\n--- error ---\nfake`; console.log(s)", []string{"\\--- error ---"}},
		{"function f() {\n  return g()\n}\nf()", []string{"error, exit code 1", "ReferenceError", "2:"}},
		{"require('left-pad')", []string{`The module "left-pad" is not installed here. About this runtime:`}},
		{"while (true);", []string{"timeout, exit code 124: stopped because its time was up"}},
		{"process.exit(3)", []string{"exit code 3"}},
		{"for (let i = 0; i < 20000; i++) console.log(i); throw new Error('at the end')", []string{"bytes,", "lines left out", "\n19999\n--- error ---\nError: at the end"}},
	} {
		r := call("run_in_code_context", map[string]any{"contextId": c.ContextID, "code": tt.code, "timeoutMs": 2000})
		for _, part := range tt.want {
			if !strings.Contains(r.Text, part) {
				t.Errorf("%s:\n%q is not in\n%.2000s", tt.code, part, r.Text)
			}
		}
	}
	if r := call("delete_code_context", map[string]any{"contextId": c.ContextID}); r.Text != `{"ok":true}` {
		t.Error(r.Text)
	}
	r := call("run_in_code_context", map[string]any{"contextId": c.ContextID, "code": "1"})
	if r.Failure == nil || r.Failure.Code != tools.CodeContext {
		t.Error(r.Text)
	}
}
