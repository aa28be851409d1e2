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
	"github.com/toolcell/toolcell/providers/subprocess"
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

// TestFailuresAgree: what a call fails with is one text in all providers and
// languages, and Result.Calls has it.
func TestFailuresAgree(t *testing.T) {
	for _, tt := range []struct {
		name, language string
		of             func(t *testing.T) codeinterp.StatefulInterpreter
	}{
		{"memory", "javascript", embedded}, {"node", "javascript", processes(subprocess.JavaScript())},
		{"python", "python", processes(subprocess.Python())}, {"kernel", "python", kernels}, {"bash", "bash", processes(subprocess.Bash())},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ci := tt.of(t)
			id, err := ci.CreateContext(t.Context(), tt.language, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range failures() {
				res, err := ci.RunInContext(t.Context(), id, caughtCalls[tt.language](f.name, f.args), &codeinterp.RunOptions{Functions: failing(), FunctionLimits: f.limits})
				want := "ok\n"
				if f.want != "" {
					want = f.name + ": " + f.want + "\n"
				}
				if !matches(res.Stdout(), want) || err != nil || len(res.Calls) != 1 || !matches(res.Calls[0].Error, f.want) {
					t.Errorf("%s(%.50s): %q, %v, %v; %d calls; want %q", f.name, f.args, res.Stdout(), res.Error, err, len(res.Calls), want)
				}
			}
		})
	}
}

// TestKeptFunctions: one that a program kept is no function of a later run, and the error says so.
func TestKeptFunctions(t *testing.T) {
	for _, tt := range []struct {
		language, keep, call string
		of                   func(t *testing.T) codeinterp.StatefulInterpreter
	}{
		{"javascript", "var t = tools.echo, all = tools", "await t({}).catch((e) => console.log(e.message)); console.log(Object.keys(all).join())", embedded},
		{"javascript", "var t = tools.echo, all = tools", "await t({}).catch((e) => console.log(e.message)); console.log(Object.keys(all).join())", processes(subprocess.JavaScript())},
		{"python", "t = tools.echo; E = ToolError", "try: t()\nexcept E as e: print(e)\nprint()", processes(subprocess.Python())},
		{"python", "t = tools.echo; E = ToolError", "try: t()\nexcept E as e: print(e)\nprint()", kernels},
	} {
		ci := tt.of(t)
		id, err := ci.CreateContext(t.Context(), tt.language, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := ci.RunInContext(t.Context(), id, tt.keep, &codeinterp.RunOptions{Functions: agreedFunctions()}); err != nil || !res.OK() {
			t.Errorf("%T: %v, %v", ci, res.Error, err)
		}
		res, err := ci.RunInContext(t.Context(), id, tt.call, nil)
		if err != nil || res.Stdout() != "echo: the run was given no function of this name\n\n" || len(res.Calls) != 1 || res.Calls[0].Error == "" {
			t.Errorf("%T, %s: %q, %v, %v; %+v", ci, tt.language, res.Stdout(), res.Error, err, res.Calls)
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
