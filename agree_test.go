package toolcell_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestProvidersAgree makes the same calls of several providers, in one language,
// and compares the answers field by field. Durations, tracebacks and what a
// context is called are left out.
func TestProvidersAgree(t *testing.T) {
	in, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	sub, err := subprocess.NewStateful(&subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript()}})
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer sub.Close()
	for _, tt := range agreedCalls {
		t.Run(tt.name, func(t *testing.T) {
			a, b := tt.answers(t, in), tt.answers(t, sub)
			if a != b {
				t.Errorf("inmemory:\n%s\nsubprocess:\n%s", a, b)
			}
		})
	}
}

// An agreedCall is a series of programs in one context, or one by RunCode.
type agreedCall struct {
	name     string
	programs []string
	timeout  time.Duration
	canceled bool // at the first output
}

var agreedCalls = []agreedCall{
	{name: "output and value", programs: []string{`console.log("out"); console.error("err"); ({ b: [1, "é"], a: null })`}},
	{name: "no value", programs: []string{"const x = 1;", "undefined", ""}},
	{name: "values without JSON", programs: []string{"NaN", "new Map([[1, 2]])", "[undefined]", "10n", "(() => 1)"}},
	{name: "values that JSON gives back", programs: []string{"-0", "[-0]", "new (class P { x = 1 })()", "Object.create(null)", "({ get a() { return 1 } })",
		"new Proxy({ a: 1 }, {})", "new Proxy([1], {})", "[, 1]", "(function () { return arguments })(1)", "'x'.repeat(2 ** 20 - 2).length", "Object.assign([1], { x: 1 })"}},
	{name: "a promise as the value", programs: []string{"Promise.resolve({ a: 1 })", "Promise.resolve()", "Promise.reject(new RangeError('no'))", "Promise.reject(5)"}},
	{name: "thrown values", programs: []string{"throw 5", "throw 'text'", "throw { a: 1 }", "throw undefined", "throw null", "throw [1, 'x']"}},
	{name: "toJSON of every object", programs: []string{"Object.prototype.toJSON = function () { return 1 }; 2", "({ a: 1 })", "delete Object.prototype.toJSON; ({ a: 1 })"}},
	{name: "handlers of what nobody caught", programs: []string{`process.on("uncaughtException", (e) => console.log("caught", e.message)); setTimeout(() => { throw new Error("late") }, 10); void 0`}},
	{name: "handlers of rejections", programs: []string{`process.on("unhandledRejection", (e) => console.log("rejected", e.message)); void Promise.reject(new Error("late"))`}},
	{name: "handlers of the end", programs: []string{`process.on("exit", (n) => console.log("leaving", n)); process.exit(3)`, "1"}},
	{name: "a value and what comes later", programs: []string{`setTimeout(() => console.log("later"), 20); "value"`}},
	{name: "no listeners", programs: []string{`process.removeAllListeners(); setTimeout(() => { throw new RangeError("late") }, 10); void 0`}},
	{name: "errors", programs: []string{`throw new RangeError("two\nlines")`, "\n\nnull.f()", "const ok = 1;"}},
	{name: "state after errors", programs: []string{"var kept = 1;", "throw new Error()", "kept"}},
	{name: "state after a timeout", programs: []string{"var kept = 1;", `console.log("x"); await new Promise(() => setTimeout(() => 0, 3600000))`, "kept"}, timeout: 3 * time.Second},
	{name: "a loop that times out", programs: []string{`console.log("x"); for (;;) {}`}, timeout: 3 * time.Second},
	{name: "cancellation", programs: []string{`console.log("x"); await new Promise(() => setTimeout(() => 0, 3600000))`}, canceled: true},
	{name: "malformed", programs: []string{"a\x00b"}},
	{name: "promises", programs: []string{"await Promise.resolve(7)", `await Promise.reject(new TypeError("no"))`}},
	{name: "timers", programs: []string{`setTimeout(() => console.log("later"), 50); console.log("first"); void 0`}},
	{name: "modules", programs: []string{`require("toolcell_no_such_module")`}},
}

var errAgreed = errors.New("the caller changed its mind")

// answers makes the calls, by RunCode and in a context, and tells the answers.
func (a agreedCall) answers(t *testing.T, ci codeinterp.StatefulInterpreter) string {
	t.Helper()
	ctx := t.Context()
	id, err := ci.CreateContext(ctx, "javascript", nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, code := range a.programs {
		for _, way := range []string{"RunCode", "RunInContext"} {
			ctx, cancel := context.WithCancelCause(ctx)
			opts := &codeinterp.RunOptions{Timeout: a.timeout, OnOutput: func(codeinterp.Output) error {
				if a.canceled {
					cancel(errAgreed)
				}
				return nil
			}}
			var res codeinterp.Result
			var err error
			if way == "RunCode" {
				res, err = ci.RunCode(ctx, "javascript", code, opts)
			} else {
				res, err = ci.RunInContext(ctx, id, code, opts)
			}
			cancel(nil)
			fmt.Fprintf(&b, "%s %q: %s\n", way, code, answer(res, err))
		}
	}
	err = ci.DeleteContext(ctx, id)
	_, again := ci.RunInContext(ctx, id, "1", nil)
	fmt.Fprintf(&b, "delete: %s, then %s\n", kind(err), kind(again))
	return b.String()
}

// answer tells what callers may rely on.
func answer(res codeinterp.Result, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, exit %d, cause %q, state lost %v, run %d, %s", res.Status, res.ExitCode, res.Cause, res.StateLost, res.ExecutionCount, kind(err))
	// Two pipes do not tell which of them was written to first.
	outputs := slices.Clone(res.Outputs)
	slices.SortStableFunc(outputs, func(x, y codeinterp.Output) int { return cmp.Compare(x.Kind, y.Kind) })
	for _, o := range outputs {
		fmt.Fprintf(&b, "; %s late %v %q %s %q", o.Kind, o.Late, o.Data, o.Value, o.Text())
	}
	if e := res.Error; e != nil {
		fmt.Fprintf(&b, "; error %q in line %d, module %q", e.Name, e.Line, e.MissingModule)
		if e.Name == "RangeError" { // the words of others are the engine's
			fmt.Fprintf(&b, ": %q", e.Message)
		}
	}
	return b.String()
}

// kind is what errors.Is tells of an error.
func kind(err error) string {
	for _, is := range []error{codeinterp.ErrInvalid, codeinterp.ErrContext, codeinterp.ErrClosed, codeinterp.ErrLanguage,
		codeinterp.ErrCapacity, codeinterp.ErrUnavailable, errAgreed} {
		if errors.Is(err, is) {
			return fmt.Sprintf("error %q", is)
		}
	}
	if err == nil {
		return "no error"
	}
	return "another error: " + err.Error()
}
