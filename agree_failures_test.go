//go:build linux && real

package toolcell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A failure is a call that fails, or does not, with one text everywhere.
type failure struct {
	name, args string // args are JSON
	limits     codeinterp.FunctionLimits
	want       string // what the call's error says; empty for a call that succeeds
}

func failures() []failure {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []failure{
		{name: "fails", args: "{}", want: "no\nsuch city"},
		{name: "secret", args: "{}", want: "the function failed"},
		{name: "panics", args: "{}", want: "the function failed"},
		{name: "exits", args: "{}", want: "the function failed"},
		{name: "refused", args: "{}", want: "refused: not today"},
		{name: "odd", args: "{}", want: "a\nb\uFFFDc\uFFFDd"},
		{name: "returns", args: `{"raw":"{bad"}`, want: "the function failed"},
		{name: "returns", args: fmt.Sprintf(`{"raw":%q}`, nested(500))},
		{name: "returns", args: fmt.Sprintf(`{"raw":%q}`, nested(501)), want: "the result is nested more than 500 deep"},
		{name: "returns", args: fmt.Sprintf(`{"raw":%q}`, nested(20_000)), want: "the result is nested more than 500 deep"},
		{name: "echo", args: `{"v":` + nested(499) + `}`},
		{name: "echo", args: `{"v":` + nested(500) + `}`, want: "the arguments are nested more than 500 deep"},
		{name: "echo", args: `{"v":"` + strings.Repeat("[", 2000) + `"}`},
		{name: "echo", args: `{"v":"xxxxxxxxxxxx"}`, limits: codeinterp.FunctionLimits{Args: 10}, want: "the arguments have * bytes; 10 are the limit"},
		{name: "returns", args: `{"raw":"123456"}`, limits: codeinterp.FunctionLimits{Result: 5}, want: "the result has 6 bytes; 5 are the limit"},
		{name: "hangs", args: "{}", limits: codeinterp.FunctionLimits{Timeout: 50 * time.Millisecond}, want: "the call took longer than 50ms"},
	}
}

// caughtCalls are programs that print what a call failed with, or that it did not.
var caughtCalls = map[string]func(name, args string) string{
	"javascript": func(name, args string) string {
		return fmt.Sprintf("await tools.%s(JSON.parse(%q)).then(() => console.log('ok'), (e) => console.log(e.message))", name, args)
	},
	"python": func(name, args string) string {
		return fmt.Sprintf("import json\ntry:\n  tools.%s(**json.loads(%q)); print('ok')\nexcept ToolError as e: print(e)", name, args)
	},
	"bash": func(name, args string) string {
		return fmt.Sprintf("if out=$(tool %s '%s' 2>&1); then echo ok; else printf '%%s\\n' \"$out\"; fi", name, args)
	},
}

// failuresAgree wants what a call fails with to be one text in all providers and
// languages, and in Result.Calls.
func failuresAgree(t *testing.T, p *places) {
	for _, tt := range []struct{ place, language string }{
		{"memory", "javascript"}, {"javascript", "javascript"}, {"python", "python"}, {pythonInMemory, "python"}, {"kernel", "python"}, {"bash", "bash"},
	} {
		if !p.has(tt.place) {
			continue
		}
		ci := p.of(tt.place)
		id := newContext(t, ci, tt.language)
		for _, f := range failures() {
			res, err := ci.RunInContext(t.Context(), id, caughtCalls[tt.language](f.name, f.args), &codeinterp.RunOptions{Functions: failing(), FunctionLimits: f.limits})
			want := "ok\n"
			if f.want != "" {
				want = f.name + ": " + f.want + "\n"
			}
			if !matches(res.Stdout(), want) || err != nil || len(res.Calls) != 1 || !matches(res.Calls[0].Error, f.want) {
				t.Errorf("%s: %s(%.50s): %q, %v, %v; %d calls; want %q", tt.place, f.name, f.args, res.Stdout(), res.Error, err, len(res.Calls), want)
			}
		}
	}
}

// keptFunctionsAgree wants a function that a program kept to be none of a later run.
func keptFunctionsAgree(t *testing.T, p *places) {
	const js, py = "await t({}).catch((e) => console.log(e.message)); console.log(Object.keys(all).join())", "try: t()\nexcept E as e: print(e)\nprint()"
	for _, tt := range []struct{ place, language, keep, call string }{
		{"memory", "javascript", "var t = tools.echo, all = tools", js}, {"javascript", "javascript", "var t = tools.echo, all = tools", js},
		{"python", "python", "t = tools.echo; E = ToolError", py}, {pythonInMemory, "python", "t = tools.echo; E = ToolError", py}, {"kernel", "python", "t = tools.echo; E = ToolError", py},
	} {
		if !p.has(tt.place) {
			continue
		}
		ci := p.of(tt.place)
		id := newContext(t, ci, tt.language)
		if res, err := ci.RunInContext(t.Context(), id, tt.keep, &codeinterp.RunOptions{Functions: agreedFunctions()}); err != nil || !res.OK() {
			t.Errorf("%s: %v, %v", tt.place, res.Error, err)
		}
		res, err := ci.RunInContext(t.Context(), id, tt.call, nil)
		if err != nil || res.Stdout() != "echo: the run was given no function of this name\n\n" || len(res.Calls) != 1 || res.Calls[0].Error == "" {
			t.Errorf("%s: %q, %v, %v; %+v", tt.place, res.Stdout(), res.Error, err, res.Calls)
		}
	}
}

// matches reports whether got is want, in which * stands for a number.
func matches(got, want string) bool {
	before, after, ok := strings.Cut(want, "*")
	if !ok {
		return got == want
	}
	return strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
}

// failing are agreedFunctions and more that fail.
func failing() []codeinterp.Function {
	function := func(name string, f func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error)) codeinterp.Function {
		return codeinterp.Function{Name: name, Call: f}
	}
	return append(agreedFunctions(),
		function("exits", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			runtime.Goexit()
			return nil, nil
		}),
		function("refused", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, fmt.Errorf("%w: not today", codeinterp.ErrRefused)
		}),
		function("odd", func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: "a\nb\x00c\xffd"}
		}),
		function("returns", func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
			var a struct{ Raw string }
			err := json.Unmarshal(c.Args, &a)
			return json.RawMessage(a.Raw), err
		}),
		function("hangs", func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	)
}
