package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

type place struct {
	City string `json:"city" jsonschema:"description=Where"`
	Days int    `json:"days,omitempty"`
	Near *place `json:"near,omitempty"`
}

type weather struct {
	Text string `json:"text"`
}

func TestFunc(t *testing.T) {
	f := tools.Func("get_weather", "Weather.", func(_ context.Context, p place) (weather, error) {
		if p.City == "Atlantis" {
			return weather{}, errors.New("disk /dev/sda")
		}
		return weather{p.City + " <sun>"}, nil
	})
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: []codeinterp.Function{f}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(f.Input), `"required":["city"]`) || !strings.Contains(string(f.Output), `"text"`) {
		t.Errorf("schemas %s, %s", f.Input, f.Output)
	}
	for _, tt := range []struct{ args, want, err string }{
		{`{"city":"Oslo"}`, `{"text":"Oslo <sun>"}`, ""},
		{`{}`, "", "city: required, and missing"},
		{`{"city":"Oslo","town":1}`, "", `unknown field "town"`},
		{`{"city":"Oslo","City":"Rome"}`, "", `unknown field "City"`},
		{`{"city":"Oslo","near":{"city":"Oslo","DAYS":1}}`, "", `unknown field "near.DAYS"`},
		{`{"city":"Oslo","near":{}}`, "", "near.city: required, and missing"},
		{`{"city":null}`, "", "city: it is null, and has to be a string"},
		{`{"city":"Oslo","days":null,"near":null}`, `{"text":"Oslo <sun>"}`, ""},
		{`{"city":"\ud83d\ude00"}`, `{"text":"😀 <sun>"}`, ""},
		{`{"city":"Oslo"} {}`, "", "not valid JSON"},
		{`{"city":"Oslo","near":` + strings.Repeat(`{"city":"x","near":`, 200) + "null" + strings.Repeat("}", 201), "", "nested more than 100 deep"},
		{`{"city":5}`, "", "invalid arguments: city: it is an integer, and has to be a string"},
	} {
		v, err := f.Call(t.Context(), codeinterp.FunctionCall{Args: json.RawMessage(tt.args)})
		_, typed := errors.AsType[*codeinterp.FunctionError](err)
		if string(v) != tt.want || (err != nil) != (tt.err != "") || err != nil && (!typed || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %s, %v", tt.args, v, err)
		}
	}
	if _, err := f.Call(t.Context(), codeinterp.FunctionCall{Args: json.RawMessage(`{"city":"Atlantis"}`)}); err == nil || err.Error() != "disk /dev/sda" {
		t.Errorf("%v", err)
	}
	loose := tools.Func("any", "", func(_ context.Context, in map[string]any) (any, error) { return in, nil })
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: []codeinterp.Function{loose}}); err != nil {
		t.Errorf("%v: %s, %s", err, loose.Input, loose.Output)
	}
}

// TestFuncOfTypesWithoutNames: they have schemas too.
func TestFuncOfTypesWithoutNames(t *testing.T) {
	f := tools.Func("f", "", func(_ context.Context, in struct {
		Rows []*place       `json:"rows"`
		Max  map[string]int `json:"max,omitempty"`
		Of   map[int]any    `json:"of,omitempty"`
		Byte uint8          `json:"byte,omitempty"`
		Long int64          `json:"long,omitempty"`
	}) (struct{ N int }, error) {
		return struct{ N int }{len(in.Rows) + in.Max["a"] + len(in.Of)}, nil
	})
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: []codeinterp.Function{f}}); err != nil {
		t.Errorf("%v: %s, %s", err, f.Input, f.Output)
	}
	for _, tt := range []struct{ args, want string }{
		{`{"rows":[{"city":"x"}],"max":{"a":2},"of":{"5":null}}`, `{"N":4} <nil>`},
		{`{"rows":[{"city":"x","at":1}]}`, ` f: invalid arguments: unknown field "rows[0].at"`},
		{`{"rows":[null]}`, ` f: invalid arguments: rows[0]: it is null, and has to be an object`},
		{`{"rows":[],"max":{"a":null}}`, ` f: invalid arguments: max.a: it is null, and has to be an integer`},
		{`{"rows":[],"byte":300}`, ` f: invalid arguments: byte: cannot be the JSON number 300`},
		{`{"rows":[],"byte":-1}`, ` f: invalid arguments: byte: cannot be the JSON number -1`},
		{`{"rows":[],"byte":1.5}`, ` f: invalid arguments: byte: it is a number, and has to be an integer`},
		{`{"rows":[],"long":1180591620717411303424}`, ` f: invalid arguments: long: cannot be the JSON number 1180591620717411303424`},
		{`{"rows":[],"of":{"x":1}}`, ` f: invalid arguments: of: cannot be the JSON number x`},
	} {
		v, err := f.Call(t.Context(), codeinterp.FunctionCall{Args: json.RawMessage(tt.args)})
		if e, ok := errors.AsType[*codeinterp.FunctionError](err); ok {
			e.Function = "f"
		}
		if got := fmt.Sprintf("%s %v", v, err); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestToolFunction(t *testing.T) {
	for _, tt := range []struct {
		answer    *tools.Answer
		want, err string
	}{
		{&tools.Answer{Text: "a \"b\""}, `"a \"b\""`, ""},
		{&tools.Answer{Text: "x", Data: json.RawMessage(`{"a":1}`)}, `{"a":1}`, ""},
		{&tools.Answer{Failure: &tools.Failure{Code: "x", Message: "no such city"}}, "", "no such city"},
		{nil, "", "internal error"},
	} {
		tool := tools.Tool{Name: "get-weather", Invoke: func(context.Context, tools.Invocation) *tools.Answer { return tt.answer }}
		f := tool.Function()
		v, err := f.Call(t.Context(), codeinterp.FunctionCall{Args: json.RawMessage(`{}`)})
		if f.Name != "get_weather" || string(v) != tt.want || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%+v: %s %s, %v", tt.answer, f.Name, v, err)
		}
	}
}

func FuzzFunctionName(f *testing.F) {
	for _, s := range []string{"", "a", "get-weather", "class", "_", "1", "ü", "then", strings.Repeat("a-", 60), strings.Repeat("9", 70)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := tools.FunctionName(s); !codeinterp.ValidFunctionName(n) || codeinterp.ValidFunctionName(s) && n != s {
			t.Errorf("%q becomes %q", s, n)
		}
	})
}

// TestSecretsInCalls: a Result tells of calls without secrets.
func TestSecretsInCalls(t *testing.T) {
	secrets, err := secret.New("hunter2hunter2")
	if err != nil {
		t.Fatal(err)
	}
	ci := &fake{script: func(context.Context, string) (codeinterp.Result, error) {
		return codeinterp.Result{Status: codeinterp.StatusOK, Calls: []codeinterp.CallRecord{{Number: 1, Name: "f",
			Args: `{"k":"hunter2hunter2"}`, Result: `"hunter2hunter2"`, Error: "hunter2hunter2", Err: errors.New("hunter2hunter2")}}}, nil
	}}
	list, err := tools.ForCode("x", ci, &tools.Options{Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	r := list[0].Invoke(t.Context(), tools.Invocation{Args: json.RawMessage(`{"language":"python","code":"1"}`)})
	c := r.Result.Calls[0]
	if all := c.Args + c.Result + c.Error + c.Err.Error() + r.Text + string(r.JSON()); strings.Contains(all, "hunter2") {
		t.Errorf("a secret in %q", all)
	}
}

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
