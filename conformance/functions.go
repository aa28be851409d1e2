package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// functionChecks are about what programs call of the host. They concern the
// languages whose LanguageInfo.Functions is set, and the first one all others.
func functionChecks() []check {
	return []check{
		{
			name: "FunctionsRefused", scope: stateless,
			clause: "functions are ErrInvalid for a language whose programs cannot call",
			run: func(ctx context.Context, e *env) error {
				if _, tells := e.ci.(codeinterp.Describer); !tells || e.canCall() {
					return nil
				}
				res, err := e.run(ctx, e.p.Print("x"), &codeinterp.RunOptions{Functions: []codeinterp.Function{echo("f")}})
				return wantNotRun(res, err, codeinterp.ErrInvalid)
			},
		},
		{
			name: "FunctionCalled", scope: everyRun, uses: func(p *Programs) bool { return p.Call != nil },
			clause: "a program calls a function by its name, with arguments that arrive as they are, and gets its result; the function learns who calls, with the values of the caller's ctx, and Result.Calls tells of the call",
			run:    calling(functionCalled),
		},
		{
			name: "FunctionAfterEnd", scope: stateful, uses: func(p *Programs) bool { return p.CallLeft != nil },
			clause: "what a program left behind calls nothing, neither between the runs nor in the next one",
			run:    calling(func(ctx context.Context, e *env) error { return e.afterEnd(ctx, e.p.CallLeft, e.p.CallWake) }),
		},
		{
			name: "FunctionFails", scope: everyRun, uses: func(p *Programs) bool { return p.CallCaught != nil },
			clause: "a function that fails is an error that the program can catch, with the function's name and the message of a FunctionError or of what was refused, and nothing of any other error; Result.Calls has all of it",
			run: calling(func(ctx context.Context, e *env) error {
				failure := fmt.Errorf("at /host/secret: %w", &codeinterp.FunctionError{Message: "no such city"})
				return errors.Join(e.caught(ctx, "no such city", func() error { return failure }),
					e.caught(ctx, "not today", func() error { return fmt.Errorf("%w: not today", codeinterp.ErrRefused) }),
					e.caught(ctx, "", func() error { return errors.New("open /host/secret") }))
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

// canCall reports whether programs of the language can call functions.
func (e *env) canCall() bool {
	return slices.ContainsFunc(codeinterp.Describe(e.ci).Languages, func(l codeinterp.LanguageInfo) bool {
		return l.Name == e.language && l.Functions
	})
}

// calling makes a check one of languages that can call.
func calling(run func(context.Context, *env) error) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		if !e.canCall() {
			return nil
		}
		return run(ctx, e)
	}
}

func echo(name string) codeinterp.Function {
	return codeinterp.Function{Name: name, Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }}
}

// runs runs a program with functions to a good end.
func (e *env) runs(ctx context.Context, code string, functions ...codeinterp.Function) (codeinterp.Result, error) {
	res, err := e.run(ctx, code, &codeinterp.RunOptions{Functions: functions})
	return res, wantOK(res, err)
}

func functionCalled(ctx context.Context, e *env) error {
	const args = `{"text":"aé日🙂\n\"'\\$x","list":[1,[true,null,{"k":"v"}],-2.5],"empty":{}}`
	var got codeinterp.FunctionCall
	type caller struct{}
	f := codeinterp.Function{Name: "look_up2", Call: func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		if got = c; ctx.Value(caller{}) != "caller" {
			return nil, &codeinterp.FunctionError{Message: "no value of the caller's ctx"}
		}
		return c.Args, nil
	}}
	var id codeinterp.ContextID // of the run
	if e.way == inContextWay {
		var err error
		if id, err = e.shared(ctx); err != nil {
			return err
		}
	}
	res := need(e.runs(context.WithValue(ctx, caller{}, "caller"), e.p.Call("look_up2", args), f))
	if got.Context != id {
		return fmt.Errorf("the function was called by context %q, want %q", got.Context, id)
	}
	if got.Number != 1 || got.Name != "look_up2" || got.Language != e.language {
		return fmt.Errorf("the function was called with number %d, name %q, language %q", got.Number, got.Name, got.Language)
	}
	if len(res.Calls) != 1 || res.Calls[0].Number != 1 || res.Calls[0].Name != "look_up2" || res.Calls[0].Error != "" || res.Calls[0].Args != string(got.Args) {
		return fmt.Errorf("Calls are %+v, want the one", res.Calls)
	}
	return errors.Join(wantText("the arguments", compacted(got.Args), args),
		wantText("the result", compacted([]byte(res.Stdout())), args))
}

// caught wants a program to catch the failure of a function.
func (e *env) caught(ctx context.Context, message string, fail func() error) error {
	f := codeinterp.Function{Name: "fails", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return nil, fail() }}
	res := need(e.runs(ctx, e.p.CallCaught("fails", "{}"), f))
	out := res.Stdout()
	if !strings.HasPrefix(out, "caught ") || !strings.Contains(out, "fails") || !strings.Contains(out, message) || strings.Contains(out, "/host") {
		return fmt.Errorf("the program printed %q, want what it caught, with the function's name and %q, and nothing of the host", out, message)
	}
	if len(res.Calls) != 1 || res.Calls[0].Error == "" || strings.Contains(res.Calls[0].Error, "/host") || res.Calls[0].Err == nil {
		return fmt.Errorf("Calls are %+v, want the failure, and Err", res.Calls)
	}
	return nil
}

// functionsOfOthers has callers whose functions have the same name and give
// different answers.
func functionsOfOthers(ctx context.Context, e *env) error {
	const callers, rounds, calls = 4, 2, 20
	errs := make([]error, callers)
	var wg sync.WaitGroup
	meet := meeting(callers)
	for i := range callers {
		wg.Go(func() {
			for round := range rounds {
				var served atomic.Int64
				f := codeinterp.Function{Name: "mine", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
					if served.Add(1) == 1 && round == 0 {
						meet()
					}
					return fmt.Append(nil, i+1), nil
				}}
				res, err := e.runs(ctx, e.p.CallLoop("mine", calls), f)
				err = errors.Join(err, wantText("the sum", strings.TrimSpace(res.Stdout()), fmt.Sprint(calls*(i+1))))
				if err == nil && (served.Load() != int64(calls) || len(res.Calls) != calls) {
					err = fmt.Errorf("%d calls came, %d are in Calls; want %d", served.Load(), len(res.Calls), calls)
				}
				if errs[i] = err; err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// meeting returns a function that waits until as many callers are in it, or a
// provider has had the time to let them in that runs fewer programs at once.
func meeting(callers int) (meet func()) {
	var here atomic.Int64
	all := make(chan struct{})
	return func() {
		if here.Add(1) == int64(callers) {
			close(all)
		}
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-all:
		case <-timer.C:
		}
	}
}

func functionsOfContext(ctx context.Context, e *env) error {
	says := func(name, text string) codeinterp.Function {
		return codeinterp.Function{Name: name, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return json.RawMessage(literal(text)), nil
		}}
	}
	id := need(e.context(ctx, &codeinterp.ContextOptions{Functions: []codeinterp.Function{says("a", "context"), says("b", "context")}}))
	for _, own := range [][]codeinterp.Function{nil, {says("b", "run"), says("own", "run")}, nil} {
		res, err := e.stateful().RunInContext(ctx, id, lines(e.p.Call("a", "{}"), e.p.Call("b", "{}")), &codeinterp.RunOptions{Functions: own})
		want := "\"context\"\n\"context\"\n"
		if own != nil {
			want = "\"context\"\n\"run\"\n"
		}
		must(errors.Join(wantOK(res, err), wantText("the results", res.Stdout(), want)))
	}
	if m, ok := codeinterp.Manager(e.ci); ok {
		must(about("RestartContext", m.RestartContext(ctx, id)))
	}
	code := e.p.Call("a", "{}")
	if e.p.CallCaught != nil {
		code = lines(code, e.p.CallCaught("own", "{}"))
	}
	res, err := e.stateful().RunInContext(ctx, id, code, nil)
	must(wantOK(res, err))
	if out, rest, _ := strings.Cut(res.Stdout(), "\n"); out != `"context"` || e.p.CallCaught != nil && !strings.HasPrefix(rest, "caught ") {
		return fmt.Errorf("after a restart: %s, want an answer of the context's function, and none of one that an earlier run had", describe(res))
	}
	return nil
}
