package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
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
