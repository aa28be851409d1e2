package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// TestLimitShrinksDefaults puts a Limit below what the tools would set: only a
// value that the model gave can be refused, and the schema says which.
func TestLimitShrinksDefaults(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limit   time.Duration
		opts    *tools.Options
		want    time.Duration // of a call that sets none
		maximum int64
	}{
		{"below the default", 30 * time.Second, nil, 30 * time.Second, 30_000},
		{"below the maximum", 2 * time.Minute, nil, time.Minute, 120_000},
		{"above both", time.Hour, nil, time.Minute, 600_000},
		{"the program's default", 30 * time.Second, &tools.Options{Timeout: 5 * time.Minute}, 30 * time.Second, 30_000},
		{"no default", 30 * time.Second, &tools.Options{Timeout: -1}, 30 * time.Second, 30_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			limited := codeinterp.Wrap(f, codeinterp.Limit(&codeinterp.LimitOptions{Timeout: tt.limit}))
			set := newSet(t, codeinterp.Wrap(limited, codeinterp.Log(nil)), tt.opts)
			call := func(timeout string) *tools.Answer {
				return set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"python","code":"x"`+timeout+`}`), nil)
			}
			if r := call(""); r.Failure != nil || f.opts[0].Timeout != tt.want {
				t.Fatalf("%s, timeout %v, want %v", r.Text, f.opts[0].Timeout, tt.want)
			}
			if r := call(fmt.Sprintf(`,"timeoutMs":%d`, tt.maximum)); r.Failure != nil {
				t.Errorf("the maximum: %s", r.Text)
			}
			if r := call(fmt.Sprintf(`,"timeoutMs":%d`, tt.maximum+1)); r.Failure == nil || r.Failure.Code != tools.CodeInvalid {
				t.Errorf("more than the maximum: %s", r.Text)
			}
			var schema struct {
				Properties struct {
					TimeoutMs struct{ Maximum int64 }
				}
			}
			tool := set.Tools()[0]
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || schema.Properties.TimeoutMs.Maximum != tt.maximum {
				t.Errorf("maximum %d, want %d (%v)", schema.Properties.TimeoutMs.Maximum, tt.maximum, err)
			}
			if strings.Contains(tool.Description, "10 minutes") != (tt.maximum == 600_000) {
				t.Errorf("description: %s", tool.Description)
			}
		})
	}
}

// TestContextsByLanguage offers contexts of those languages that have them.
func TestContextsByLanguage(t *testing.T) {
	info := codeinterp.Info{Provider: "fake", Languages: []codeinterp.LanguageInfo{
		{Name: "javascript", Runtime: "FakeJS"}, {Name: "python", Runtime: "FakePython", Contexts: true, Aliases: []string{"Snake"}},
	}}
	set := newSet(t, statefulFake{&fake{info: &info}}, nil)
	call := func(name, args string) *tools.Answer {
		return set.Dispatch(t.Context(), "workspace__w__"+name, []byte(args), nil)
	}
	i := slices.IndexFunc(set.Tools(), func(t tools.Tool) bool { return strings.HasSuffix(t.Name, "create_code_context") })
	create := set.Tools()[i]
	if s := string(create.InputSchema); !strings.Contains(s, `"enum":["python"]`) {
		t.Errorf("schema %s", s)
	}
	if strings.Contains(create.Description, "javascript") || !strings.Contains(create.Description, "Languages: python;") {
		t.Errorf("description %s", create.Description)
	}
	if r := call("create_code_context", `{"language":"javascript"}`); r.Failure == nil || r.Failure.Code != tools.CodeLanguage ||
		!strings.Contains(r.Text, "javascript has no contexts here; those that have: python") {
		t.Errorf("a context of javascript: %s", r.Text)
	}
	for _, r := range []*tools.Answer{
		call("run_code", `{"language":"javascript","code":"x"}`),
		call("run_code", `{"language":"snake","code":"x"}`),
		call("create_code_context", `{"language":"python"}`),
	} {
		if r.Failure != nil {
			t.Error(r.Text)
		}
	}
}
