package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func functionLimitChecks() []check {
	return []check{
		{
			name:   "FunctionsInvalid",
			clause: "functions with a name that is malformed, a keyword or another's too, or without a Call, are ErrInvalid, and nothing is run",
			scope:  everyRun, uses: func(p *Programs) bool { return p.Call != nil },
			run: calling(functionsInvalid),
		},
		{
			name:   "FunctionShows",
			clause: "what a function shows is the run's output, behind what the program has printed before; once the run is over Show reports false",
			scope:  everyRun, uses: func(p *Programs) bool { return p.Call != nil },
			run: calling(functionShows),
		},
		{
			name:   "FunctionNothing",
			clause: "a function without a result has the result null",
			scope:  everyRun, uses: func(p *Programs) bool { return p.Call != nil },
			run: calling(func(ctx context.Context, e *env) error {
				res, err := e.runs(ctx, e.p.Call("nothing", "{}"), answering("nothing", nil))
				return errors.Join(err, wantText("the result", strings.TrimSpace(res.Stdout()), "null"))
			}),
		},
		{
			name:   "FunctionLimits",
			clause: "a call beyond one of the FunctionLimits fails, and the program can catch that: too many, arguments or a result that are too large, one that takes too long; as many as Parallel says are served at once",
			scope:  everyRun, uses: func(p *Programs) bool { return p.CallCaught != nil },
			run: calling(functionLimits),
		},
		{
			name:   "FunctionUntimed",
			clause: "where FunctionLimits.Untimed is set, a call does not count towards the run's Timeout",
			scope:  everyRun, uses: func(p *Programs) bool { return p.Call != nil },
			run: calling(functionUntimed),
		},
	}
}

// answering returns a function with a known result.
func answering(name string, result json.RawMessage) codeinterp.Function {
	return codeinterp.Function{Name: name, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) { return result, nil }}
}

func functionsInvalid(ctx context.Context, e *env) error {
	for what, list := range map[string][]codeinterp.Function{
		"no name":        {echo("")},
		"a path":         {echo("a/b")},
		"a keyword":      {echo("class")},
		"a name twice":   {echo("f"), echo("f")},
		"none to call":   {{Name: "f"}},
		"a broken Input": {{Name: "f", Call: echo("f").Call, Input: json.RawMessage("{")}},
	} {
		if err := e.refused(ctx, e.p.Print("ran"), &codeinterp.RunOptions{Functions: list}); err != nil {
			return fmt.Errorf("functions with %s: %w", what, err)
		}
	}
	return nil
}

func functionShows(ctx context.Context, e *env) error {
	var show func(codeinterp.Output) bool
	rich := codeinterp.Output{Kind: codeinterp.Display, Metadata: json.RawMessage(`{"k":"v"}`),
		Bundle: []codeinterp.Representation{{MIME: "text/html", Data: []byte("<b>rich</b>")}, {MIME: "text/plain", Data: []byte("plain")}}}
	f := codeinterp.Function{Name: "shows", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		if show = c.Show; show != nil && (!show(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("shown;")}) || !show(rich)) {
			return nil, &codeinterp.FunctionError{Message: "Show reports false during a call"}
		}
		return c.Args, nil
	}}
	res, err := e.runs(ctx, lines(e.p.Print("before;"), e.p.Call("shows", "{}")), f)
	if err != nil || show == nil { // not every provider has it
		return err
	}
	if show(rich) {
		return errors.New("Show reports true after the end of the run")
	}
	if len(res.Outputs) != 3 || string(res.Outputs[0].Data) != "before;shown;" || strings.TrimSpace(string(res.Outputs[2].Data)) != "{}" || !same(res.Outputs[1], rich) {
		return fmt.Errorf("outputs %v, want what was printed and shown, the display with its metadata, and the result", res.Outputs)
	}
	return nil
}

func functionLimits(ctx context.Context, e *env) error {
	large := fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("x", 2000))
	slow := codeinterp.Function{Name: "f", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
		select {
		case <-ctx.Done():
		case <-time.After(2 * e.patience()): // where nothing ends it
		}
		return nil, context.Cause(ctx)
	}}
	once, twice := e.p.CallCaught("f", "{}"), lines(e.p.Call("f", "{}"), e.p.CallCaught("f", "{}"))
	for _, tt := range []struct {
		what   string
		code   string
		f      codeinterp.Function
		limits codeinterp.FunctionLimits
	}{
		{"one call too many", twice, echo("f"), codeinterp.FunctionLimits{Calls: 1}},
		{"large arguments", e.p.CallCaught("f", large), answering("f", nil), codeinterp.FunctionLimits{Args: 1000}},
		{"a large result", once, answering("f", json.RawMessage(large)), codeinterp.FunctionLimits{Result: 1000}},
		{"a call that takes long", once, slow, codeinterp.FunctionLimits{Timeout: 50 * time.Millisecond}},
	} {
		res, err := e.run(ctx, tt.code, &codeinterp.RunOptions{Functions: []codeinterp.Function{tt.f}, FunctionLimits: tt.limits})
		if err := wantOK(res, err); err != nil {
			return fmt.Errorf("%s: %w", tt.what, err)
		}
		if !strings.Contains(res.Stdout(), "caught ") {
			return fmt.Errorf("%s, with %+v: %s, want what the program caught", tt.what, tt.limits, describe(res))
		}
		if last := len(res.Calls) - 1; last < 0 || res.Calls[last].Error == "" {
			return fmt.Errorf("%s: Calls are %+v, want the failure", tt.what, res.Calls)
		}
	}
	if e.p.CallAll == nil {
		return nil
	}
	return functionsInTurn(ctx, e)
}

// functionsInTurn makes calls at once of which one at a time is to be served.
func functionsInTurn(ctx context.Context, e *env) error {
	var open, most atomic.Int32
	f := codeinterp.Function{Name: "f", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		if open.Add(1) > 1 {
			most.Store(1)
		}
		defer open.Add(-1)
		time.Sleep(10 * time.Millisecond) // for others to come
		return c.Args, nil
	}}
	args := []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}
	res, err := e.run(ctx, e.p.CallAll("f", args), &codeinterp.RunOptions{Functions: []codeinterp.Function{f}, FunctionLimits: codeinterp.FunctionLimits{Parallel: 1}})
	if err := errors.Join(wantOK(res, err), wantText("the results", res.Stdout(), strings.Join(args, "\n")+"\n")); err != nil {
		return err
	}
	if most.Load() > 0 {
		return errors.New("calls were served at once with a Parallel of 1")
	}
	return nil
}

// functionUntimed has a call take longer than the run's timeout, which leaves
// enough for the rest; on a busy machine one of several tries does.
func functionUntimed(ctx context.Context, e *env) error {
	timeout, err := e.timeout(ctx, 200*time.Millisecond)
	if err != nil {
		return err
	}
	for range busyTries {
		f := codeinterp.Function{Name: "sleeps", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			time.Sleep(timeout + 50*time.Millisecond)
			return nil, nil
		}}
		res, runErr := e.run(ctx, e.p.Call("sleeps", "{}"), &codeinterp.RunOptions{Timeout: timeout, Functions: []codeinterp.Function{f},
			FunctionLimits: codeinterp.FunctionLimits{Untimed: true}})
		if err = wantOK(res, runErr); err == nil {
			return nil
		}
		err = fmt.Errorf("a call that takes longer than the run's timeout of %v: %w", timeout, err)
		timeout *= 2
	}
	return err
}
