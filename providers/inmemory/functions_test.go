package inmemory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

func hostFunctions() []codeinterp.Function {
	released := make(chan struct{})
	return []codeinterp.Function{
		{Name: "echo", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }},
		{Name: "fails", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: "no such city"}
		}},
		{Name: "sleep", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			return json.RawMessage("true"), nil
		}},
		{Name: "waits", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}},
		{Name: "late", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			select {
			case <-released:
			case <-ctx.Done():
			}
			return nil, context.Cause(ctx)
		}},
		{Name: "release", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			close(released)
			return nil, nil
		}},
	}
}

func TestFunctions(t *testing.T) {
	js := quickjs.New(nil)
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	for _, tt := range []struct{ code, want string }{
		{`await tools.echo({a: [1, {b: "ü\n\u2028"}]})`, `{"a":[1,{"b":"ü\n` + "\u2028" + `"}]}`},
		{`await tools.echo()`, `{}`},
		{`[tools.hasOwnProperty("echo"), tools.hasOwnProperty("no"), "" + tools, Object.keys(tools).includes("echo")].join()`, `"true,false,[object Object],true"`},
		{`tools.echo({x: 1})`, `{"x":1}`},
		{`(await Promise.all([1, 2, 3].map((x) => tools.echo({x})))).map((r) => r.x)`, `[1,2,3]`},
		{`try { await tools.fails({}) } catch (e) { [e.name, e.tool, e.message, e instanceof Error, e instanceof ToolError].join() }`, `"ToolError,fails,fails: no such city,true,true"`},
		{`try { await tools.echo([1]) } catch (e) { e.message }`, `"echo: the arguments are not a JSON object"`},
		{`try { await tools.echo(() => 1) } catch (e) { e.name + e.message }`, `"TypeErrorthe arguments of tools.echo must be one object"`},
		{`let n = 0; for (let i = 0; i < 1000; i++) n += (await tools.echo({i})).i; n`, `499500`},
		{`Object.keys(tools).join()`, `"echo,fails,late,release,sleep,waits"`},
		{`const a = {}; a.a = a; tools.echo(a).then(() => 1, (e) => e.name)`, `"TypeError"`},
		{`await tools.echo({toJSON() { throw new RangeError("own") }}).catch((e) => e.message)`, `"own"`},
		{`JSON.parse = Promise = null; (await tools.echo({a: "\u0000"})).a`, `"\u0000"`},
		{`const f = () => tools.fails(), g = () => tools.fails(); const at = []; for (const h of [f, f, g]) await h().catch((e) => at.push(e.stack.split("\n")[1].trim().split(" ")[1])); at.join()`, `"f,f,g"`},
		{"const where = []; for (let i = 0; i < 3; i++) { let f = new Function('return tools.fails()' + ' '.repeat(i)); for (const g of [f, () =>\nf()]) await g().catch((e) => where.push(e.stack.split('\\n').length)); } where.join()", `"3,4,3,4,3,4"`},
		{`const deep = (n) => n ? deep(n - 1) : tools.fails(); await deep(30).catch((e) => e.stack.split("\n").length)`, `11`},
		{`const late = tools.late(), first = await Promise.race([late, new Promise((r) => setTimeout(r, 1, "first"))]); await tools.release(); await late; first`, `"first"`},
	} {
		for _, language := range []string{"javascript", "typescript"} {
			res, err := ci.RunCode(t.Context(), language, tt.code, &codeinterp.RunOptions{Functions: hostFunctions(), Timeout: time.Minute})
			if v, _ := res.Value(); err != nil || !res.OK() || string(v.Value) != tt.want {
				t.Errorf("%s: %s, %v, %v, %v", tt.code, v.Value, res.Error, res.Status, err)
			}
		}
	}
}

// The error of a call of what is not there lists what is.
func TestNoSuchFunction(t *testing.T) {
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	for code, want := range map[string]string{
		"await tools.other({})":                 "TypeError: tools.other is not a function; there is: echo, fails",
		"let f = 5; f()":                        "TypeError: f is not a function",
		"throw new TypeError('not a function')": "TypeError: not a function",
		"(() => { [1].map(5) })()":              "TypeError: not a function",
		"let o; o.orders()":                     "TypeError: cannot read property 'orders' of undefined",
	} {
		closed := codeinterp.Function{Name: "closed", Unlisted: true, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: "not on Sundays"}
		}}
		functions := append([]codeinterp.Function{closed}, hostFunctions()[:2]...)
		res, err := ci.RunCode(t.Context(), "javascript", code, &codeinterp.RunOptions{Functions: functions})
		if err != nil || res.Error == nil || res.Error.Error() != want || res.Error.Traceback[0] != want {
			t.Errorf("%s: %+v, %v", code, res.Error, err)
		}
	}
}

// TestCallsHoldNoSlot: a program that waits for the host lets others run, and a
// hundred calls wait together.
func TestCallsHoldNoSlot(t *testing.T) {
	ci, err := inmemory.New(&inmemory.Options{MaxRunning: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	var open atomic.Int32
	met := make(chan struct{})
	meet := codeinterp.Function{Name: "meet", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
		if open.Add(1) == 200 {
			close(met)
		}
		select {
		case <-met:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
	o := &codeinterp.RunOptions{Functions: []codeinterp.Function{meet}, Timeout: time.Minute}
	errs := make(chan error, 2)
	for range 2 {
		go func() {
			res, err := ci.RunCode(t.Context(), "javascript", `await Promise.all(Array.from({length: 100}, () => tools.meet()))`, o)
			if err == nil && !res.OK() {
				err = fmt.Errorf("%s %v", res.Status, res.Error)
			}
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestLargeCalls: megabytes arrive, and what there is no room for fails in
// the program.
func TestLargeCalls(t *testing.T) {
	ci, err := inmemory.New(&inmemory.Options{Limits: engine.Limits{Memory: 40 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	const size = 1 << 20
	big := codeinterp.Function{Name: "big", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		return json.RawMessage(`"` + strings.Repeat("é", size) + `"`), nil
	}}
	o := &codeinterp.RunOptions{Functions: append(hostFunctions(), big), FunctionLimits: codeinterp.FunctionLimits{Result: 11 << 20}}
	res, err := ci.RunCode(t.Context(), "javascript", fmt.Sprintf(`(await tools.big()).length + (await tools.echo({a: "x".repeat(%d)})).a.length`, 2*size), o)
	if err != nil || res.Text() != fmt.Sprint(3*size) {
		t.Errorf("%s, %v, %v", res.Text(), res.Error, err)
	}
	res, err = ci.RunCode(t.Context(), "javascript", `const all = []; for (;;) all.push(await tools.big())`, o)
	if err != nil || res.Status != codeinterp.StatusError || res.Cause != codeinterp.CauseMemory {
		t.Errorf("%s, %v, %v, %v", res.Status, res.Cause, res.Error, err)
	}
}

// TestArgumentsAreMemory: those of open calls count, and are given back.
func TestArgumentsAreMemory(t *testing.T) {
	ci, err := inmemory.NewStateful(&inmemory.Options{Limits: engine.Limits{Memory: 16 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "javascript", nil)
	if err != nil {
		t.Fatal(err)
	}
	const large = `{ const s = "x".repeat(1 << 20); let full;
		for (let i = 0; i < 40 && !full; i++) { tools.late({s}).catch((e) => { full = e.message; }); await null; }
		await tools.release(); full }`
	// Where a call was made is kept with it: here a stack of long names.
	const deep = `{ const name = "f".repeat(3000), go = eval("(function " + name + "(n) { return n ? " + name + "(n - 1) : tools.late({}) })"); let full;
		for (let i = 0; i < 4000 && !full; i++) { go(30).catch((e) => { full = e.message; }); await null; }
		await tools.release(); full }`
	programs := []string{large, deep}
	if tier.Full {
		programs = []string{large, large, deep, large}
	}
	for _, code := range programs {
		res, err := ci.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Functions: hostFunctions(), Timeout: time.Minute, FunctionLimits: codeinterp.FunctionLimits{Parallel: 5000}})
		if err != nil || res.Text() != "late: there is no memory left for the arguments" {
			t.Errorf("%s %q, %v, %v", res.Status, res.Text(), res.Error, err)
		}
	}
}
