package codeinterp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func answer(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
	return json.RawMessage(`1`), nil
}

func TestCheckFunctions(t *testing.T) {
	good := codeinterp.Function{Name: "get_weather2", Input: json.RawMessage(`{"type":"object"}`), Call: answer}
	with := func(change func(*codeinterp.Function)) []codeinterp.Function {
		f := good
		change(&f)
		return []codeinterp.Function{f}
	}
	for name, list := range map[string][]codeinterp.Function{
		"empty name":       with(func(f *codeinterp.Function) { f.Name = "" }),
		"dash":             with(func(f *codeinterp.Function) { f.Name = "get-weather" }),
		"underscore first": with(func(f *codeinterp.Function) { f.Name = "__proto__" }),
		"line end":         with(func(f *codeinterp.Function) { f.Name = "a\n" }),
		"not ASCII":        with(func(f *codeinterp.Function) { f.Name = "größe" }),
		"long name":        with(func(f *codeinterp.Function) { f.Name = strings.Repeat("a", 65) }),
		"keyword":          with(func(f *codeinterp.Function) { f.Name = "lambda" }),
		"thenable":         with(func(f *codeinterp.Function) { f.Name = "then" }),
		"no call":          with(func(f *codeinterp.Function) { f.Call = nil }),
		"schema":           with(func(f *codeinterp.Function) { f.Input = json.RawMessage(`{`) }),
		"schema true":      with(func(f *codeinterp.Function) { f.Output = json.RawMessage(`true`) }),
		"schema size": with(func(f *codeinterp.Function) {
			f.Input = json.RawMessage(`{"a":"` + strings.Repeat("a", 300<<10) + `"}`)
		}),
		"description": with(func(f *codeinterp.Function) { f.Description = "\xff" }),
		"twice":       {good, good},
		"many":        slices.Repeat([]codeinterp.Function{good}, 1001),
	} {
		if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: list}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("run, %s: %v", name, err)
		}
		if _, err := codeinterp.CheckContext(&codeinterp.ContextOptions{Functions: list}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("context, %s: %v", name, err)
		}
	}
	for _, l := range []codeinterp.FunctionLimits{{Calls: -2}, {Parallel: -1}, {Args: -1}, {Result: 2 << 30}, {Timeout: -1}} {
		if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{FunctionLimits: l}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	o, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: []codeinterp.Function{good}})
	if err != nil || len(o.Functions) != 1 || o.FunctionLimits.Calls != 10_000 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestValidArgs(t *testing.T) {
	for args, want := range map[string]bool{
		`{}`: true, " \n{\"a\":[1]}": true, `[]`: false, `1`: false, ``: false, `{`: false, "{\"a\":\"\xff\"}": false, `{} {}`: false,
	} {
		if got := codeinterp.ValidArgs(json.RawMessage(args)); got != want {
			t.Errorf("%q: %t", args, got)
		}
	}
}

// caller is an interpreter whose programs are names of functions to call.
type caller struct {
	echoStateful
	of []codeinterp.Function // of the context
}

func (c *caller) CreateContext(ctx context.Context, l string, o *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	c.of = o.Functions
	return c.echoStateful.CreateContext(ctx, l, nil)
}

func (c *caller) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (res codeinterp.Result, err error) {
	all := c.of
	if o != nil {
		all = append(all, o.Functions...)
	}
	for _, f := range all {
		v, err := f.Call(ctx, codeinterp.FunctionCall{Number: 1, Name: f.Name, Args: json.RawMessage(`{}`), Language: language})
		res.Outputs = append(res.Outputs, codeinterp.Output{Kind: codeinterp.Stdout, Data: fmt.Appendf(nil, "%s %v;", v, err)})
	}
	return res, nil
}

func (c *caller) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	return c.RunCode(ctx, "echo", code, o)
}

// TestMiddlewareSeesCalls: a call goes through every layer, the innermost first.
func TestMiddlewareSeesCalls(t *testing.T) {
	var got []string
	spy := func(name string) codeinterp.Middleware {
		return func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				text := name + " " + c.Op.String()
				if f, ok := c.Args.(codeinterp.FunctionCall); ok && c.Op.Calls() {
					text += " " + f.Name + string(f.Args)
					f.Args = json.RawMessage(`{"by":"` + name + `"}`)
					c.Args = f
				}
				got = append(got, text)
				return next(ctx, c)
			}
		}
	}
	echo := func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }
	ci := codeinterp.Wrap(codeinterp.Wrap(&caller{}, spy("inner")), spy("outer"))
	s, _ := codeinterp.Stateful(ci)
	id, _ := s.CreateContext(t.Context(), "echo", &codeinterp.ContextOptions{Functions: []codeinterp.Function{{Name: "a", Call: echo}}})
	res, _ := s.RunInContext(t.Context(), id, "", &codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "b", Call: echo}}})
	want := []string{"outer create context", "inner create context", "outer run in context", "inner run in context",
		"inner call function a{}", `outer call function a{"by":"inner"}`, "inner call function b{}", `outer call function b{"by":"inner"}`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if want := `{"by":"outer"} <nil>;{"by":"outer"} <nil>;`; res.Stdout() != want {
		t.Errorf("%q", res.Stdout())
	}
}

func TestApproveAsksForCalls(t *testing.T) {
	ci := codeinterp.Wrap(&caller{}, codeinterp.Approve(func(_ context.Context, c codeinterp.Call) error {
		if f, ok := c.Args.(codeinterp.FunctionCall); ok && f.Name == "pay" {
			return errors.New("ask Ann")
		}
		return nil
	}), codeinterp.Limit(&codeinterp.LimitOptions{Runs: 1}), codeinterp.Log(nil))
	res, _ := ci.RunCode(t.Context(), "echo", "", &codeinterp.RunOptions{Functions: []codeinterp.Function{
		{Name: "see", Call: answer}, {Name: "pay", Call: answer}}})
	if want := "1 <nil>; approve: call function: refused: ask Ann;"; res.Stdout() != want {
		t.Errorf("%q", res.Stdout())
	}
	made := func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			if c.Op == codeinterp.OpCallFunction {
				c.Args = codeinterp.FunctionCall{Name: "pay"}
			}
			return next(ctx, c)
		}
	}
	res, _ = codeinterp.Wrap(&caller{}, made).RunCode(t.Context(), "echo", "", &codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "pay", Call: answer}}})
	if !strings.Contains(res.Stdout(), "invalid input") {
		t.Errorf("a call that a middleware made up: %q", res.Stdout())
	}
}

func TestCallsInJSON(t *testing.T) {
	res := codeinterp.Result{Status: codeinterp.StatusOK, Calls: []codeinterp.CallRecord{
		{Number: 1, Name: "a", Args: "{}", Result: "1", Duration: 2_000_000}, {Number: 2, Name: "b", Error: "no", Err: errors.New("host")}}}
	b, err := json.Marshal(res)
	if want := `"calls":[{"number":1,"name":"a","args":"{}","result":"1","durationMs":2},{"number":2,"name":"b","error":"no"}]}`; err != nil || !strings.HasSuffix(string(b), want) {
		t.Fatalf("%s, %v", b, err)
	}
	var back codeinterp.Result
	if err := json.Unmarshal(b, &back); err != nil || !slices.Equal(back.Calls, []codeinterp.CallRecord{res.Calls[0], {Number: 2, Name: "b", Error: "no"}}) {
		t.Errorf("%+v, %v", back.Calls, err)
	}
}
