package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

// functionChecks are about what programs call of the host. They concern the
// languages whose LanguageInfo.Functions is set.
func functionChecks() []check {
	return []check{
		{
			name: "FunctionCalled", scope: everyRun, uses: func(p *Programs) bool { return p.Call != nil },
			clause: "a program calls a function by its name, with arguments that arrive as they are, and gets its result; the function learns who calls, with the values of the caller's ctx, and Result.Calls lists the call",
			run:    calling(functionCalled),
		},
		{
			name: "FunctionAfterEnd", scope: stateful, uses: func(p *Programs) bool { return p.CallLeft != nil },
			clause: "what a program left behind calls nothing, neither between the runs nor in the next one",
			run:    calling(functionAfterEnd),
		},
		{
			name: "FunctionFails", scope: everyRun, uses: func(p *Programs) bool { return p.CallCaught != nil },
			clause: "a function that fails is an error that the program can catch, with the function's name and the message of a FunctionError or of what was refused, and nothing of any other error; Result.Calls has all of it",
			run: calling(func(e *env) {
				e.caught("no such city", fmt.Errorf("at /host/secret: %w", &codeinterp.FunctionError{Message: "no such city"}))
				e.caught("not today", fmt.Errorf("%w: not today", codeinterp.ErrRefused))
				e.caught("", errors.New("open /host/secret"))
			}),
		},
		{
			name: "FunctionsOfOthers", scope: stateless, uses: func(p *Programs) bool { return p.CallLoop != nil },
			clause: "a program reaches the functions of its own run, whoever else runs programs at the time",
			run:    calling(functionsOfOthers),
		},
		{
			name: "FunctionsOfContext", scope: stateful, uses: func(p *Programs) bool { return p.Call != nil },
			clause: "a context's functions are there in each of its runs, after a restart too; one of the run's own with the same name goes before, and is there for no other run",
			run:    calling(functionsOfContext),
		},
	}
}

// calling makes a check one of languages that can call.
func calling(run func(*env)) func(*env) {
	return func(e *env) {
		if e.info().Functions {
			run(e)
		}
	}
}

// answering is a function with an answer, in JSON.
func answering(name string, answer json.RawMessage) codeinterp.Function {
	return codeinterp.Function{Name: name, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return answer, nil }}
}

func functionCalled(e *env) {
	const args = `{"text":"aé日🙂\n\"'\\$x","list":[1,[true,null,{"k":"v"}],-2.5],"empty":{}}`
	type caller struct{}
	var got codeinterp.FunctionCall
	f := codeinterp.Function{Name: "look_up2", Call: func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		if got = c; ctx.Value(caller{}) != "caller" {
			return nil, &codeinterp.FunctionError{Message: "no value of the caller's ctx"}
		}
		return c.Args, nil
	}}
	id := e.place()
	res := e.with(context.WithValue(e.ctx, caller{}, "caller")).ok(e.p.Call("look_up2", args), &codeinterp.RunOptions{Functions: []codeinterp.Function{f}})
	if got.Context != id || got.Number != 1 || got.Name != "look_up2" || got.Language != e.language || !sameJSON(got.Args, args) {
		failf("the function was called with %+v, want call 1 of context %q with %s", got, id, args)
	}
	if len(res.Calls) != 1 || res.Calls[0].Number != 1 || res.Calls[0].Name != "look_up2" || res.Calls[0].Error != "" || res.Calls[0].Args != string(got.Args) {
		failf("Calls are %+v, want the one", res.Calls)
	}
	if !sameJSON(json.RawMessage(res.Stdout()), args) {
		failf("the program got %s, want %s", res.Stdout(), args)
	}
}

// caught wants a program to catch the failure of a function.
func (e *env) caught(message string, failure error) {
	f := codeinterp.Function{Name: "fails", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return nil, failure }}
	res := e.ok(e.p.CallCaught("fails", "{}"), &codeinterp.RunOptions{Functions: []codeinterp.Function{f}})
	out := res.Stdout()
	if !strings.HasPrefix(out, "caught ") || !strings.Contains(out, "fails") || !strings.Contains(out, message) || strings.Contains(out, "/host") {
		failf("the program printed %q, want what it caught, with the function's name and %q, and nothing of the host", out, message)
	}
	if len(res.Calls) != 1 || res.Calls[0].Error == "" || strings.Contains(res.Calls[0].Error, "/host") || res.Calls[0].Err == nil {
		failf("Calls are %+v, want the failure, and Err", res.Calls)
	}
}

// functionAfterEnd leaves a call behind that comes after the end of its run, while
// another run goes on that has a function of the same name.
func functionAfterEnd(e *env) {
	var called atomic.Int64
	opts := &codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "left", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		called.Add(1)
		return nil, nil
	}}}}
	id := e.context(nil)
	first := e.okIn(id, e.p.CallLeft("left", "{}"), opts)
	second := e.okIn(id, e.p.CallWake, opts)
	if n := called.Load(); n != 0 || len(first.Calls)+len(second.Calls) != 0 {
		failf("%d calls were served after the end, Calls are %+v and %+v", n, first.Calls, second.Calls)
	}
	wantText("what the call came to", strings.TrimSpace(second.Stdout()), "refused")
}

// functionsOfOthers has callers whose functions have the same name and give
// different answers.
func functionsOfOthers(e *env) {
	const callers, calls = 4, 20
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			errs[i] = try(func() {
				opts := &codeinterp.RunOptions{Functions: []codeinterp.Function{answering("mine", fmt.Append(nil, i+1))}}
				res := e.okIn("", e.p.CallLoop("mine", calls), opts)
				wantText("the sum", strings.TrimSpace(res.Stdout()), fmt.Sprint(calls*(i+1)))
				if len(res.Calls) != calls {
					failf("%d calls are in Calls, want %d", len(res.Calls), calls)
				}
			})
		})
	}
	wg.Wait()
	must(errors.Join(errs...))
}

func functionsOfContext(e *env) {
	context, run := json.RawMessage(`"context"`), json.RawMessage(`"run"`)
	id := e.context(&codeinterp.ContextOptions{Functions: []codeinterp.Function{answering("a", context), answering("b", context)}})
	call := lines(e.p.Call("a", "{}"), e.p.Call("b", "{}"))
	for _, own := range [][]codeinterp.Function{nil, {answering("b", run), answering("own", run)}, nil} {
		want := "\"context\"\n\"context\"\n"
		if own != nil {
			want = "\"context\"\n\"run\"\n"
		}
		res := e.okIn(id, call, &codeinterp.RunOptions{Functions: own})
		wantText("the results", res.Stdout(), want)
	}
	if m, ok := codeinterp.Manager(e.ci); ok {
		must(m.RestartContext(e.ctx, id))
	}
	e.printsIn(id, "the result after a restart", e.p.Call("a", "{}"), "\"context\"\n")
	if e.p.CallCaught != nil {
		if out := e.stdout(id, e.p.CallCaught("own", "{}")); !strings.HasPrefix(out, "caught ") {
			failf("the call of a function that only an earlier run had: %q", out)
		}
	}
}
