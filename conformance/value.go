package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

func valueChecks() []check {
	list := []check{
		{
			name:   "ValueJSON",
			clause: "Value is the last expression as JSON, nil where it has no faithful JSON form",
			proves: Values,
			run: func(ctx context.Context, e *env) error {
				return e.values(ctx, func(x Expression, o codeinterp.Output) error {
					if !sameJSON(o.Value, x.JSON) {
						return fmt.Errorf("got Value %s, want %s", o.Value, x.JSON)
					}
					return nil
				})
			},
		},
		{
			name:   "ValueText",
			clause: "a value's text/plain is exactly what the runtime prints for it",
			run: func(ctx context.Context, e *env) error {
				return e.values(ctx, func(x Expression, o codeinterp.Output) error {
					if _, ok := o.Richest("text/plain"); !ok {
						return fmt.Errorf("no text/plain in %s", outputLine(o))
					}
					if x.Text == "" {
						return nil
					}
					return wantText("text/plain", o.Text(), x.Text)
				})
			},
		},
		{
			name:   "NoValue",
			clause: "a program whose last expression is nothing has no value; an empty string is a value",
			run: func(ctx context.Context, e *env) error {
				for _, code := range e.p.NoValue {
					res, err := e.run(ctx, code, nil)
					if err := wantOK(res, err); err != nil {
						return fmt.Errorf("%q: %w", code, err)
					}
					if o, ok := res.Value(); ok {
						return fmt.Errorf("%q: %s, want no value", code, outputLine(o))
					}
				}
				return nil
			},
		},
		{
			name:   "ValueLast",
			clause: "the value comes after the output that was printed before, as an output of its own",
			run: func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, lines(e.p.Print("printed"), e.p.Values[0].Code), &codeinterp.RunOptions{})
				if err := wantOK(res, err); err != nil {
					return err
				}
				if len(res.Outputs) != 2 || res.Stdout() != "printed" || res.Outputs[1].Kind != codeinterp.Value {
					return fmt.Errorf("outputs %v, want stdout and the value", res.Outputs)
				}
				return nil
			},
		},
	}
	for i := range list {
		list[i].scope = everyRun
		list[i].needs = append(list[i].needs, Values)
		list[i].uses = func(p *Programs) bool { return len(p.Values) > 0 }
	}
	return list
}

// values evaluates the language's expressions.
func (e *env) values(ctx context.Context, test func(Expression, codeinterp.Output) error) error {
	for _, x := range e.p.Values {
		res, err := e.run(ctx, x.Code, nil)
		if err := wantOK(res, err); err != nil {
			return fmt.Errorf("%q: %w", x.Code, err)
		}
		o, ok := res.Value()
		if !ok {
			return fmt.Errorf("%q: no value", x.Code)
		}
		if err := test(x, o); err != nil {
			return fmt.Errorf("%q: %w", x.Code, err)
		}
	}
	return nil
}

// sameJSON compares JSON texts but for white space; empty is equal to nil.
func sameJSON(got json.RawMessage, want string) bool {
	if want == "" {
		return got == nil
	}
	var a, b bytes.Buffer
	if json.Compact(&a, got) != nil || json.Compact(&b, []byte(want)) != nil {
		return false
	}
	return a.String() == b.String()
}
